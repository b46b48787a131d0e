# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What can go wrong, one class per kind of mistake.

Every class derives from `WavetileError` and from the builtin that it resembles, or from
`WavetileWarning`. The text of an error names file and line, shows the source line with a caret, and
says what to write instead. Python's filters (`warnings.filterwarnings`) choose among warnings.
"""

from __future__ import annotations

import ast
import functools
import linecache
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace


@functools.lru_cache(maxsize=4)
def _ends_of_expressions(text: str) -> dict[tuple[int, int], int]:
    """Where the longest expression ends that begins at a line and column, and ends in that line.

    A file is parsed once: a compilation may have many places in it, of which only these are known.
    """
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return {}
    ends: dict[tuple[int, int], int] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.expr) and node.end_lineno == node.lineno:
            place = node.lineno, node.col_offset
            ends[place] = max(ends.get(place, 0), node.end_col_offset or 0)
    return ends


@dataclass(frozen=True)
class SourceLocation:
    """A place in a source file.

    Attributes:
        file: its name
        line: counted from 1
        column, end_column: counted from 0 in UTF-8 bytes, as Python's ast does; the end may not be
            known
        caller: the call that leads there, for a place in a helper function

    Example:
        print(error.location.line, error.location.excerpt())
    """

    file: str
    line: int
    column: int = 0
    end_column: int | None = None
    caller: SourceLocation | None = None

    @classmethod
    def of_places(cls, places: Sequence[tuple[str, int, int]]) -> SourceLocation:
        """The first of these places, reached through calls at the others, the innermost first.

        Args:
            places: files, lines and columns, which are counted from 1
        """
        caller: SourceLocation | None = None
        for file, line, column in reversed(places):
            caller = cls(file, line, max(0, column - 1), caller=caller)
        assert caller is not None, "there is a place"
        return caller

    def called_from(self, caller: SourceLocation | None) -> SourceLocation:
        """This place, reached through a call.

        Args:
            caller: the place of the call, after those that lead to it already
        """
        if self.caller is not None:
            return replace(self, caller=self.caller.called_from(caller))
        return replace(self, caller=caller)

    def _end_of_expression(self) -> int | None:
        """Where the longest expression that begins here ends in this line, if there is one."""
        ends = _ends_of_expressions("".join(linecache.getlines(self.file)))
        return ends.get((self.line, self.column))

    def excerpt(self) -> str:
        """The source line with carets under the place; empty if it cannot be read."""
        text = linecache.getline(self.file, self.line).rstrip("\n")
        if not text:
            return ""
        # Columns count UTF-8 bytes, as Python's ast does.
        encoded = text.encode()
        begin = len(encoded[: self.column].decode(errors="replace"))
        end_column = self._end_of_expression() if self.end_column is None else self.end_column
        end = len(text)
        if end_column is not None:
            end = len(encoded[:end_column].decode(errors="replace"))
        number = str(self.line)
        carets = " " * begin + "^" * max(1, min(end, len(text)) - begin)
        return f"  {number} | {text}\n  {' ' * len(number)} | {carets}"


class _Located(BaseException):
    """A text with a place in the source and a remedy."""

    def __init__(
        self,
        message: str,
        *,
        location: SourceLocation | None = None,
        remedy: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.location = location
        self.remedy = remedy

    def _own_text(self) -> str:
        if self.location is None:
            lines = [self.message]
        else:
            lines = [f"{self.location.file}:{self.location.line}: {self.message}"]
            if excerpt := self.location.excerpt():
                lines.append(excerpt)
            caller = self.location.caller
            while caller is not None:
                lines.append(f"  called from {caller.file}:{caller.line}")
                caller = caller.caller
        if self.remedy:
            lines.append(f"  help: {self.remedy}")
        return "\n".join(lines)


class WavetileError(_Located, Exception):
    """Base of all errors of Wavetile.

    Attributes: `message`, `location` (a SourceLocation or None), `remedy` (what to write
    instead, or None) and `others` (further mistakes in the same kernel).
    """

    def __init__(
        self,
        message: str,
        *,
        location: SourceLocation | None = None,
        remedy: str | None = None,
    ) -> None:
        super().__init__(message, location=location, remedy=remedy)
        self.others: list[WavetileError] = []

    def __str__(self) -> str:
        texts = [self._own_text()]
        texts += [f"{type(error).__name__}: {error._own_text()}" for error in self.others]
        return "\n\n".join(texts)


class UnsupportedSyntaxError(WavetileError, NotImplementedError):
    """A Python statement or expression that device code cannot contain."""


class UnsupportedFunctionError(WavetileError, NotImplementedError):
    """A function or method that device code cannot call."""


class UnsupportedIndexError(WavetileError, NotImplementedError):
    """An index that device code cannot use."""


class SourceUnavailableError(WavetileError, OSError):
    """The source of a kernel or helper function cannot be read."""


class OutsideKernelError(WavetileError, RuntimeError):
    """A device function is called outside the loops of a kernel."""


class UndefinedNameError(WavetileError, NameError):
    """A name has no value where it is read."""


class DeviceResultError(WavetileError, NameError):
    """Host code reads a variable that only device code assigns."""


class ShapeError(WavetileError, ValueError):
    """Shapes do not fit together: in broadcasting, a dot, a store or a reduction."""


class DTypeError(WavetileError, TypeError):
    """An operation does not take this dtype."""


class ArgumentError(WavetileError, TypeError):
    """A kernel or device function is called with arguments that it does not take."""


class TensorAccessError(WavetileError, TypeError):
    """A tensor in memory is used where a tile is needed, or a tile where a tensor is."""


class CarriedValueError(WavetileError, TypeError):
    """A value carried through a loop changes its type or shape from step to step."""


class MissingReturnError(WavetileError, TypeError):
    """A helper function returns nothing where its value is used."""


class RaceError(WavetileError, RuntimeError):
    """Iterations of a top-level loop, which have no order, touch one element and one stores it."""


class NoLoopError(WavetileError, ValueError):
    """A kernel has no top-level loop over `wl.tile`."""


class TileScopeError(WavetileError, NameError):
    """A tile or an index is used outside the loop that it belongs to."""


class ConfigError(WavetileError, ValueError):
    """A Config or a setting has a key or a value that does not exist."""


#: Lines below a diagnostic of the compiler: what helps, and the calls that lead there.
_HELP = re.compile(r"^  help: (?P<text>.*)\n?", re.MULTILINE)
_CALLER = re.compile(r"^  called from (?P<file>.+):(?P<line>\d+):(?P<column>\d+)\n?", re.MULTILINE)

_DIAGNOSTIC = re.compile(
    r'^(?:loc\()?"?(?P<file>[^"\n]+?)"?:(?P<line>\d+):(?P<column>\d+)\)?: (?:error: )?(?P<text>.*)',
    re.DOTALL,
)


class CompilationError(WavetileError, RuntimeError):
    """The compiler refused a kernel; `location` is that of its first diagnostic, if it has one."""

    def __init__(
        self,
        message: str,
        *,
        location: SourceLocation | None = None,
        remedy: str | None = None,
    ) -> None:
        found = _DIAGNOSTIC.match(message)
        if location is None and found:
            callers = [
                (caller["file"], int(caller["line"]), int(caller["column"]))
                for caller in _CALLER.finditer(message)
            ]
            place = (found["file"], int(found["line"]), int(found["column"]))
            location = SourceLocation.of_places([place, *callers])
            message = _CALLER.sub("", found["text"]).rstrip("\n")
        if remedy is None and (helped := _HELP.search(message)):
            remedy = helped["text"]
            message = _HELP.sub("", message, count=1).rstrip("\n")
        super().__init__(message, location=location, remedy=remedy)


class LaunchError(WavetileError, RuntimeError):
    """A compiled kernel cannot serve a launch."""


class DeviceError(WavetileError, RuntimeError):
    """The device failed. `hip_error` is HIP's name of the error, `report` what the software
    device found; either may be empty."""

    hip_error: str = ""
    report: str = ""


class DeviceNotFoundError(WavetileError, RuntimeError):
    """There is no device to run kernels on."""


class AccuracyError(WavetileError, AssertionError):
    """A result differs from its reference by more than the bound."""


class WavetileWarning(_Located, UserWarning):
    """Base of all warnings of Wavetile; `message`, `location` and `remedy` as of an error."""

    def __str__(self) -> str:
        return self._own_text()


class IgnoredOptionWarning(WavetileWarning):
    """An option or a key of a Config that Helion has and that means nothing here."""


class RaceWarning(WavetileWarning):
    """Iterations of a top-level loop may touch one element: nothing proves that they do not."""


class PerformanceWarning(WavetileWarning):
    """A kernel does what is legal and slow on this target."""
