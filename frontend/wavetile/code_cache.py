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
from collections.abc import Mapping
from dataclasses import dataclass

from wavetile import _C
from wavetile.cache import Cache, default_folder

_KIND = "code"


@dataclass(frozen=True)
class CachedCode:
    """What a compilation gives that is worth keeping."""

    plan: bytes
    code_object: bytes
    config: dict[str, int | str]


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
    text = json.dumps([_compiler_identity(), target, entries, module.str(locations=True)])
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
    return CachedCode(rest[:plan_length], rest[plan_length:], header["config"])


def store(key: bytes, code: CachedCode) -> None:
    """Keeps a compilation."""
    header = json.dumps({"plan": len(code.plan), "config": code.config}).encode()
    value = len(header).to_bytes(4, "little") + header + code.plan + code.code_object
    _cache().put(_KIND, key, value)
