# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiled regions in the cache that processes share.

The key is the module with its source locations, which holds all of the kernel, the specialisation
and the hints; the target; the Config that was asked for; and the compiler itself.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from wavetile import _C
from wavetile.cache import Cache, default_folder

_KIND = "code"

#: Differs for every form in which entries were ever stored.
_FORMAT = 3


@dataclass(frozen=True)
class Note:
    """What a compilation has to say about speed, as `_C.PerformanceNote`.

    Lines and columns are counted from 1. `callers` are the calls that lead there, the innermost
    first: file, line and column.
    """

    message: str
    remedy: str
    file: str
    line: int
    column: int
    callers: Sequence[tuple[str, int, int]] = ()


@dataclass(frozen=True)
class CachedCode:
    """What a compilation gives that is worth keeping."""

    plan: bytes
    code_object: bytes
    config: dict[str, int | str]
    notes: tuple[Note, ...]

    @classmethod
    def of(cls, result: _C.CompileResult) -> CachedCode:
        """That of a compilation."""
        notes = [
            Note(note.message, note.remedy, note.file, note.line, note.column, note.callers)
            for note in result.notes
        ]
        return cls(result.plan.to_bytes(), result.code_object, result.config, tuple(notes))


@functools.cache
def _cache() -> Cache:
    return Cache(default_folder())


@functools.cache
def _compiler_identity() -> str:
    """Differs for every build of the compiler."""
    status = os.stat(_C.__file__)
    return f"{_C.__file__} {status.st_size} {status.st_mtime_ns}"


def cache_key(module: _C.TileModule, target: str, config: Mapping[str, int | str]) -> bytes:
    """The key of a compilation."""
    entries = sorted(config.items())
    text = json.dumps([_FORMAT, _compiler_identity(), target, entries, module.str(locations=True)])
    return hashlib.blake2b(text.encode(), digest_size=32).digest()


def load(key: bytes) -> CachedCode | None:
    """What was stored under a key."""
    value = _cache().get(_KIND, key)
    if value is None:
        return None
    header_length = int.from_bytes(value[:4], "little")
    header = json.loads(value[4 : 4 + header_length])
    rest = value[4 + header_length :]
    plan_length = header["plan"]
    notes = tuple(Note(**note) for note in header["notes"])
    return CachedCode(rest[:plan_length], rest[plan_length:], header["config"], notes)


def store(key: bytes, code: CachedCode) -> None:
    """Keeps a compilation."""
    notes = [asdict(note) for note in code.notes]
    header = json.dumps({"plan": len(code.plan), "config": code.config, "notes": notes}).encode()
    value = len(header).to_bytes(4, "little") + header + code.plan + code.code_object
    _cache().put(_KIND, key, value)
