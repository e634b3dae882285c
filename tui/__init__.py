"""The program schedscope: its screens, commands and web server, built on the library `sim`."""
