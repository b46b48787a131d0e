# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Small random kernels, and the same text as plain torch code over whole tensors.

Numbers are integers, and every intermediate result is kept small enough for its dtype to hold it
exactly: whatever order, layout or precision a compiler chooses, all must agree to the bit. Among
floats there may be NaN, infinities and -0.0, of which this is as true; but which zero is the larger
one, and the sign of a sum of zeros, torch does not say. Tensors may be empty.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
import wavetile.language as wl
from hypothesis import strategies as st

from .end_to_end import defined

#: The largest integer up to which a dtype holds all.
LIMITS = {
    torch.float64: 2**50,
    torch.float32: 2**24,
    torch.float16: 2**11,
    torch.bfloat16: 2**8,
    torch.int64: 2**60,
    torch.int32: 2**31 - 1,
    torch.int16: 2**15 - 1,
    torch.int8: 2**7 - 1,
}
FLOATS = (torch.float32, torch.float16, torch.bfloat16, torch.float64)
INTEGERS = (torch.int32, torch.int64, torch.int16, torch.int8)
SIZES = st.sampled_from([1, 2, 3, 7, 16, 31, 64, 65, 100, 0])
SMALL_SIZES = st.sampled_from([1, 2, 7, 16, 31, 40, 0])

#: Numbers that are no integers, and how many elements of a tensor are such a one.
SPECIAL = torch.tensor([torch.nan, torch.inf, -torch.inf, -0.0, -0.0, -0.0])
SPECIAL_SHARE = 0.03
#: Operations of which torch does not say which zero they give.
ANY_ZERO = ("minimum", "maximum", "amin", "amax", "sum", "dot")

_numbers = itertools.count()


@dataclass
class Input:
    """A tensor argument: its shape by name, dtype and how it lies in memory."""

    name: str
    shape: tuple[str, ...]
    dtype: torch.dtype
    order: str = "rows"
    step: int = 1


@dataclass
class Term:
    """A piece of an expression, with the dtype and the largest magnitude of its value."""

    text: str
    dtype: torch.dtype
    bound: int


@dataclass
class Program:
    """A kernel's text and what it is called with."""

    sizes: dict[str, int]
    inputs: list[Input]
    outputs: list[Input]
    lines: list[str]
    largest: int
    scalar: int
    special: bool = False
    row_dim: bool = False
    loop_dims: tuple[str, ...] = ("rows",)
    filename: str = field(default_factory=lambda: f"<random program {next(_numbers)}>")

    @property
    def source(self) -> str:
        names = [tensor.name for tensor in (*self.inputs, *self.outputs)]
        header = f"def program({', '.join(f'{name}: torch.Tensor' for name in names)}, s: int):"
        sizes = [f"    {name} = {self._size_of(name)}" for name in self.sizes]
        return "\n".join([header, *sizes, *(f"    {line}" for line in self.lines), ""])

    @property
    def has_signed_zeros(self) -> bool:
        """Whether torch says of each zero which one it is."""
        return not any(name in line for name in ANY_ZERO for line in self.lines)

    def _size_of(self, name: str) -> str:
        for tensor in (*self.outputs, *self.inputs):
            if name in tensor.shape:
                return f"{tensor.name}.size({tensor.shape.index(name)})"
        raise AssertionError(f"nothing has the size {name}")

    def kernel(self) -> Callable[..., Any]:
        """The undecorated function, whose source Python can find."""
        return self._function(self.source, self.filename)

    def reference(self) -> Callable[..., Any]:
        """Its loops taken once, over all that there is."""
        text = self.source
        for loop, whole in (
            ("wl.tile([m, n])", "[(ALL, ALL)]"),
            ("wl.tile(m)", "[ALL]"),
            ("wl.tile(n)", "[ALL]"),
            ("wl.tile(k)", "[ALL]"),
            ("wl.zeros([rows, cols]", "torch.zeros([m, n]"),
            ("wl.zeros([rows]", "torch.zeros([m]"),
            ("wl.dot(", "dot("),
        ):
            text = text.replace(loop, whole)
        assert "wl." not in text, text
        return self._function(text, f"{self.filename} as torch")

    def _function(self, text: str, filename: str) -> Callable[..., Any]:
        names = {"torch": torch, "wl": wl, "ALL": slice(None), "dot": _dot}
        return defined("program", text, filename, **names)

    def tensors(self, generator: torch.Generator) -> dict[str, torch.Tensor]:
        """Fresh inputs, and outputs full of what nothing computes."""
        result = {}
        for tensor in self.inputs:
            shape = [self.sizes[name] for name in tensor.shape]
            numbers = torch.randint(-self.largest, self.largest + 1, shape, generator=generator).to(
                tensor.dtype
            )
            if self.special and tensor.dtype.is_floating_point:
                chosen = torch.randint(0, len(SPECIAL), shape, generator=generator)
                taken = torch.rand(shape, generator=generator) < SPECIAL_SHARE
                numbers = torch.where(taken, SPECIAL.to(tensor.dtype)[chosen], numbers)
            result[tensor.name] = _laid_out(numbers, tensor)
        for tensor in self.outputs:
            shape = [self.sizes[name] for name in tensor.shape]
            result[tensor.name] = _laid_out(torch.full(shape, 77, dtype=tensor.dtype), tensor)
        return result


