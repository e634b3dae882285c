"""The gallery of figures in the page on experiments, made by the commands that stand there:

    python -m tests.gallery FOLDER_OF_LOGS

FOLDER_OF_LOGS holds the four logs that the plan names; plan, results and figures are written to a folder `paper` there,
and the gallery to tests/pictures/gallery.png. It needs `pdftoppm` (poppler-utils) and Pillow.
"""

import re
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from PIL import Image

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "sim/lab/README.md"
GALLERY = ROOT / "tests/pictures/gallery.png"
ACROSS, DOTS = 3, 110
"""Number of figures next to each other in the gallery, and its dots per inch."""


def plan_and_commands(page: str) -> tuple[str, list[list[str]]]:
    """Return the plan that is printed in the page, and the commands that make its figures, each as words."""
    section = page.partition("## Figures for a paper\n")[2].partition("\n## ")[0]
    plan = re.search(r"((?:    .*\n|\n)*    \[options\]\n(?:    .*\n)*)", section)
    assert plan is not None
    text = section.replace(plan[1], "").replace("\\\n", " ")
    commands = [shlex.split(line) for line in re.findall(r"^    schedscope (.*)$", text, re.M)]
    return re.sub(r"^    ", "", plan[1], flags=re.M), commands


def main(folder: Path) -> None:
    plan, commands = plan_and_commands(PAGE.read_text(encoding="utf-8"))
    paper = folder / "paper"
    paper.mkdir(exist_ok=True)
    for log in re.findall(r'"([^"]+\.gz)"', plan):
        (paper / log).unlink(missing_ok=True)
        (paper / log).symlink_to((folder / log).resolve())
    (paper / "paper.toml").write_text(plan, encoding="utf-8")
    for command in commands:
        subprocess.run([sys.executable, "-m", "tui.cli.main", *command], cwd=paper, check=True)
    gallery([paper / command[command.index("-o") + 1] for command in commands if command[0] == "plot"])


def gallery(figures: Sequence[Path]) -> None:
    """Draw the PDF figures next to each other into one picture, the gallery."""
    pictures = []
    for figure in figures:
        subprocess.run(["pdftoppm", "-r", str(DOTS), "-png", "-singlefile", figure, figure.with_suffix("")], check=True)
        pictures.append(Image.open(figure.with_suffix(".png")).convert("RGB"))
    rows = [pictures[at : at + ACROSS] for at in range(0, len(pictures), ACROSS)]
    wide = max(picture.width for picture in pictures) + DOTS // 10
    heights = [max(picture.height for picture in row) + DOTS // 10 for row in rows]
    whole = Image.new("RGB", (wide * ACROSS, sum(heights)), "white")
    for number, row in enumerate(rows):
        for at, picture in enumerate(row):
            whole.paste(picture, (at * wide, sum(heights[:number])))
    whole.quantize(128).save(GALLERY, optimize=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
