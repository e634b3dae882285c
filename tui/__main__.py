"""Entry point of `python -m tui`, which is the same as `schedscope`.

With `-m`, Python puts the current folder first on its import path. It is removed from there, because its files may come
from strangers.
"""

import sys
from pathlib import Path

if __name__ == "__main__":
    if not sys.flags.safe_path and sys.path[0] != str(Path(__file__).parents[1]):
        del sys.path[0]
    from tui.cli.main import program

    program()
