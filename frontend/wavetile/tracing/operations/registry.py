# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The table of operations."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from wavetile.errors import ArgumentError

if TYPE_CHECKING:
    from wavetile.tracing.emitter import Emitter

Emit = Callable[..., Any]


@dataclass(frozen=True, eq=False)
class Operation:
    """One operation: how people call it, and the function that emits it.

    `emit` takes the emitter and then what Python passes; its signature is that of the operation.
    """

    name: str
    emit: Emit
    signature: inspect.Signature

    def call(self, emitter: Emitter, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Emits a call.

        Raises:
            ArgumentError: the operation does not take these arguments
        """
        try:
            self.signature.bind(emitter, *args, **kwargs)
        except TypeError as error:
            emitter.fail(
                ArgumentError,
                f"{self.name}: {error}",
                f"device code knows it as {self.name}{self.parameters_text()}",
            )
        return self.emit(emitter, *args, **kwargs)

    def parameters_text(self) -> str:
        """Its parameters as a caller sees them: (input, dim, keepdim=False)."""
        empty = inspect.Parameter.empty
        parameters = [p.replace(annotation=empty) for p in self.signature.parameters.values()]
        return str(inspect.Signature(parameters[1:]))


#: By function object: torch's functions, builtins, and those of wavetile.language.
FUNCTIONS: dict[Any, Operation] = {}
#: By name: methods of tiles.
METHODS: dict[str, Operation] = {}


def operation(name: str, *functions: Any, methods: tuple[str, ...] = ()) -> Callable[[Emit], Emit]:
    """Enters the decorated function under functions and names of methods."""

    def enter(emit: Emit) -> Emit:
        row = Operation(name, emit, inspect.signature(emit))
        for function in functions:
            FUNCTIONS[function] = row
        for method in methods:
            METHODS[method] = row
        return emit

    return enter
