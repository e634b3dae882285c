"""Look of the program: colours, themes, calendars, sheets of styled text, and settings. It has no widgets."""
