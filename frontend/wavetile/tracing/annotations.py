# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the annotations of a kernel's parameters say of its arguments.

`torch.Tensor`, `int`, `float` and `bool` are checked, and what `Annotated[torch.Tensor, ...]` adds:
a dtype, a rank (an int) and a device, in any order. Others are for people.
"""

from __future__ import annotations

import ast
import typing
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import torch

from wavetile import _C
from wavetile.errors import ArgumentError, WavetileError
from wavetile.syntax import names
from wavetile.tracing.dtypes import BY_NAME

if TYPE_CHECKING:
    from wavetile._C import Specialisation
    from wavetile.syntax.source import FunctionSource


def _given(parameter: Any) -> str:
    """What an argument is, for messages."""
    match parameter:
        case _C.TensorSpecialisation():
            return "a tensor"
        case _C.FloatSpecialisation():
            return "a float"
        case _C.IntegerSpecialisation():
            return "a bool" if parameter.is_bool else "an int"
    return "None" if parameter.value is None else f"a {type(parameter.value).__name__}"


#: What fits an annotation: as in Python an int is a float too, and a bool is an int.
_FITTING = {
    torch.Tensor: ("a tensor",),
    float: ("a float", "an int", "a bool"),
    int: ("an int", "a bool"),
    bool: ("a bool",),
}


def _annotations(source: FunctionSource) -> dict[str, Any]:
    """The annotations of a function's parameters, as far as their names have values."""
    try:
        return typing.get_type_hints(source.function, include_extras=True)
    except (NameError, TypeError, AttributeError, SyntaxError):
        return {}


def _unmet(parameter: _C.TensorSpecialisation, device: str, wanted: Any) -> str | None:
    """What a tensor is instead of what its annotation adds, or None."""
    match wanted:
        case torch.dtype() if parameter.dtype in BY_NAME:
            dtype = BY_NAME[parameter.dtype].dtype
            return None if dtype is wanted else f"has dtype {dtype}, not {wanted}"
        case bool():
            return None
        case int():
            rank = parameter.rank
            dimensions = f"{rank} dimension{'s' * (rank != 1)}"
            return None if rank == wanted else f"has {dimensions}, not {wanted}"
        case torch.device():
            wanted_type = "hip" if wanted.type == "cuda" else "software"
            return None if device == wanted_type else f"is not on {wanted}"
    return None


def _mistakes(annotation: Any, parameter: Any, device: str) -> Iterator[str]:
    extras: tuple[Any, ...] = ()
    if typing.get_origin(annotation) is typing.Annotated:
        annotation, *rest = typing.get_args(annotation)
        extras = tuple(rest)
    fitting = _FITTING.get(annotation) if isinstance(annotation, type) else None
    if fitting is not None and _given(parameter) not in fitting:
        yield f"is {_given(parameter)}, not {fitting[0]}"
    elif isinstance(parameter, _C.TensorSpecialisation):
        yield from (text for wanted in extras if (text := _unmet(parameter, device, wanted)))


def check_arguments(source: FunctionSource, specialisation: Specialisation) -> None:
    """Compares the arguments of a call with the annotations of the kernel's parameters.

    Raises:
        ArgumentError: one is of another kind; the first one, with the `others`
    """
    tree = source.tree.args
    places = {a.arg: a for a in (*tree.posonlyargs, *tree.args, *tree.kwonlyargs)}
    assigned = names.stores(source.tree.body)
    errors: list[WavetileError] = []
    annotations: dict[str, Any] | None = None
    for parameter in specialisation.parameters:
        place = places.get(parameter.name)
        if place is None or place.annotation is None or parameter.name in assigned:
            continue
        if _given(parameter) == "None":
            continue  # many leave `| None` out of annotations
        annotations = _annotations(source) if annotations is None else annotations
        annotation = annotations.get(parameter.name)
        for mistake in _mistakes(annotation, parameter, specialisation.device):
            text = ast.unparse(place.annotation)
            errors.append(
                ArgumentError(
                    f"the argument `{parameter.name}` of {source.tree.name} {mistake}",
                    location=source.location(place),
                    remedy=f"pass what its annotation `{text}` says, or change the annotation",
                )
            )
    if errors:
        errors[0].others = errors[1:]
        raise errors[0]
