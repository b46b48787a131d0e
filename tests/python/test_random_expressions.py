# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Random expressions of floats over views of any shape and strides, against float64.

The bound of each element comes with its number: what an operation rounds away, and how much of the
errors of its operands it lets through.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import hypothesis
import torch
import wavetile
import wavetile.language as wl
from hypothesis import strategies as st

from .conftest import SEED_VARIABLE, TARGETS
from .end_to_end import defined, in_python, on

EXAMPLES = int(os.environ.get("WAVETILE_TEST_EXAMPLES", "15"))
DTYPES = (torch.float32, torch.float16, torch.bfloat16, torch.float64)
INDICES = "ijkl"
_numbers = itertools.count()


@dataclass
class Bounded:
    """Exact numbers, and how far those of a dtype may be from them."""

    value: torch.Tensor
    error: torch.Tensor
    dtype: torch.dtype


#: For operands what an operation gives, and what it makes of their errors.
Meaning = Callable[..., tuple[torch.Tensor, torch.Tensor]]


@dataclass(frozen=True)
class Operation:
    """A function in the text of a kernel.

    Attributes:
        text: with places for its operands
        meaning: from the operands' numbers and errors
        ulps: how many units in the last place a result may be from the exact one
    """

    text: str
    meaning: Meaning
    ulps: float = 2.0

    @property
    def operands(self) -> int:
        """How many it takes."""
        return self.text.count("{}")

    def of(self, *operands: Bounded) -> Bounded:
        """The exact result, and its bound."""
        dtype = operands[0].dtype
        for operand in operands[1:]:
            dtype = torch.promote_types(dtype, operand.dtype)
        value, error = self.meaning(*(part for o in operands for part in (o.value, o.error)))
        info = torch.finfo(dtype)
        rounding = self.ulps * (info.eps * (value.abs() + error) + info.smallest_normal * info.eps)
        return Bounded(value, error + rounding, dtype)


OPERATIONS = (
    Operation("({} + {})", lambda a, e, b, f: (a + b, e + f), 0.5),
    Operation("({} - {})", lambda a, e, b, f: (a - b, e + f), 0.5),
    Operation("({} * {})", lambda a, e, b, f: (a * b, a.abs() * f + b.abs() * e + e * f), 0.5),
    Operation("torch.maximum({}, {})", lambda a, e, b, f: (torch.maximum(a, b), e.maximum(f)), 0.0),
    Operation("torch.minimum({}, {})", lambda a, e, b, f: (torch.minimum(a, b), e.maximum(f)), 0.0),
    Operation("(-{})", lambda a, e: (-a, e), 0.0),
    Operation("torch.abs({})", lambda a, e: (a.abs(), e), 0.0),
    Operation("torch.clamp({}, -1.5, 2)", lambda a, e: (a.clamp(-1.5, 2), e), 0.0),
    Operation("torch.relu({})", lambda a, e: (a.relu(), e), 0.0),
    Operation("torch.tanh({})", lambda a, e: (a.tanh(), e)),
    Operation("torch.sigmoid({})", lambda a, e: (a.sigmoid(), e / 4)),
    Operation("torch.sin({})", lambda a, e: (a.sin(), e)),
    Operation("torch.cos({})", lambda a, e: (a.cos(), e)),
    Operation("torch.erf({})", lambda a, e: (a.erf(), 1.13 * e)),
    Operation(
        "torch.exp(torch.clamp({}, -9, 2))",
        lambda a, e: (a.clamp(-9, 2).exp(), a.clamp(-9, 2).exp() * e.expm1()),
    ),
    Operation("torch.sqrt(torch.abs({}))", lambda a, e: (a.abs().sqrt(), e.sqrt())),
    Operation("torch.log1p(torch.abs({}))", lambda a, e: (a.abs().log1p(), e)),
)


def evaluate(tree: Any, leaves: Sequence[Bounded]) -> Bounded:
    """An expression's numbers; a tree is the number of a leaf, or an operation and trees."""
    if isinstance(tree, int):
        return leaves[tree]
    operation, *operands = tree
    return operation.of(*(evaluate(operand, leaves) for operand in operands))


def text_of(tree: Any, leaves: Sequence[str]) -> str:
    """An expression in Python."""
    if isinstance(tree, int):
        return leaves[tree]
    operation, *operands = tree
    return operation.text.format(*(text_of(operand, leaves) for operand in operands))


