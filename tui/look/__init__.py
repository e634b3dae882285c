"""Look of the program: colours, themes, text, sheets of styled lines, and the user's choices. No widgets."""
