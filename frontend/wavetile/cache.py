# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiled code and tuning results, kept between processes in one SQLite file.

A cache never makes a call fail: where it cannot be read or written it holds nothing, and says so
once, by the logger "wavetile". What it returns is what was put in: each value is stored with a
digest, and one that does not match is as good as absent.
"""

from __future__ import annotations

import hashlib
import logging
import os
import threading
from collections.abc import Mapping
from pathlib import Path

try:
    import sqlite3
except ModuleNotFoundError:  # a Python that was built without it
    sqlite3 = None  # type: ignore[assignment]

logger = logging.getLogger("wavetile")

# Part of the file's name: a version that stores otherwise uses another file.
_FORMAT = 1

_SCHEMA = """
CREATE TABLE IF NOT EXISTS entries (
    kind TEXT NOT NULL, key BLOB NOT NULL, digest BLOB NOT NULL, value BLOB NOT NULL,
    PRIMARY KEY (kind, key)
) WITHOUT ROWID
"""


def default_folder(environment: Mapping[str, str] = os.environ) -> Path | None:
    """Where the cache lives: WAVETILE_CACHE, or `wavetile` in the user's cache folder.

    None, for no cache, if WAVETILE_CACHE is empty or "off", or if there is no home folder.
    """
    chosen = environment.get("WAVETILE_CACHE")
    if chosen is not None:
        return None if chosen in ("", "off") else Path(chosen)
    shared = environment.get("XDG_CACHE_HOME")
    # The XDG specification ignores paths that are not absolute.
    if shared and os.path.isabs(shared):
        return Path(shared) / "wavetile"
    home = environment.get("HOME")
    return Path(home) / ".cache" / "wavetile" if home else None


def _digest(*parts: bytes) -> bytes:
    state = hashlib.blake2b(digest_size=32)
    for part in parts:
        state.update(len(part).to_bytes(8, "little"))
        state.update(part)
    return state.digest()


class Cache:
    """Values by kind and key. Safe for threads, forks and several processes.

    Nothing is opened before the first use.

    Args:
        folder: where the file `cache-<format>.sqlite` is or will be; None for a cache that
            holds nothing.
        timeout: how long to wait, in seconds, while another process writes.
    """

    def __init__(self, folder: Path | None, *, timeout: float = 2.0) -> None:
        self.path = None if folder is None else folder / f"cache-{_FORMAT}.sqlite"
        self._timeout = timeout
        self._readable = self._writable = self.path is not None
        self._replaced = False
        self._warned = False
        self._process = os.getpid()
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        # A connection must not be used, nor even closed, on the other side of a fork.
        self._of_parents: list[sqlite3.Connection] = []

    def get(self, kind: str, key: bytes) -> bytes | None:
        """The value that was put last for this kind and key, or None.

        Args:
            kind: what the value is, such as "code" or "tuning".
            key: everything that the value depends on, of any length.
        """
        short = _digest(key)
        row = self._execute(
            "SELECT digest, value FROM entries WHERE kind = ? AND key = ?", (kind, short)
        )
        if row is None:
            return None
        digest, value = row
        if digest != _digest(short, value):
            self._warn("holds a damaged entry, which is ignored")
            return None
        return value

    def put(self, kind: str, key: bytes, value: bytes) -> None:
        """Keeps a value in place of any that is there; see `get`."""
        short = _digest(key)
        self._write(
            "INSERT OR REPLACE INTO entries VALUES (?, ?, ?, ?)",
            (kind, short, _digest(short, value), value),
        )

    def clear(self) -> None:
        """Forgets everything."""
        self._write("DELETE FROM entries", ())

    def close(self) -> None:
        """Closes the file. The next use opens it again."""
        with self._lock:
            self._disconnect()

    def _write(self, statement: str, values: tuple[object, ...]) -> None:
        if self._writable:
            self._execute(statement, values, writes=True)

    def _execute(
        self, statement: str, values: tuple[object, ...], writes: bool = False
    ) -> tuple[bytes, bytes] | None:
        """The first row of a statement. Any failure counts as no row."""
        if not self._readable:
            return None
        if sqlite3 is None:
            self._give_up("is not used: this Python has no sqlite3")
            return None
        self._enter_process()
        with self._lock:
            try:
                return self._connected().execute(statement, values).fetchone()
            except sqlite3.OperationalError as error:
                if "locked" in str(error):
                    self._warn(f"was busy for {self._timeout} s, and was left out")
                elif writes:
                    self._writable = False
                    self._warn(f"cannot be written, and stays as it is: {error}")
                else:
                    self._give_up(f"cannot be used: {error}")
            except (sqlite3.DatabaseError, OSError) as error:
                self._replace(error)
        return None

    def _enter_process(self) -> None:
        if self._process == os.getpid():
            return
        self._process = os.getpid()
        # Another thread of the parent may have held it.
        self._lock = threading.Lock()
        if self._connection is not None:
            self._of_parents.append(self._connection)
            self._connection = None

    def _connected(self) -> sqlite3.Connection:
        if self._connection is None:
            assert self.path is not None
            try:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                self._connection = self._open("rwc", _SCHEMA)
            except (OSError, sqlite3.OperationalError):
                # What others have put there may still be read.
                self._connection = self._open("ro", "SELECT 1 FROM entries LIMIT 1")
        return self._connection

    def _open(self, mode: str, first_statement: str) -> sqlite3.Connection:
        assert self.path is not None
        connection = sqlite3.connect(
            f"{self.path.absolute().as_uri()}?mode={mode}",
            uri=True,
            timeout=self._timeout,
            isolation_level=None,  # each statement is its own transaction
            check_same_thread=False,
        )
        try:
            # A power failure may damage entries, which their digests find out.
            connection.execute("PRAGMA synchronous = OFF")
            connection.execute("PRAGMA temp_store = MEMORY")
            connection.execute(first_statement)
        except sqlite3.Error:
            connection.close()
            raise
        return connection

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _replace(self, error: Exception) -> None:
        """Begins a new file in place of one that is not a database, or a damaged one."""
        assert self.path is not None
        self._disconnect()
        if self._replaced:
            self._give_up(f"cannot be used: {error}")
            return
        self._replaced = True
        try:
            self.path.unlink(missing_ok=True)
        except OSError as refusal:
            self._give_up(f"is damaged and cannot be replaced: {error}; {refusal}")
            return
        self._warn(f"was damaged and begins anew: {error}")

    def _give_up(self, problem: str) -> None:
        self._readable = self._writable = False
        self._warn(problem)

    def _warn(self, problem: str) -> None:
        if not self._warned:
            self._warned = True
            logger.warning("the cache %s %s", self.path, problem)
