# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What mistakes are called, and what to write instead."""

from __future__ import annotations

import ast
import difflib
import types
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from wavetile import language
from wavetile.tracing.values import MemoryTensor, Tile, TileIndex

_ELSEWHERE = "compute it in host code, outside the wl.tile loops, if it needs no tile"

#: What kinds of nodes are called, and what to write instead where there is something to say.
_NODES: dict[type[ast.AST], tuple[str, str | None]] = {
    ast.SetComp: ("a set comprehension", "use a list comprehension"),
    ast.DictComp: ("a dict comprehension", "use a list comprehension"),
    ast.Dict: ("a dict", "use a tuple, or pass a NamedTuple or a dataclass to the kernel"),
    ast.Set: ("a set", "use a tuple"),
    ast.JoinedStr: ("an f-string", "wl.device_print(text, value, ...) prints values"),
    ast.NamedExpr: ("`:=`", "assign to the name in a statement before"),
    ast.Await: ("`await`", None),
    ast.Yield: ("`yield`", "store values to a tensor"),
    ast.YieldFrom: ("`yield from`", "store values to a tensor"),
    ast.Starred: ("`*`", None),
    ast.keyword: ("`**`", None),
    ast.While: ("this `while`", None),
    ast.For: ("this `for`", None),
    ast.With: ("`with`", "leave it out, or put it around the call of the kernel"),
    ast.AsyncFor: ("`async for`", None),
    ast.AsyncWith: ("`async with`", None),
    ast.Try: ("`try`", "nothing is raised here: test the condition with `if`, or in host code"),
    ast.Raise: ("`raise`", "wl.device_assert(condition, message) ends the launch"),
    ast.Assert: ("`assert`", None),
    ast.Delete: ("`del`", "leave it out: a tile lives as long as it is used"),
    ast.Break: ("`break`", None),
    ast.Continue: ("`continue`", None),
    ast.Global: ("`global`", "store the value to a tensor, which the kernel gets or returns"),
    ast.Nonlocal: ("`nonlocal`", "store the value to a tensor, which the kernel gets or returns"),
    ast.Import: ("`import`", "import it at the top of the file"),
    ast.ImportFrom: ("`import`", "import it at the top of the file"),
    ast.AsyncFunctionDef: ("`async def`", "write `def`"),
    ast.ClassDef: ("a class definition", "define it outside the kernel"),
    ast.Match: ("`match`", "compare with `if` and `elif`"),
    ast.Return: ("`return` inside a loop or a choice made at run time", None),
    ast.UnaryOp: ("this operator", None),
    ast.Attribute: ("an assignment to an attribute", None),
}
if hasattr(ast, "TryStar"):
    _NODES[ast.TryStar] = _NODES[ast.Try]

#: What to write instead of functions that have no counterpart of a similar name.
_FUNCTIONS = {
    "functools.partial": "write a lambda",
    "torch.tensor": "write the number itself; wl.full(shape, number) makes a tile of it",
    "torch.as_tensor": "write the number itself; wl.full(shape, number) makes a tile of it",
    "torch.empty": "write wl.zeros(shape)",
    "torch.rand": "write wl.rand(shape, seed)",
    "torch.randn": "write wl.randn(shape, seed)",
    "torch.randint": "write wl.randint(shape, low, high, seed)",
    "torch.dropout": "write torch.where(wl.rand(shape, seed) > p, v / (1 - p), 0.0)",
}

#: What to write instead of methods of tensors.
_METHODS = {
    **dict.fromkeys(
        ("item", "tolist", "numpy"), "leave it out: a tile without dimensions counts as a number"
    ),
    **dict.fromkeys(("cpu", "cuda"), "leave it out: device code is where the tensors are"),
    "size": "write .shape[dim]",
    "backward": "call it on the kernel's result, see register_backward",
}


def node_name(node: ast.AST) -> str:
    """What a kind of statement or expression is called."""
    name, _ = _NODES.get(type(node), (f"`{type(node).__name__.lower()}`", None))
    return name


def remedy_of_node(node: ast.AST) -> str:
    """What to write instead of a kind of statement or expression."""
    _, remedy = _NODES.get(type(node), ("", None))
    return remedy or _ELSEWHERE


def _nearest(wanted: str, names: Iterable[str], cutoff: float = 0.6) -> str | None:
    close = difflib.get_close_matches(wanted, list(names), n=1, cutoff=cutoff)
    return close[0] if close else None


def remedy_of_sequence(value: Any) -> str | None:
    """What to write instead of a function of sequences on something else."""
    match value:
        case TileIndex():
            return f"write {value.name}.block_size, or {value.name}.end and .begin"
        case Tile() | MemoryTensor():
            return "write .shape[dim]"
    return None


def remedy_of_method(name: str, methods: Collection[str]) -> str:
    """What to write instead of a method that tiles do not have."""
    if name in _METHODS:
        return _METHODS[name]
    if name.endswith("_") and name[:-1] in methods:
        return f"tiles are values: write v = v.{name[:-1]}(...)"
    near = _nearest(name, methods)
    return f"the nearest that is supported is {near}" if near else _ELSEWHERE


def remedy_of_function(name: str, known: Mapping[str, str]) -> str:
    """What to write instead of a function.

    Args:
        name: its full name
        known: the full names of those that are supported, by their short names
    """
    if name in _FUNCTIONS:
        return _FUNCTIONS[name]
    near = _nearest(name.rsplit(".", 1)[-1], known)
    if near:
        return f"the nearest that is supported is {known[near]}"
    return "call it in host code, outside the wl.tile loops, if it needs no tile"


def function_name(function: Any, written: ast.expr) -> str:
    """The name of a function that is not supported: torch's, or what the source calls it."""
    name = getattr(function, "__name__", None) or type(function).__name__
    module = (getattr(function, "__module__", None) or "torch").removeprefix("torch._C.")
    if module == "builtins":
        return name
    if module.startswith("_") or "._" in module:
        return ast.unparse(written)
    return f"{module}.{name}"


def remedy_of_attribute(value: Any, name: str, shown: str, known: Iterable[str]) -> str | None:
    """What to write instead of an attribute that a constant or a module does not have.

    Args:
        value: the constant or module
        name: the attribute
        shown: what the source calls the value
        known: the short names of the functions that are supported
    """
    if isinstance(value, tuple) and name in ("append", "extend", "insert", "pop"):
        return "store to a tensor that host code makes, such as torch.empty(...)"
    if value is None:
        return f"test it before, such as `if {shown} is not None:`"
    if value is language:
        known = language.__all__
    elif not isinstance(value, types.ModuleType):
        known = (attribute for attribute in dir(value) if not attribute.startswith("_"))
    near = _nearest(name, [one for one in known if hasattr(value, one)])
    return f"did you mean `{shown}.{near}`?" if near else None


def remedy_of_name(name: str, seen: Iterable[str], imported: Iterable[str]) -> str:
    """What to do about a name that is not defined.

    Args:
        name: the name
        seen: names that are defined
        imported: names that the kernel's host code imports
    """
    if name in imported:
        return "import it at the top of the file: device code does not see imports of the kernel"
    near = _nearest(name, seen, cutoff=0.75)
    return f"did you mean `{near}`?" if near else "assign it before it is read"