def _dot(a: torch.Tensor, b: torch.Tensor, acc: torch.Tensor) -> torch.Tensor:
    return acc + a.to(acc.dtype) @ b.to(acc.dtype)


def _laid_out(numbers: torch.Tensor, tensor: Input) -> torch.Tensor:
    """The numbers, in memory as the program wants them, between others."""
    columns = tensor.order == "columns" and numbers.ndim == 2
    source = numbers.mT if columns else numbers
    shape = [size + 3 for size in source.shape]
    shape[-1] *= tensor.step
    buffer = torch.full(shape, 99, dtype=numbers.dtype)
    where = [slice(1, 1 + size) for size in source.shape]
    last = source.shape[-1] * tensor.step
    where[-1] = slice(1, 1 + last, tensor.step)
    view = buffer[tuple(where)]
    view.copy_(source)
    return view.mT if columns else view


#: Of a binary operation its text, and the bound of its result.
BINARY: tuple[tuple[str, Callable[[int, int], int]], ...] = (
    ("({} + {})", lambda a, b: a + b),
    ("({} - {})", lambda a, b: a + b),
    ("({} * {})", lambda a, b: a * b),
    ("torch.minimum({}, {})", max),
    ("torch.maximum({}, {})", max),
    ("torch.where({0} < {1}, {0}, {1})", max),
    ("torch.where({0} == {1}, {1}, {0})", max),
)
UNARY: tuple[tuple[str, Callable[[int], int]], ...] = (
    ("(-{})", lambda a: a),
    ("torch.abs({})", lambda a: a),
    ("({} * 2)", lambda a: 2 * a),
    ("({} - 1)", lambda a: a + 1),
    ("torch.clamp({}, -2, 3)", lambda a: 3),
    ("torch.where({0} > 0, {0}, -1)", lambda a: max(a, 1)),
    ("({} + s)", lambda a: a + 5),
)
BITS: tuple[tuple[str, Callable[[int, int], int]], ...] = tuple(
    # A negative number has all bits above its own set: the bound is that of both.
    (f"({{}} {operator} {{}})", lambda a, b: 1 << max(a, b).bit_length())
    for operator in "&|^"
)


def grow(draw: Any, terms: list[Term], steps: int, integers: bool) -> Term:
    """One expression that uses the terms."""
    pool = list(terms)
    for _ in range(steps):
        if draw(st.booleans()):
            text, bound = draw(st.sampled_from(UNARY))
            a = draw(st.sampled_from(pool))
            made = Term(text.format(a.text), a.dtype, bound(a.bound))
        else:
            text, joint = draw(st.sampled_from(BINARY + BITS if integers else BINARY))
            a, b = draw(st.sampled_from(pool)), draw(st.sampled_from(pool))
            dtype = torch.promote_types(a.dtype, b.dtype)
            made = Term(text.format(a.text, b.text), dtype, joint(a.bound, b.bound))
        if made.bound <= LIMITS[made.dtype] and len(made.text) < 400:
            pool.append(made)
    return pool[-1]


def output_dtype(draw: Any, term: Term, integers: bool) -> torch.dtype:
    """A dtype that holds the term."""
    fitting = [dtype for dtype in (INTEGERS if integers else FLOATS) if LIMITS[dtype] >= term.bound]
    return draw(st.sampled_from(fitting))


