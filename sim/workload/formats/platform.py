"""Reader of Batsim's platforms (SimGrid's XML): their hosts and clusters become nodes."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sim.support.errors import TraceError
from sim.support.formatting import quoted
from sim.workload.formats.slurm_text import MOST_HOSTS, hosts
from sim.workload.shape import ComputeNode, Shape

_PLATFORM = re.compile(r"<platform\b", re.IGNORECASE)
_TAG = re.compile(r"<(host|cluster)\b([^<>]{0,4000})>((?:\s*<prop\b[^<>]{0,1000}/>){0,50})", re.IGNORECASE)
_WORD = re.compile(r"""([\w:-]{1,40})\s*=\s*["']([^"'<>]{0,1000})["']""")
_MASTER = re.compile(r"""value\s*=\s*["']master["']""", re.IGNORECASE)


def is_platform(text: str) -> bool:
    return text.lstrip("\ufeff \n\r\t").startswith("<") and _PLATFORM.search(text) is not None


def read(text: str, path: object, most_nodes: int, most_cores: int) -> Shape:
    """Return the hosts of a platform as nodes, without the host of Batsim's scheduler; too many are an error."""
    nodes: list[ComputeNode] = []
    for name, cores in _hosts(_without_comments(text), path):
        if len(nodes) >= most_nodes:
            raise TraceError(f"has more than the {most_nodes:,} hosts that are handled", path)
        nodes.append(ComputeNode(name[:64], cores))
    if not nodes:
        raise TraceError("is a platform without hosts or clusters that compute", path)
    if sum(node.cores for node in nodes) > most_cores:
        raise TraceError(f"has more than the {most_cores:,} cores that are handled", path)
    return Shape(tuple(nodes), is_platform=True)


def _without_comments(text: str) -> str:
    """Return the text without comments; a comment that is not closed goes on to the end of the text."""
    first, *others = text.split("<!--")
    return first + "".join(other.partition("-->")[2] for other in others)


def _hosts(text: str, path: object = "") -> Iterator[tuple[str, int]]:
    """Yield (name, number of cores) of each host; `path` is the file, for errors.

    >>> list(_hosts('<host id="master_host"/><cluster id="c" prefix="a" suffix=".b" radical="0-1,5" core="4"/>'))
    [('a0.b', 4), ('a1.b', 4), ('a5.b', 4)]
    """
    for tag in _TAG.finditer(text):
        words = dict(_WORD.findall(tag[2]))
        core = words.get("core", "1")
        cores = int(core[:9]) if core.isdecimal() else 1
        if tag[1].lower() == "cluster":
            names = hosts(f"x[{radical}]") if (radical := words.get("radical", "")) else ()
            if not names or "[" in names[0]:
                raise TraceError(
                    f"has a cluster {quoted(words.get('id', ''))} whose radical {quoted(radical)} is no list of up to "
                    f"{MOST_HOSTS:,} numbers, such as 0-99",
                    path,
                )
            for name in names:
                yield f"{words.get('prefix', '')}{name[1:]}{words.get('suffix', '')}", max(cores, 1)
        elif words.get("id") != "master_host" and not _MASTER.search(tag[3]):
            yield words.get("id", "host"), max(cores, 1)
