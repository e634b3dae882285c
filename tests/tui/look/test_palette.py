from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pytest
from numpy.typing import NDArray

from tui.look import palette

EYES = (
    ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)),
    ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.01182, 0.04294, 0.968881)),
    ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.3039)),
)
"""For normal, protan, deutan and tritan vision: how red, green and blue are seen, each as a mix of the three (Machado
et al. 2009)."""
TO_XYZ = ((0.4124, 0.3576, 0.1805), (0.2126, 0.7152, 0.0722), (0.0193, 0.1192, 0.9505))
WHITE = (0.9505, 1.0, 1.089)
GROUND = "#1e1e1e"


def apart(colours: Sequence[str]) -> NDArray[np.float64]:
    """Return the distance of each two colours as a matrix, for the kind of vision that distinguishes them worst (CIE
    1976)."""
    codes = np.array([[int(colour[i : i + 2], 16) for i in (1, 3, 5)] for colour in colours]) / 255
    linear = np.where(codes <= 0.04045, codes / 12.92, ((codes + 0.055) / 1.055) ** 2.4)
    seen = [lab(np.clip(linear @ np.array(eyes).T, 0, 1)) for eyes in EYES]
    worst: NDArray[np.float64] = np.stack([np.linalg.norm(each[:, None] - each[None], axis=2) for each in seen]).min(
        axis=0
    )
    return worst


def lab(linear: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return colours in the CIE Lab space (lightness and two axes of colour); each row of `linear` has linear red,
    green and blue."""
    part = linear @ np.array(TO_XYZ).T / np.array(WHITE)
    root = np.where(part > 0.008856, np.cbrt(part), 7.787 * part + 16 / 116)
    x, y, z = root[:, 0], root[:, 1], root[:, 2]
    return np.stack([116 * y - 16, 500 * (x - y), 200 * (y - z)], axis=1)


def drawn(look: palette.Look, hues: int = len(palette.JOB_COLOURS)) -> list[str]:
    return [look.inks[palette.ink(hue)] for hue in range(hues)]


@pytest.mark.parametrize("look", palette.LOOKS.values(), ids=palette.LOOKS)
def test_twelve_hues_differ_for_all_kinds_of_colour_vision(look: palette.Look) -> None:
    for colours in (look.jobs, drawn(look)):
        found = apart(colours)
        assert min(found[pair] for pair in combinations(range(12), 2)) >= 10.3


@pytest.mark.parametrize("look", palette.LOOKS.values(), ids=palette.LOOKS)
def test_partitions_are_muted_and_no_job_looks_like_one(look: palette.Look) -> None:
    parts = [look.inks[palette.ink(hue, palette.Tone.NAME)] for hue in range(palette.Hue.PART, palette.Hue.ONE)]
    jobs = [
        look.inks[palette.ink(hue, tone)]
        for hue in range(palette.JOB_HUES)
        for tone in (palette.Tone.FULL, palette.Tone.STRONG)
    ]
    found = apart([*parts, *jobs])
    assert found[:6, 6:].min() >= 4.9
    assert min(found[pair] for pair in combinations(range(6), 2)) >= 13
    codes = np.array([[int(colour[i : i + 2], 16) for i in (1, 3, 5)] for colour in (*parts, *palette.JOB_COLOURS)])
    strength = np.ptp(codes, axis=1)
    assert strength[:6].max() <= 83 < np.median(strength[6:])


def test_every_colour_stands_out_from_the_ground() -> None:
    for colour in palette.JOB_COLOURS:
        assert (palette.brightness(colour) + 0.05) / (palette.brightness(GROUND) + 0.05) >= 3


@pytest.mark.parametrize("by", [1, 2, 3])
def test_jobs_that_come_one_after_another_differ_most(by: int) -> None:
    found = apart(palette.JOB_COLOURS)
    near = [found[hue, (hue + by) % 12] for hue in range(12)]
    assert min(near) > 17


@pytest.mark.parametrize("depth", [24, 8])
@pytest.mark.parametrize("look", palette.LOOKS.values(), ids=palette.LOOKS)
def test_other_jobs_can_be_read_while_one_is_selected(look: palette.Look, depth: int) -> None:
    seen = look.with_depth(depth)
    for hue in range(palette.JOB_HUES):
        block = seen.inks[palette.ink(hue, palette.Tone.DIMMED)]
        assert palette.contrast(block, seen.background) >= 3
        assert palette.contrast(seen.inks[palette.ink(hue, palette.Tone.TEXT_DIMMED)], block) >= 4.5


def test_sixteen_colours_are_enough() -> None:
    look = palette.DARK.with_depth(4)
    assert look.patterned
    assert not palette.DARK.patterned
    tones = [
        look.cell(palette.ink(3, tone), 0) for tone in (palette.Tone.FULL, palette.Tone.DIMMED, palette.Tone.STRONG)
    ]
    assert len({(style.color, style.bold) for style in tones}) == 3
    look = palette.DARK.with_depth(4)
    assert len({look.inks[palette.ink(hue)] for hue in range(12)}) == 12
    assert look.inks[palette.ink(3, palette.Tone.DIMMED)] not in {look.inks[palette.ink(hue)] for hue in range(12)}
    assert look.inks[palette.ink(3, palette.Tone.PLAN)] == look.background


@pytest.mark.parametrize("look", palette.LOOKS.values(), ids=palette.LOOKS)
def test_a_second_shade_differs_from_the_first(look: palette.Look) -> None:
    found = apart(drawn(look, palette.JOB_HUES))
    assert min(found[hue, hue + 12] for hue in range(12)) > 3
    assert len(set(drawn(look, palette.JOB_HUES))) == palette.JOB_HUES == palette.Hue.RAMP


@pytest.mark.parametrize("depth", [24, 8, 4])
@pytest.mark.parametrize("look", palette.LOOKS.values(), ids=palette.LOOKS)
def test_text_has_enough_contrast_on_panels_and_blocks(look: palette.Look, depth: int) -> None:
    seen = look.with_depth(depth)

    def ratio(names: str, ground: str = "") -> float:
        style = seen.style(names)
        assert style.color
        assert style.bgcolor
        return palette.contrast(style.color.get_truecolor().hex, ground or style.bgcolor.get_truecolor().hex)

    for name in ("dim", "accent", "good", "warn", "bad", "cool", "warm"):
        assert min(ratio(name, ground) for ground in (seen.background, seen.surface)) >= 4.5, name
        assert ratio(f"{name} select") >= 4.5, name
    for kind in ("on", "lit", "off"):
        assert min(ratio(f"{kind}:{hue}") for hue in range(palette.HUES)) >= 4.5, kind