@st.composite
def programs(draw: Any, forms: tuple[str, ...]) -> Program:
    """A program of one of the forms: "elementwise", "rows", "nested" or "product"."""
    form = draw(st.sampled_from(forms))
    integers = form != "product" and draw(st.booleans())
    dtypes: tuple[torch.dtype, ...] = INTEGERS if integers else FLOATS
    if form == "product":
        dtypes = (torch.float32, torch.float16, torch.bfloat16)
    sizes = {"m": draw(SIZES), "n": draw(SIZES)}
    largest = draw(st.integers(1, 4))
    scalar = draw(st.integers(-5, 5))
    special = draw(st.booleans())

    def an_input(number: int, shape: tuple[str, ...]) -> Input:
        return Input(
            f"x{number}",
            shape,
            draw(st.sampled_from(dtypes)),
            draw(st.sampled_from(["rows", "columns"])),
            draw(st.sampled_from([1, 1, 2])),
        )

    if form == "product":
        return _product(draw, sizes, largest, scalar, special, an_input)

    columns = ":" if form == "rows" else "cols"
    inputs = [an_input(0, ("m", "n"))]
    loaded = [Term(f"x0[rows, {columns}]", inputs[0].dtype, largest)]
    for number in range(1, draw(st.integers(1, 3))):
        shape = draw(st.sampled_from([("m", "n"), ("n",), ("m",)]))
        inputs.append(an_input(number, shape))
        text = {
            ("m", "n"): f"x{number}[rows, {columns}]",
            ("n",): f"x{number}[{columns}]",
            ("m",): f"x{number}[rows][:, None]",
        }[shape]
        loaded.append(Term(text, inputs[-1].dtype, largest))
    lines = []
    terms = []
    for number, term in enumerate(loaded):
        lines.append(f"v{number} = {term.text}")
        terms.append(Term(f"v{number}", term.dtype, term.bound))
    # What has the shape of one row or one column alone is made whole by the first.
    first = grow(draw, terms, draw(st.integers(1, 5)), integers)
    lines.append(f"first = {first.text}")
    whole = Term("torch.where(v0 < 2, first, first)", first.dtype, first.bound)
    outputs: list[Input] = []

    def store(place: str, shape: tuple[str, ...], term: Term) -> str:
        output = Input(f"out{len(outputs)}", shape, output_dtype(draw, term, integers))
        outputs.append(output)
        return f"{output.name}[{place}] = {term.text}.to({output.name}.dtype)"

    if form == "elementwise":
        body = [*lines, store("rows, cols", ("m", "n"), whole)]
        lines = ["for rows, cols in wl.tile([m, n]):", *(f"    {line}" for line in body)]
        dims = ("rows", "cols")
        return Program(sizes, inputs, outputs, lines, largest, scalar, special, loop_dims=dims)

    reduced, reduction = _reduction(draw, whole, sizes["n"], integers)
    if form == "nested":
        accumulator = torch.int64 if integers else torch.float32
        combine = (
            "acc + {}"
            if "sum" in reduction
            else ("torch.maximum(acc, {})" if "amax" in reduction else "torch.minimum(acc, {})")
        )
        step = reduction.format(whole.text)
        body = [
            f"acc = wl.zeros([rows], dtype={accumulator})",
            "for cols in wl.tile(n):",
            *(f"    {line}" for line in lines),
            f"    acc = {combine.format(f'{step}.to({accumulator})')}",
        ]
        result = Term("acc", accumulator, reduced.bound)
        body.append(store("rows", ("m",), result))
        lines = ["for rows in wl.tile(m):", *(f"    {line}" for line in body)]
        # A column alone is read in the loop too.
        dims = ("rows", "cols")
        return Program(sizes, inputs, outputs, lines, largest, scalar, special, loop_dims=dims)

    body = [*lines, f"w = {whole.text}", f"r = {reduction.format('w')}"]
    w = Term("w", whole.dtype, whole.bound)
    spread = Term("r[:, None]", reduced.dtype, reduced.bound)
    last = grow(draw, [w, spread, spread], draw(st.integers(1, 4)), integers)
    body.append(f"last = {last.text}")
    spread_out = Term("torch.where(w < 2, last, last)", last.dtype, last.bound)
    body.append(store("rows, :", ("m", "n"), spread_out))
    body.append(store("rows", ("m",), Term("r", reduced.dtype, reduced.bound)))
    lines = ["for rows in wl.tile(m):", *(f"    {line}" for line in body)]
    return Program(sizes, inputs, outputs, lines, largest, scalar, special, row_dim=True)


def _reduction(draw: Any, term: Term, length: int, integers: bool) -> tuple[Term, str]:
    """The result of a reduction along the last dimension, and its text around a tile."""
    # torch has no extremes of nothing.
    kinds = ["torch.amax({}, -1)", "torch.amin({}, -1)"] if length else []
    dtype = torch.int64 if integers else term.dtype
    if term.bound * length <= LIMITS[dtype]:
        kinds += ["torch.sum({}, -1)"] * 2
    kind = draw(st.sampled_from(kinds))
    if "sum" in kind:
        return Term("r", dtype, term.bound * length), kind
    return Term("r", term.dtype, term.bound), kind


def _product(
    draw: Any,
    sizes: dict[str, int],
    largest: int,
    scalar: int,
    special: bool,
    an_input: Callable[[int, tuple[str, ...]], Input],
) -> Program:
    sizes |= {name: draw(SMALL_SIZES) for name in ("m", "n", "k")}
    inputs = [an_input(0, ("m", "k")), an_input(1, ("k", "n"))]
    inputs[1].dtype = inputs[0].dtype
    acc = Term("acc", torch.float32, largest * largest * sizes["k"])
    last = grow(draw, [acc], draw(st.integers(0, 3)), False)
    fitting = [dtype for dtype in FLOATS if LIMITS[dtype] >= last.bound]
    output = Input("out0", ("m", "n"), draw(st.sampled_from(fitting)))
    lines = [
        "for rows, cols in wl.tile([m, n]):",
        "    acc = wl.zeros([rows, cols], dtype=torch.float32)",
        "    for depth in wl.tile(k):",
        "        acc = wl.dot(x0[rows, depth], x1[depth, cols], acc)",
        f"    out0[rows, cols] = {last.text}.to(out0.dtype)",
    ]
    dims = ("rows", "cols", "depth")
    return Program(sizes, inputs, [output], lines, largest, scalar, special, loop_dims=dims)
