"""`python -m tui` is `schedscope`."""

from tui.cli.main import main

if __name__ == "__main__":
    main()
