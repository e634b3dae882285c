"""The cost of visitors: many at once in a server's processes, their memory, and the time to the first picture.

    python -m tests.benchmarks.visitors TRACE [30]

Memory is PSS, which divides shared memory between the processes. Only Linux reports it.
"""

import argparse
import asyncio
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from statistics import median
from time import monotonic

import aiohttp

PICTURE = 4000
"""Number of bytes after which a visitor counts as having received the first picture"""


async def visitor(client: aiohttp.ClientSession, base: str, word: str, until: asyncio.Event) -> float:
    """Connect as a visitor, press three keys and let the replay play until `until` is set; return the seconds to the
    first picture."""
    began, seen, first = monotonic(), 0, 0.0
    async with client.ws_connect(f"{base}/ws/{word}?width=120&height=36") as socket:
        await socket.send_json(["stdin", "\x1b[C\x1b[C "])
        while not until.is_set():
            with suppress(asyncio.TimeoutError):
                message = await socket.receive(timeout=0.5)
                seen += len(message.data) if message.type == aiohttp.WSMsgType.BINARY else 0
            first = first or (monotonic() - began if seen > PICTURE else 0.0)
    return first


def children(of: int) -> list[int]:
    return [int(pid) for pid in Path(f"/proc/{of}/task/{of}/children").read_text().split()]


def pss(pid: int) -> float:
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024


async def measured(server: subprocess.Popen[str], many: int) -> None:
    assert server.stdout is not None
    base, _, word = server.stdout.readline().strip().partition("/?token=")
    looked = asyncio.Event()
    async with aiohttp.ClientSession(headers={"Origin": base}) as client:
        visitors = [asyncio.create_task(visitor(client, base, word, looked)) for _ in range(many)]
        await asyncio.sleep(20)
        (fork_server,) = children(server.pid)
        each = [pss(pid) for pid in children(fork_server)]
        looked.set()
        firsts = await asyncio.gather(*visitors)
    print(f"{len(each)} visitors: {sum(each) / len(each):.0f} MiB each, {sum(each):.0f} MiB together (PSS)")
    print(f"first picture after {median(firsts):.1f} s (median), {max(firsts):.1f} s (worst)")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trace")
    parser.add_argument("visitors", type=int, nargs="?", default=30)
    given = parser.parse_args()
    command = [sys.executable, "-m", "tui.cli.main", "serve", given.trace, "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            asyncio.run(measured(server, given.visitors))
        finally:
            server.send_signal(signal.SIGINT)


if __name__ == "__main__":
    main()
