"""`python -m tui` is `schedscope`."""

from tui.cli.main import program

if __name__ == "__main__":
    program()
