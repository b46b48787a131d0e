# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What `wavetile.language` means when a kernel runs as Python."""

from __future__ import annotations

import itertools
import types
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from wavetile import language
from wavetile.eager import blocks, indexing, meanings, memory, printing, random, scaled
from wavetile.eager.tiles import EagerTile, along, common_loop, loop_of
from wavetile.errors import ArgumentError, TensorAccessError, UnsupportedFunctionError

#: Torch's names of the in-place operators.
_IN_PLACE = frozenset(
    ["add_", "sub_", "mul_", "div_", "floor_divide_", "remainder_", "pow_"]
    + [f"__i{name}__" for name in ("and", "or", "xor", "lshift", "rshift")]
)


def run(function: types.FunctionType, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """Calls a kernel's function; its loops run here, in Python.

    Raises:
        WavetileError: a mistake in the use of the language
        Exception: whatever the function or torch raises
    """
    interpreter = Interpreter(index_by_index=blocks.has_jagged_tiles(function))
    token = language.INTERPRETER.set(interpreter)
    try:
        with interpreter:
            return function(*args, **kwargs)
    finally:
        language.INTERPRETER.reset(token)


class Interpreter(TorchFunctionMode):
    """One call of a kernel.

    Tensors that device code computes are values: loads copy, and `v += 1` makes a new tensor.
    All others are memory, which only indexing reads and writes.
    """

    def __init__(self, index_by_index: bool = False) -> None:
        """With `index_by_index` a loop without a block size takes its indices one by one."""
        super().__init__()
        self._depth = 0
        self._index_by_index = index_by_index
        #: The blocks of the loops around what runs now.
        self._tiles: list[EagerTile] = []

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        if not self._depth:
            return func(*args, **(kwargs or {}))
        if func is torch.Tensor.__getitem__:
            tensor, index = args
            load = indexing.load_of_tile if _is_value(tensor) else indexing.load
            indices = index if isinstance(index, (tuple, list)) else (index,)
            return _along(_as_value(load(tensor, index)), (tensor, *indices))
        if func is torch.Tensor.__setitem__:
            tensor, index, value = args
            if _is_value(tensor):
                raise TensorAccessError(
                    "a tile is a value and cannot be stored to",
                    remedy="compute a new one, with torch.where(...) for instance",
                )
            return indexing.store(tensor, index, value)
        if getattr(func, "__name__", "") in _IN_PLACE and _is_value(args[0]):
            args = (args[0].clone(), *args[1:])
        meaning = meanings.MEANINGS.get(func, func)
        args = blocks.with_sizes(self._tiles, func, args)
        result = blocks.over_short_blocks(self._tiles, meaning, args, kwargs or {})
        return _along(_as_value(result), args)

    def _extent(self, size: Any) -> int:
        if isinstance(size, torch.Tensor):
            return int(size)
        if isinstance(size, bool) or not hasattr(size, "__index__"):
            raise ArgumentError(f"wl.tile loops over ints, not {size!r}")
        return size.__index__()

    def _blocks(self, begin: Any, end: Any, block_size: Any) -> list[EagerTile]:
        low, high = self._extent(begin), self._extent(end)
        loop = block_size if isinstance(block_size, language.BlockSize) else object()
        match block_size:
            case None:
                size = 1 if self._index_by_index else max(1, high - low)
            case int() if block_size > 0 and not isinstance(block_size, bool):
                size = block_size
            case _:
                raise ArgumentError(f"a block size is a positive constant, not {block_size!r}")
        return [
            EagerTile(
                start,
                min(start + size, high),
                size,
                number,
                -(-(high - low) // size),
                high,
                dim=loop,
            )
            for number, start in enumerate(range(low, high, size))
        ]

    def tile(
        self, begin_or_end: Any, end: Any = None, block_size: Any = None
    ) -> Iterator[EagerTile | tuple[EagerTile, ...]]:
        """`wl.tile`: one block over all indices, or blocks of `block_size`; see `__init__`."""
        several = isinstance(begin_or_end if end is None else end, Sequence)
        ends = begin_or_end if end is None else end
        ends = list(ends) if several else [ends]
        begins = [0] * len(ends) if end is None else begin_or_end
        begins = list(begins) if isinstance(begins, Sequence) else [begins]
        sizes = list(block_size) if isinstance(block_size, Sequence) else [block_size] * len(ends)
        if not len(begins) == len(ends) == len(sizes):
            raise ArgumentError(
                f"wl.tile over {len(ends)} dimensions with {len(begins)} lower bounds and"
                f" {len(sizes)} block sizes"
            )
        outer = list(self._tiles)
        self._depth += 1
        try:
            for block in itertools.product(*map(self._blocks, begins, ends, sizes)):
                self._tiles = [*outer, *block]
                yield block if several else block[0]
        finally:
            self._depth -= 1
            self._tiles = outer

    def block_size(self, low: int, high: int) -> int:
        """What `wl.register_block_size` chooses: a block that is all there is, or one index."""
        return low if self._index_by_index else high

    def jagged_tile(self, parent: torch.Tensor) -> Iterator[EagerTile]:
        """`wl.jagged_tile`: the loops around it take rows one by one."""
        ends = parent.reshape(-1)
        if ends.numel() and not bool((ends == ends[0]).all()):
            raise UnsupportedFunctionError(
                "Python runs rows of several lengths one by one, and not in blocks of a fixed size",
                remedy="leave out block_size= of the loops around wl.jagged_tile, or run the kernel"
                " compiled",
            )
        end = max(0, int(ends[0])) if ends.numel() else 0
        yield from self.tile(end, block_size=max(1, end))  # type: ignore[misc]

    def grid(self, begin_or_end: Any, end: Any = None, step: Any = None) -> Iterator[Any]:
        """`wl.grid`: single indices."""
        ends = begin_or_end if end is None else end
        several = isinstance(ends, Sequence)
        ends = list(ends) if several else [ends]
        begins = [0] * len(ends) if end is None else begin_or_end
        begins = list(begins) if isinstance(begins, Sequence) else [begins]
        steps = list(step) if isinstance(step, Sequence) else [step or 1] * len(ends)
        if not len(begins) == len(ends) == len(steps):
            raise ArgumentError(
                f"wl.grid over {len(ends)} dimensions with {len(begins)} lower bounds and"
                f" {len(steps)} steps"
            )
        ranges = [
            range(self._extent(low), self._extent(high), by)
            for low, high, by in zip(begins, ends, steps, strict=True)
        ]
        self._depth += 1
        try:
            for index in itertools.product(*ranges):
                yield index if several else index[0]
        finally:
            self._depth -= 1

    def load(self, tensor: Any, index: Any, extra_mask: Any = None) -> torch.Tensor:
        """`wl.load`."""
        return self._outside_torch(memory.load, tensor, index, extra_mask)

    def store(self, tensor: Any, index: Any, value: Any, extra_mask: Any = None) -> None:
        """`wl.store`."""
        self._outside_torch(memory.store, tensor, index, value, extra_mask)

    def _outside_torch(self, function: Callable[..., Any], *args: Any) -> Any:
        """Calls a function whose own indexing is torch's."""
        depth, self._depth = self._depth, 0
        try:
            result = function(*args)
        finally:
            self._depth = depth
        return _as_value(result)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        """`wl.atomic_add` and its like."""
        kind = name.removeprefix("atomic_")
        if kind == name or kind not in memory.COMBINE:
            raise AttributeError(name)

        def atomic(
            tensor: Any,
            index: Any,
            value: Any,
            sem: str = "relaxed",
            scope: str = "device",
            extra_mask: Any = None,
        ) -> torch.Tensor:
            del sem, scope  # there is one thread
            combine = memory.COMBINE[kind]
            return self._outside_torch(memory.atomic, combine, tensor, index, value, extra_mask)

        return atomic

    def atomic_cas(
        self,
        tensor: Any,
        index: Any,
        expected: Any,
        value: Any,
        sem: str = "relaxed",
        scope: str = "device",
        extra_mask: Any = None,
    ) -> torch.Tensor:
        """`wl.atomic_cas`."""
        del sem, scope
        combine = memory.COMBINE["cas"]
        return self._outside_torch(
            memory.atomic, combine, tensor, index, value, extra_mask, expected
        )

    def _sizes(self, shape: Any) -> list[int]:
        sizes = shape if isinstance(shape, Sequence) else [shape]
        return [blocks.size_in(self._tiles, size) for size in sizes]

    def static_range(self, begin_or_end: int, end: int | None = None, step: int = 1) -> range:
        """`wl.static_range`."""
        return range(begin_or_end) if end is None else range(begin_or_end, end, step)

    def zeros(self, shape: Any, dtype: torch.dtype = torch.float32) -> torch.Tensor:
        """`wl.zeros`."""
        return _as_value(torch.zeros(self._sizes(shape), dtype=dtype))

    def full(self, shape: Any, value: Any, dtype: torch.dtype | None = None) -> torch.Tensor:
        """`wl.full`."""
        return _as_value(torch.full(self._sizes(shape), value, dtype=dtype))

    def arange(self, size: Any, dtype: torch.dtype = torch.int64) -> torch.Tensor:
        """`wl.arange`."""
        loop = size if isinstance(size, language.BlockSize) else loop_of(size)
        return along(_as_value(torch.arange(*self._sizes(size), dtype=dtype)), loop)

    def rand(self, shape: Any, seed: Any) -> torch.Tensor:
        """`wl.rand`."""
        return _as_value(random.rand(shape, seed))

    def randn(self, shape: Any, seed: Any) -> torch.Tensor:
        """`wl.randn`."""
        return _as_value(random.randn(shape, seed))

    def randint(self, shape: Any, low: int, high: int, seed: Any) -> torch.Tensor:
        """`wl.randint`."""
        return _as_value(random.randint(shape, low, high, seed))

    def associative_scan(self, combine_fn: Any, input: Any, dim: int, reverse: bool = False) -> Any:
        """`wl.associative_scan`."""
        return _as_value(meanings.associative_scan(combine_fn, input, dim, reverse))

    def reduce(
        self,
        combine_fn: Any,
        input: Any,
        dim: int | None = None,
        other: Any = 0,
        keep_dims: bool = False,
    ) -> Any:
        """`wl.reduce`."""
        return _as_value(meanings.reduce(combine_fn, input, dim, other, keep_dims))

    def cumsum(self, input: torch.Tensor, dim: int) -> torch.Tensor:
        """`wl.cumsum`."""
        return _as_value(torch.cumsum(input, dim))

    def cumprod(self, input: torch.Tensor, dim: int) -> torch.Tensor:
        """`wl.cumprod`."""
        return _as_value(torch.cumprod(input, dim))

    def join(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        """`wl.join`."""
        return _as_value(torch.stack(torch.broadcast_tensors(a, b), -1))

    def split(self, input: torch.Tensor) -> Any:
        """`wl.split`."""
        return _as_value((input[..., 0], input[..., 1]))

    def fma(self, *args: Any) -> torch.Tensor:
        """`wl.fma`."""
        return _as_value(meanings.fma(*args))

    def device_print(self, prefix: str, *values: Any) -> None:
        """`wl.device_print`: at once, with the indices in the tiles."""
        for line in printing.lines(prefix, values):
            print(line)

    def device_assert(self, condition: Any, message: str = "") -> None:
        """`wl.device_assert`."""
        if not bool(torch.as_tensor(condition).all()):
            raise AssertionError(message)

    def inline_asm(self, *args: Any, **kwargs: Any) -> Any:
        """`wl.inline_asm`, which only the target can do."""
        raise UnsupportedFunctionError(
            "wl.inline_asm has no meaning in Python: it is instructions of the target",
            remedy="run the kernel compiled, without WAVETILE_INTERPRET=1 or interpret=True",
        )

    inline_asm_elementwise = inline_asm

    def unpack_fp4(self, input: Any, dtype: torch.dtype = torch.float32) -> Any:
        """`wl.unpack_fp4`."""
        return _as_value(scaled.unpack_fp4(input, dtype))

    def float4_e2m1fn_x2_to_float32(self, input: Any) -> Any:
        """`wl.float4_e2m1fn_x2_to_float32`."""
        return self.unpack_fp4(input)

    def pack_fp4(self, low: torch.Tensor, high: torch.Tensor) -> torch.Tensor:
        """`wl.pack_fp4`."""
        return _as_value(scaled.pack_fp4(low, high))

    def dot_scaled(self, *args: Any, **kwargs: Any) -> torch.Tensor:
        """`wl.dot_scaled`."""
        # In elements: those of fp4 are two in each of the loop's.
        shorter = [2 * tile.block_size for tile in self._tiles if len(tile) < tile.block_size]
        longest = max(shorter, default=0)
        return self._outside_torch(lambda: scaled.dot_scaled(*args, **kwargs, longest=longest))

    def dot(self, *args: Any, **kwargs: Any) -> torch.Tensor:
        """`wl.dot`."""
        return _as_value(meanings.dot(*args, **kwargs))


def _is_value(tensor: torch.Tensor) -> bool:
    return getattr(tensor, "_wavetile_value", False)


def _along(result: Any, operands: Iterable[Any]) -> Any:
    """Says along what loop a result of one dimension runs."""
    return along(result, common_loop(operands)) if isinstance(result, torch.Tensor) else result


def _as_value(result: Any) -> Any:
    """Marks what device code computed."""
    for tensor in result if isinstance(result, (tuple, list)) else [result]:
        if isinstance(tensor, torch.Tensor):
            tensor._wavetile_value = True  # type: ignore[attr-defined]
    return result
