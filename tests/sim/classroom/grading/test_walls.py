import os
import socket
import sys
from pathlib import Path

import pytest

from sim.classroom.grading.outside import Bounds, gaps
from sim.classroom.grading.walls import tried

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="walls are made of Landlock, namespaces and seccomp")
ALL = ["write a file", "reach the network", "start a process", "send signals"]


@LINUX
@pytest.mark.parametrize("is_landlocked", [True, False])
def test_nothing_is_possible_behind_the_walls(is_landlocked: bool, tmp_path: Path) -> None:
    secret = tmp_path / "hidden.swf"
    secret.write_text("; MaxProcs: 4\n")
    assert gaps(Bounds(is_landlocked=is_landlocked), [str(secret), str(tmp_path), "/etc/passwd"]) == []


@LINUX
def test_all_that_is_tried_is_possible_without_walls(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        assert tried([str(tmp_path)], server.getsockname()[1]) == [f"read {tmp_path}", *ALL]
    os.unlink(f"/tmp/schedscope-{os.getpid()}")
