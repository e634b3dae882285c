"""`python -m tui` is `schedscope`.

Python then puts the present folder first on its path. The folder is removed, because its files may come from strangers.
"""

import sys
from pathlib import Path

if __name__ == "__main__":
    if not sys.flags.safe_path and sys.path[0] != str(Path(__file__).parents[1]):
        del sys.path[0]
    from tui.cli.main import program

    program()
