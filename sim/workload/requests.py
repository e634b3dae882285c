"""Requests of jobs on a machine of nodes that the user gives by `--nodes FILE`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain

import numpy as np

from sim.support.errors import TraceError
from sim.workload.fidelity import Fidelity, Note, notes_of
from sim.workload.limits import Owned, limits_of
from sim.workload.model import Field, Trace
from sim.workload.reserved_nodes import admission
from sim.workload.shape import Request, Shape

_KB = 1024
_MOST_MEMORY = 2**40
"""Largest memory of a task in MB; a larger one in the trace is ignored."""
ANYWHERE = "names no partition that the machine has; it may use all nodes"
MODELLED_AS_UP = "nodes that are down or drained in the file of the machine; they are modelled as up"


def on_nodes(trace: Trace, shape: Shape) -> Trace:
    """Return the trace on the machine `shape`, which replaces the nodes in the trace's own file. Without requests, a
    job requests a task per processor with the memory in the trace, in the partition with the name of its queue. Notes
    count the jobs without a partition of the machine, and the nodes that its file calls down or drained.
    """
    return _noted(_placed_on(trace, shape), shape)


def _noted(trace: Trace, shape: Shape) -> Trace:
    requests = trace.shape.requests if trace.shape is not None and shape.groups else ()
    free = np.fromiter((not request.groups for request in requests), bool, len(requests))
    found = notes_of(trace.ids, (ANYWHERE, free))
    if shape.gone:
        found += (Note(MODELLED_AS_UP, len(shape.gone), f"node {shape.gone[0]}"),)
    own = replace(trace.fidelity, assumed=tuple(note for note in trace.fidelity.assumed if note.what != ANYWHERE))
    return replace(trace, fidelity=own + Fidelity(assumed=found))


def _placed_on(trace: Trace, shape: Shape) -> Trace:
    header = replace(trace.header, max_procs=shape.cores)
    own = trace.shape
    if own is not None and own.nodes is shape.nodes:  # the reader knew the machine
        return _limited(replace(trace, header=header))
    if own is None and shape.is_platform:
        return _limited(
            _admitted(_with_platform_note(replace(trace, header=header)), shape, tuple(_whole_hosts(trace, shape)))
        )
    if own is None:
        return _limited(_admitted(replace(trace, header=header), shape, tuple(_requests(trace, shape))))
    wanted = (zip(own.kinds, request.amounts(1), strict=True) for request in set(own.requests))
    if missing := sorted({kind for kind, amount in chain.from_iterable(wanted) if amount}.difference(shape.kinds)):
        raise TraceError(f"asks for {missing[0]}, which no node of --nodes has", trace.name)
    made = tuple(_translated(request, own, shape) for request in own.requests)
    return _limited(_admitted(replace(trace, header=header), shape, made))


def _with_platform_note(trace: Trace) -> Trace:
    what = "a platform of Batsim: jobs take whole hosts; speeds, links and energy are not modelled"
    return replace(trace, fidelity=trace.fidelity + Fidelity(assumed=(Note(what, 1),)))


def _whole_hosts(trace: Trace, shape: Shape) -> Iterator[Request]:
    asked, used = trace.column(Field.PROCS_ASKED), trace.column(Field.PROCS_USED)
    others = (0,) * (len(shape.kinds) - 1)
    for wanted, had in zip(asked.tolist(), used.tolist(), strict=True):
        yield Request((1, *others), nodes=max(int(wanted if wanted > 0 else had), 1), is_exclusive=True)


def _admitted(trace: Trace, shape: Shape, requests: tuple[Request, ...]) -> Trace:
    if shape.reservations:
        shape = shape.reserved_since(trace.header.unix_start, trace.name)
        whole = zip(requests, *_owners(trace), strict=True)
        requests = tuple(
            replace(request, admitted=admission(shape.reservations, "", user, account, by_name=False))
            for request, user, account in whole
        )
    return replace(trace, shape=replace(shape, requests=requests))


def _owners(trace: Trace) -> tuple[Sequence[str], Sequence[str]]:
    words, users = trace.names.get(Field.USER, ()), trace.column(Field.USER).astype(int).tolist()
    names = [words[user] if 0 <= user < len(words) else str(user) if user >= 0 else "" for user in users]
    return names, trace.accounts or [""] * len(names)


def _limited(trace: Trace) -> Trace:
    if trace.shape is None or not trace.shape.limits:
        return trace
    return replace(trace, limits=limits_of(trace.shape, [*map(Owned, *_owners(trace))]))


def _requests(trace: Trace, shape: Shape) -> Iterator[Request]:
    asked, used = trace.column(Field.PROCS_ASKED), trace.column(Field.PROCS_USED)
    columns = (asked, used, trace.column(Field.MEMORY_ASKED), trace.column(Field.QUEUE))
    names, words = {group.name: at for at, group in enumerate(shape.groups)}, trace.names.get(Field.QUEUE, ())
    others = (0,) * (len(shape.kinds) - 2)
    known: dict[tuple[float, ...], Request] = {}
    for row in zip(*(column.tolist() for column in columns), strict=True):
        if row not in known:
            wanted, had, memory, queue = row
            size = int(-(-memory // _KB)) if 0 < memory / _KB <= _MOST_MEMORY else 0
            name = words[int(queue)] if 0 <= queue < len(words) else ""
            groups = (names[name],) if name in names else ()
            known[row] = Request((1, size, *others), tasks=max(int(wanted if wanted > 0 else had), 1), groups=groups)
        yield known[row]


def _translated(request: Request, own: Shape, shape: Shape) -> Request:
    """Return the request, which is in the order of `own`'s resources and partitions, in the order of `shape`."""
    names = {group.name: at for at, group in enumerate(shape.groups)}
    groups = tuple(names[own.groups[at].name] for at in request.groups if own.groups[at].name in names)
    each = dict(zip(own.kinds, request.each, strict=True))
    once = dict(zip(own.kinds, request.per_node, strict=False))
    per_node = tuple(once.get(kind, 0) for kind in shape.kinds) if once else ()
    return replace(request, each=tuple(each.get(kind, 0) for kind in shape.kinds), per_node=per_node, groups=groups)