@dataclass
class View:
    """How a tensor lies in memory: the order of its dimensions, steps, and which are repeated."""

    dtype: torch.dtype
    order: tuple[int, ...]
    step: int
    start: int
    repeated: tuple[bool, ...]

    def of(self, shape: Sequence[int], generator: torch.Generator) -> torch.Tensor:
        """Random numbers, between NaN."""
        sizes = [1 if again else n for n, again in zip(shape, self.repeated, strict=True)]
        numbers = (4 * torch.rand(sizes, generator=generator) - 2).to(self.dtype)
        held = numbers.permute(self.order)
        buffer = torch.full(
            [self.step * n + self.start + 1 for n in held.shape], torch.nan, dtype=self.dtype
        )
        places = [slice(self.start, self.start + self.step * n, self.step) for n in held.shape]
        view = buffer[tuple(places)]
        view.copy_(held)
        back = [self.order.index(axis) for axis in range(len(shape))]
        return view.permute(back).expand(shape)


@dataclass
class Expression:
    """A kernel that stores an expression of its arguments."""

    shape: list[int]
    views: list[View]
    tree: Any
    filename: str = field(default_factory=lambda: f"<random expression {next(_numbers)}>")

    @property
    def source(self) -> str:
        """The kernel's text."""
        names = [f"x{number}" for number in range(len(self.views))]
        index = ", ".join(INDICES[: len(self.shape)])
        sizes = ", ".join(f"out.size({axis})" for axis in range(len(self.shape)))
        bounds = f"[{sizes}]" if len(self.shape) > 1 else sizes
        parameters = ", ".join(f"{name}: torch.Tensor" for name in (*names, "out"))
        return "\n".join(
            [
                f"def expression({parameters}):",
                f"    for {index} in wl.tile({bounds}):",
                *(f"        v{name} = {name}[{index}]" for name in names),
                f"        out[{index}] = {text_of(self.tree, [f'v{name}' for name in names])}",
                "",
            ]
        )

    def function(self) -> Callable[..., Any]:
        """The undecorated function, whose source Python can find."""
        return defined("expression", self.source, self.filename, torch=torch, wl=wl)


def _trees(leaves: int) -> Any:
    def larger(smaller: Any) -> Any:
        return st.one_of(*(st.tuples(st.just(o), *[smaller] * o.operands) for o in OPERATIONS))

    return st.recursive(st.integers(0, leaves - 1), larger, max_leaves=6)


@st.composite
def expressions(draw: Any) -> Expression:
    """Of one to four dimensions, some of them empty or of size one."""
    rank = draw(st.integers(1, 4))
    most = {1: 300, 2: 70, 3: 17, 4: 9}[rank]
    sizes = st.one_of(st.integers(2, most), st.sampled_from([1, 1, most, 0]))
    shape = draw(st.lists(sizes, min_size=rank, max_size=rank))

    def view(repeats: bool) -> View:
        again = st.booleans() if repeats else st.just(False)
        return View(
            draw(st.sampled_from(DTYPES)),
            draw(st.permutations(range(rank)).map(tuple)),
            draw(st.sampled_from([1, 1, 2, 3])),
            draw(st.integers(0, 2)),
            draw(st.tuples(*[again] * rank)),
        )

    views = [view(draw(st.booleans())) for _ in range(draw(st.integers(1, 3)))]
    tree = draw(_trees(len(views)))
    hypothesis.assume(not isinstance(tree, int))
    return Expression(shape, views, tree)


@hypothesis.seed(int(os.environ.get(SEED_VARIABLE, "0")))
@hypothesis.settings(
    max_examples=EXAMPLES, database=None, suppress_health_check=list(hypothesis.HealthCheck)
)
@hypothesis.given(expression=expressions(), seed=st.integers(0, 2**31))
def test_random_expression(expression: Expression, seed: int) -> None:
    hypothesis.note(expression.source)
    generator = torch.Generator().manual_seed(seed)
    inputs = [view.of(expression.shape, generator) for view in expression.views]
    hypothesis.note(str([(x.dtype, x.shape, x.stride()) for x in inputs]))
    exact = evaluate(
        expression.tree,
        [Bounded(x.double(), torch.zeros(x.shape, dtype=torch.float64), x.dtype) for x in inputs],
    )
    kernel = wavetile.kernel(expression.function())
    runs = {target: on(kernel, target) for target in TARGETS} | {"eager": in_python(kernel)}
    for name, run in runs.items():
        out = torch.full(expression.shape, torch.nan, dtype=exact.dtype)
        run(*inputs, out)
        distance = (out.double() - exact.value).abs()
        assert bool((distance <= exact.error).all()), (
            f"{name}: {(distance / exact.error).max()} times the bound, where it is"
            f" {out[distance > exact.error]} and not {exact.value[distance > exact.error]}"
        )
