# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The command `wavetile` in processes of their own that need not import torch anew.

A process that has imported everything, and used nothing of it, forks one for each command: that
one has the environment, the output and the end of a process that Python began.
"""

from __future__ import annotations

import atexit
import ctypes
import functools
import gc
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

#: Seconds after which a command is ended.
TIMEOUT = 300


def _become(request: dict[str, object]) -> list[str]:
    """Makes a forked process that of a command; gives the command's arguments."""
    signal.alarm(TIMEOUT)
    os.environ.clear()
    os.environ.update(request["environment"])  # type: ignore[call-overload]
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for number, name in enumerate(("stdout", "stderr"), 1):
        os.dup2(os.open(str(request[name]), os.O_WRONLY), number)
    return request["arguments"]  # type: ignore[return-value]


def _leave(status: int) -> None:
    """Ends the process as C does: Python would first take apart all that was imported."""
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    ctypes.CDLL(None).exit(status)


def serve() -> int:
    """Runs the commands that standard input asks for, one by one; answers with their statuses."""
    from wavetile.cli import main

    gc.freeze()  # what is imported by now, which no command frees
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            try:
                _leave(main(_become(json.loads(line))))
            except SystemExit as end:  # of the parser of arguments
                _leave(end.code if isinstance(end.code, int) else 1)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        print(status, flush=True)
    return 0


@functools.cache
def _server() -> tuple[IO[str], IO[str]]:
    process = subprocess.Popen(
        [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdin is not None
    assert process.stdout is not None
    return process.stdin, process.stdout


def run_command(
    arguments: Sequence[str], environment: Mapping[str, str]
) -> subprocess.CompletedProcess[str]:
    """As `subprocess.run` of `wavetile` with these arguments, with its output as text."""
    requests, statuses = _server()
    with tempfile.TemporaryDirectory() as folder:
        paths = {name: Path(folder, name) for name in ("stdout", "stderr")}
        for path in paths.values():
            path.touch()
        request = {
            "arguments": list(arguments),
            "environment": dict(environment),
            **{name: str(path) for name, path in paths.items()},
        }
        print(json.dumps(request), file=requests, flush=True)
        status = int(statuses.readline())
        outputs = {name: path.read_text() for name, path in paths.items()}
    return subprocess.CompletedProcess(list(arguments), status, **outputs)


if __name__ == "__main__":
    sys.exit(serve())
