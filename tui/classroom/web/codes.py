"""Code of a class: two plain words and a number, which students read from the wall and type; and its QR code."""

from __future__ import annotations

import hmac
import secrets

import segno

WORDS = """
acorn amber anchor apple apron arrow attic autumn badge baker bamboo banjo barley barrel basil basket beach
beacon beaver berry birch blanket bonnet bottle branch breeze bridge bronze brook brush bucket butter button
cabin cactus camel canary candle canoe canvas canyon carpet carrot castle cedar cello chalk cheese cherry circle
clay cliff clock cloud clover cobalt comet cookie copper coral cotton cousin crane crater cricket crystal
cushion dahlia daisy dancer desert dolphin donkey dragon drum dune eagle easel ember engine falcon feather fern
fiddle field finch flag flute forest forge fossil fountain fox frost garden garlic gate ginger glacier globe
goose granite grape gravel guitar hammer harbor harvest hazel hedge helmet heron hill honey horizon igloo indigo
island ivory jacket jaguar jasmine jelly jigsaw jungle kayak kettle kitten koala ladder lagoon lantern laurel
leaf lemon library lilac lime lion lizard lobster lotus magnet mango maple marble market meadow melon meteor
mint mirror mitten moon mosaic moss mountain muffin museum nectar needle nest noodle nutmeg oak oasis ocean
olive onion opal orange orbit orchid otter owl paddle palace palm panda paper parrot peach pearl pebble pelican
pencil pepper piano pigeon pillow pine planet plaza plum pocket pond poppy potato prairie puffin pumpkin puzzle
quartz quill quilt rabbit radish rain raven reef ribbon river robin rocket rose ruby saddle saffron sail salmon
sandal satin saturn shadow shell silver sky snow spruce squirrel star stone storm summer sunset swan table tea
tower tulip tunnel turtle valley velvet violet violin walnut walrus water willow window winter wizard wolf
yellow zebra
"""
"""Words of codes: 256, so that there are 5.9 million codes."""


def new_code() -> str:
    words = WORDS.split()
    return f"{secrets.choice(words)}-{secrets.choice(words)}-{10 + secrets.randbelow(90)}"


def is_code(typed: str, code: str) -> bool:
    """Return True if the text is this code; case, blanks and hyphens do not matter, and the time is always the same."""
    return hmac.compare_digest(_plain(typed), _plain(code))


def _plain(typed: str) -> bytes:
    return "".join(filter(str.isalnum, typed[:80].casefold())).encode()


def parts_of(link: str) -> tuple[str, str]:
    """Return address and code of a link to a class; the code is "" if the link has none."""
    address, _, code = link.partition("/?token=")
    return address, code


def qr_picture(link: str) -> str:
    """Return the QR code of a link as the address (data: URL) of an SVG picture."""
    return segno.make(link, micro=False).svg_data_uri(light="#fff", border=4, scale=8)


def qr_rows(link: str, on_dark: bool = True) -> list[str]:
    """Return the QR code of a link as rows of half blocks, which fill its light modules on a dark screen."""
    rows = [*segno.make(link, error="l", micro=False).matrix_iter(border=2)]
    pairs = zip(rows[::2], [*rows[1::2], bytes([on_dark] * len(bytes(rows[0])))], strict=False)
    blocks = "█▀▄ " if on_dark else " ▄▀█"
    return ["".join(blocks[2 * upper + lower] for upper, lower in zip(*pair, strict=True)) for pair in pairs]
