# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Mistakes in kernels: the class, the source line, the caret and the remedy of each message."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import pytest
import torch
import wavetile
import wavetile.language as wl
from wavetile import errors


def first_error(kernel: wavetile.Kernel, *args: Any) -> errors.WavetileError:
    with pytest.raises(errors.WavetileError) as caught:
        kernel.bind(*args)
    return caught.value


def matrix(rows: int = 8, columns: int = 24, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.zeros(rows, columns, dtype=dtype)


def underlined(error: errors.WavetileError) -> str:
    """What the carets of a message stand under."""
    lines = str(error).splitlines()
    position = next(i for i, line in enumerate(lines) if set(line.strip(" |")) == {"^"})
    begin, end = lines[position].index("^"), lines[position].rindex("^")
    return lines[position - 1][begin : end + 1]


# One kernel for each kind of mistake: its class, what is underlined, a word of the remedy.
CASES: list[tuple[type[errors.WavetileError], type[Exception], str, str, Any]] = []


def case(
    kind: type[errors.WavetileError], builtin: type[Exception], marked: str, remedy: str
) -> Callable[[Callable[..., None]], None]:
    def enter(function: Callable[..., None]) -> None:
        CASES.append((kind, builtin, marked, remedy, wavetile.kernel(function)))

    return enter


@case(errors.UnsupportedSyntaxError, NotImplementedError, "while True:", "wl.static_range")
def statement(x: torch.Tensor) -> None:
    for rows in wl.tile(x.size(0)):
        while True:
            x[rows, :] = x[rows, :]


@case(errors.UnsupportedFunctionError, NotImplementedError, "torch.erfinv(x[rows, :])", "torch.erf")
def function_near_a_known_one(x: torch.Tensor) -> None:
    for rows in wl.tile(x.size(0)):
        x[rows, :] = torch.erfinv(x[rows, :])


@case(errors.UnsupportedFunctionError, NotImplementedError, "x[rows, :].lgamma", "")
def method(x: torch.Tensor) -> None:
    for rows in wl.tile(x.size(0)):
        x[rows, :] = x[rows, :].lgamma()


@case(errors.UnsupportedIndexError, NotImplementedError, "x[rows, 4:0:-2]", "torch.flip")
def slice_with_a_negative_step(x: torch.Tensor) -> None:
    for rows in wl.tile(x.size(0)):
        x[rows, 0] = x[rows, 4:0:-2].sum(-1)


@case(errors.UnsupportedIndexError, NotImplementedError, "x[0, rows.begin :]", "wl.tile")
def slice_from_inside_the_loop(x: torch.Tensor) -> None:
    for rows in wl.tile(x.size(0)):
        x[rows, 0] = x[0, rows.begin :].sum(-1)


@case(errors.UnsupportedIndexError, NotImplementedError, "x[v]", "extra_mask")
def mask_as_index(x: torch.Tensor) -> None:
    for rows in wl.tile(x.size(0)):
        v = rows.index > 3
        x[rows, :] = x[v]


@case(errors.DTypeError, TypeError, "x[v]", "torch.int64")
def floats_as_index(x: torch.Tensor) -> None:
    for rows in wl.tile(x.size(0)):
        v = rows.index.to(torch.float32)
        x[rows, :] = x[v]


@case(errors.UndefinedNameError, NameError, "scael", "`scale`")
def misspelt_name(x: torch.Tensor, scale: float = 2.0) -> None:
    for rows in wl.tile(x.size(0)):
        x[rows, :] = x[rows, :] * scael + scale  # noqa: F821


@case(errors.UndefinedNameError, NameError, "last", "before the loop")
def name_of_an_inner_loop(x: torch.Tensor) -> None:
    for rows in wl.tile(x.size(0)):
        for cols in wl.tile(x.size(1)):
            last = x[rows, cols].sum(-1)
        x[rows, 0] = last


@case(errors.TileScopeError, NameError, "cols", "inside its loop")
def tile_outside_its_loop(x: torch.Tensor) -> None:
    for rows in wl.tile(x.size(0)):
        for cols in wl.tile(x.size(1)):
            x[rows, cols] = x[rows, cols] * 2
        x[rows, cols] = x[rows, cols] * 2


@case(errors.DeviceResultError, NameError, "total", "tensor")
def host_code_reads_a_tile(x: torch.Tensor) -> Any:
    for rows in wl.tile(x.size(0)):
        total = x[rows, :].sum(-1)
        x[rows, 0] = total
    return total


@case(errors.ShapeError, ValueError, "x[rows, :] * x[rows, :].sum(-1)", "None")
def broadcast(x: torch.Tensor) -> None:
    for rows in wl.tile(x.size(0)):
        x[rows, :] = x[rows, :] * x[rows, :].sum(-1)


@case(errors.ShapeError, ValueError, "x[rows, 0]", "reduce or index")
def store_of_another_shape(x: torch.Tensor) -> None:
    for rows in wl.tile(x.size(0)):
        x[rows, 0] = x[rows, :]


@case(errors.ShapeError, ValueError, "wl.dot(x[rows, :], x[rows, :])", "one loop")
def inner_dimensions(x: torch.Tensor) -> None:
    for rows in wl.tile(x.size(0)):
        x[rows, rows] = wl.dot(x[rows, :], x[rows, :])


@case(errors.ShapeError, ValueError, "torch.amax(x[rows, :], dim=2)", "")
def no_such_dimension(x: torch.Tensor) -> None:
    for rows in wl.tile(x.size(0)):
        x[rows, :] = torch.amax(x[rows, :], dim=2)


@case(errors.ShapeError, ValueError, "x[rows, 0, 0]", "")
def too_many_indices(x: torch.Tensor) -> None:
    for rows in wl.tile(x.size(0)):
        x[rows, 0] = x[rows, 0, 0]


@case(errors.DTypeError, TypeError, "x[rows, :] & x[rows, :]", "")
def bits_of_floats(x: torch.Tensor) -> None:
    for rows in wl.tile(x.size(0)):
        x[rows, :] = x[rows, :] & x[rows, :]


@case(errors.DTypeError, TypeError, "x[rows, :] > 0", "torch.where")
def truth_of_a_tile(x: torch.Tensor) -> None:
    for rows in wl.tile(x.size(0)):
        if x[rows, :] > 0:
            x[rows, :] = 0


@case(errors.ArgumentError, TypeError, "torch.exp(x[rows, :], 3)", "torch.exp(input)")
def argument_too_many(x: torch.Tensor) -> None:
    for rows in wl.tile(x.size(0)):
        x[rows, :] = torch.exp(x[rows, :], 3)


@case(errors.ArgumentError, TypeError, "wl.tile(x)", "size")
def loop_over_a_tensor(x: torch.Tensor) -> None:
    for rows in wl.tile(x):  # type: ignore[arg-type]
        x[rows, :] = 0


@case(errors.TensorAccessError, TypeError, "x * 2", "x[:, :]")
def operator_on_a_tensor(x: torch.Tensor) -> None:
    for rows in wl.tile(x.size(0)):
        x[rows, :] = x * 2


@case(errors.TensorAccessError, TypeError, "v[:, 0]", "torch.where")
def store_to_a_tile(x: torch.Tensor) -> None:
    for rows in wl.tile(x.size(0)):
        v = x[rows, :]
        v[:, 0] = 0


@case(errors.CarriedValueError, TypeError, "wl.tile(x.size(1))", "torch.float32")
def carried_dtype(x: torch.Tensor) -> None:
    for rows in wl.tile(x.size(0)):
        acc = wl.zeros([rows], dtype=torch.float64)
        acc = acc.to(torch.float32)
        for cols in wl.tile(x.size(1)):
            acc = acc + x[rows, cols].sum(-1).double()
        x[rows, 0] = acc


@case(errors.CarriedValueError, TypeError, "wl.tile(x.size(1))", "wl.zeros")
def carried_number(x: torch.Tensor) -> None:
    for rows in wl.tile(x.size(0)):
        acc = 0.0
        for cols in wl.tile(x.size(1)):
            acc = acc + x[rows, cols].sum(-1)
        x[rows, 0] = acc


@case(errors.NoLoopError, ValueError, "def no_loop(x: torch.Tensor) -> None:", "wl.tile")
def no_loop(x: torch.Tensor) -> None:
    x.zero_()


@case(errors.UnsupportedSyntaxError, NotImplementedError, "try:", "test the condition")
def handler(x: torch.Tensor) -> None:
    for rows in wl.tile(x.size(0)):
        try:
            x[rows, :] = 1
        except ValueError:
            x[rows, :] = 2


@case(errors.UnsupportedSyntaxError, NotImplementedError, "torch.no_grad()", "without decorators")
def decorated_function_in_the_loop(x: torch.Tensor) -> None:
    for rows in wl.tile(x.size(0)):

        @torch.no_grad()
        def twice(v: Any) -> Any:
            return v * 2

        # That it is not defined follows from the mistake above.
        x[rows, :] = twice(x[rows, :])


@case(errors.UnsupportedSyntaxError, NotImplementedError, 'raise ValueError("no")', "device_assert")
def exception(x: torch.Tensor) -> None:
    for _ in wl.tile(x.size(0)):
        raise ValueError("no")


@case(errors.UnsupportedSyntaxError, NotImplementedError, "match rows.begin:", "`elif`")
def match_statement(x: torch.Tensor) -> None:
    for rows in wl.tile(x.size(0)):
        match rows.begin:
            case 0:
                x[rows, :] = 1


@case(errors.UnsupportedSyntaxError, NotImplementedError, "x.grad", "tensor[index]")
def attribute(x: torch.Tensor) -> None:
    for rows in wl.tile(x.size(0)):
        x.grad = x[rows, :]


@case(errors.UnsupportedSyntaxError, NotImplementedError, "x[0, 0] = 1", "after the loop")
def else_of_a_top_level_loop(x: torch.Tensor) -> None:
    for rows in wl.tile(x.size(0)):
        x[rows, :] = 1
    else:
        x[0, 0] = 1


@case(errors.UnsupportedSyntaxError, NotImplementedError, "*rest", "each value")
def starred_name(x: torch.Tensor) -> None:
    for rows in wl.tile(x.size(0)):
        first, *rest = x[rows, 0], x[rows, 1], x[rows, 2]
        x[rows, 0] = first + rest[0]


@case(errors.ArgumentError, TypeError, "a, b", "name for each value")
def too_few_names(x: torch.Tensor) -> None:
    for rows in wl.tile(x.size(0)):
        a, b = x[rows, 0], x[rows, 1], x[rows, 2]
        x[rows, 0] = a + b


@case(errors.UnsupportedFunctionError, NotImplementedError, "torch.fft.fft(x[rows, :])", "host")
def function_of_a_private_module(x: torch.Tensor) -> None:
    for rows in wl.tile(x.size(0)):
        x[rows, :] = torch.fft.fft(x[rows, :])


@case(errors.UnsupportedFunctionError, NotImplementedError, "torch.tensor([1.0])", "wl.full")
def tensor_of_numbers(x: torch.Tensor) -> None:
    for rows in wl.tile(x.size(0)):
        x[rows, :] = torch.tensor([1.0])


@case(errors.UnsupportedFunctionError, NotImplementedError, "x[rows, 0].item", "as a number")
def number_of_a_tile(x: torch.Tensor) -> None:
    for rows in wl.tile(x.size(0)):
        x[rows, :] = x[rows, 0].item()


@case(errors.UndefinedNameError, NameError, "torch.sofmax", "`torch.softmax`")
def misspelt_function_of_torch(x: torch.Tensor) -> None:
    for rows in wl.tile(x.size(0)):
        x[rows, :] = torch.sofmax(x[rows, :], -1)  # type: ignore[attr-defined]


@case(errors.UndefinedNameError, NameError, "wl.zeroes", "`wl.zeros`")
def misspelt_function_of_the_language(x: torch.Tensor) -> None:
    for rows in wl.tile(x.size(0)):
        x[rows, :] = wl.zeroes([rows, 24])  # type: ignore[attr-defined]


@case(errors.UndefinedNameError, NameError, "np", "top of the file")
def imported_by_the_kernel(x: torch.Tensor) -> None:
    import numpy as np

    for rows in wl.tile(x.size(0)):
        x[rows, :] = x[rows, :] * np.pi


@case(errors.TileScopeError, NameError, "rows", "inside its loop")
def tile_of_another_top_level_loop(x: torch.Tensor) -> None:
    for rows in wl.tile(x.size(0)):
        x[rows, 0] = 1
    for cols in wl.tile(x.size(1)):
        x[rows, cols] = 2


@case(errors.UndefinedNameError, NameError, "total", "store it to a tensor there")
def value_of_another_top_level_loop(x: torch.Tensor) -> None:
    for rows in wl.tile(x.size(0)):
        total = x[rows, :].sum(-1)
        x[rows, 0] = total
    for rows in wl.tile(x.size(0)):
        x[rows, 1] = total


@case(errors.ShapeError, ValueError, "x[rows, :] + x[rows, 0:5]", "None")
def sizes_that_differ(x: torch.Tensor) -> None:
    for rows in wl.tile(x.size(0)):
        x[rows, :] = x[rows, :] + x[rows, 0:5]


@case(errors.ShapeError, ValueError, "torch.cat([x[rows, :], x[rows, 0]], 1)", "v[:, None]")
def ranks_of_parts(x: torch.Tensor) -> None:
    for rows in wl.tile(x.size(0)):
        x[rows, :] = torch.cat([x[rows, :], x[rows, 0]], 1)


@case(errors.CarriedValueError, TypeError, "count", "wl.atomic_add")
def counted_by_blocks(x: torch.Tensor) -> None:
    count = 0
    for rows in wl.tile(x.size(0)):
        count += 2
        x[rows, :] = count


@case(errors.DeviceResultError, NameError, "largest", "tensor")
def host_code_reads_what_blocks_assign(x: torch.Tensor) -> Any:
    largest = 0.0
    for rows in wl.tile(x.size(0)):
        largest = x[rows, :].amax()
        x[rows, 0] = largest
    return largest


@case(errors.DTypeError, TypeError, "0 < x[rows, :] < 1", "torch.where")
def comparisons_in_a_chain(x: torch.Tensor) -> None:
    for rows in wl.tile(x.size(0)):
        x[rows, :] = torch.where(0 < x[rows, :] < 1, 0.0, 1.0)


@case(errors.UnsupportedIndexError, NotImplementedError, "x[rows, [1, 2]]", "one by one")
def list_as_index(x: torch.Tensor) -> None:
    for rows in wl.tile(x.size(0)):
        x[rows, 0] = x[rows, [1, 2]].sum(-1)


@case(errors.UnsupportedFunctionError, NotImplementedError, "x[rows, :].add_", "v = v.add(...)")
def method_that_changes_a_tile(x: torch.Tensor) -> None:
    for rows in wl.tile(x.size(0)):
        x[rows, :].add_(1)


@case(errors.UnsupportedFunctionError, NotImplementedError, "parts.append", "torch.empty")
def list_of_results(x: torch.Tensor) -> Any:
    parts: list[torch.Tensor] = []
    for rows in wl.tile(x.size(0)):
        parts.append(x[rows, :])
    return parts


@case(errors.ArgumentError, TypeError, "len(rows)", "rows.block_size")
def length_of_a_tile(x: torch.Tensor) -> None:
    for rows in wl.tile(x.size(0)):
        x[rows, :] = len(rows)  # type: ignore[arg-type]


@case(errors.DTypeError, TypeError, "rows", "rows.begin > 0")
def truth_of_an_index(x: torch.Tensor) -> None:
    for rows in wl.tile(x.size(0)):
        if rows:
            x[rows, :] = 0


@pytest.mark.parametrize(
    ("kind", "builtin", "marked", "remedy", "kernel"),
    [pytest.param(*row, id=row[-1].__name__) for row in CASES],
)
def test_message(
    kind: type[errors.WavetileError],
    builtin: type[Exception],
    marked: str,
    remedy: str,
    kernel: wavetile.Kernel,
) -> None:
    error = first_error(kernel, matrix())
    assert type(error) is kind
    assert isinstance(error, builtin)
    assert error.others == []
    assert underlined(error) == marked
    assert error.location is not None
    assert str(error).startswith(f"{__file__}:{error.location.line}: ")
    if remedy:
        assert remedy in str(error).split("help: ")[1]
    else:
        assert error.message


@wavetile.kernel
def several(x: torch.Tensor) -> None:
    for rows in wl.tile(x.size(0)):
        a = torch.erfinv(x[rows, :])
        b = a + 1
        c = undefined  # type: ignore[name-defined]  # noqa: F821
        x[rows, :] = b + c
        x[rows, 0] = x[rows, :]


def test_sizes_that_differ_are_told() -> None:
    (kernel,) = (row[-1] for row in CASES if row[-1].__name__ == "sizes_that_differ")
    text = first_error(kernel, matrix()).message
    assert "which is 24 and 5 in this call" in text


def test_mistakes_in_lambdas_and_the_functions_that_they_call() -> None:
    def applied(x: torch.Tensor, function: Any) -> None:
        for rows in wl.tile(x.size(0)):
            x[rows, :] = function(x[rows, :])

    kernel = wavetile.kernel(applied)
    error = first_error(kernel, matrix(), lambda v: torch.erfinv(v) + 1)
    assert type(error) is errors.UnsupportedFunctionError
    assert underlined(error) == "torch.erfinv(v)"
    assert error.location is not None
    assert error.location.caller is not None
    error = first_error(kernel, matrix(), lambda v: helper(v))
    assert underlined(error) == "torch.erfinv(v)"
    assert str(error).count("called from") == 2


@wavetile.kernel
def annotated(
    x: Annotated[torch.Tensor, torch.float32, 2], n: int = 3, by: torch.Tensor | None = None
) -> None:
    for rows in wl.tile(x.size(0)):
        x[rows, :] = x[rows, :] * n


@pytest.mark.parametrize(
    ("argument", "what"),
    [
        (torch.zeros(8), "`x` of given has 1 dimension, not 2"),
        (torch.zeros(8, 3, dtype=torch.float16), "`x` of given has dtype torch.float16, not"),
        (2.5, "`x` of given is a float, not a tensor"),
    ],
)
def test_an_argument_against_its_annotation(argument: Any, what: str) -> None:
    def given(x: Annotated[torch.Tensor, torch.float32, 2], out: torch.Tensor) -> None:
        for rows in wl.tile(out.size(0)):
            out[rows] = x[rows, 0] if isinstance(x, torch.Tensor) else 0

    error = first_error(wavetile.kernel(given), argument, torch.zeros(8))
    assert type(error) is errors.ArgumentError
    assert what in error.message
    assert underlined(error) == "x: Annotated[torch.Tensor, torch.float32, 2]"


def test_several_arguments_against_their_annotations() -> None:
    error = first_error(annotated, matrix(dtype=torch.float16)[None], 2.5)
    assert [type(each) for each in (error, *error.others)] == [errors.ArgumentError] * 3
    assert "`n` of annotated is a float, not an int" in error.others[1].message


def test_arguments_that_fit_their_annotations() -> None:
    annotated.bind(matrix(), True)
    annotated.bind(matrix(), 4, torch.zeros(3))


def test_none_says_what_it_has_not() -> None:
    def sized(x: torch.Tensor, y: torch.Tensor) -> None:
        for rows in wl.tile(x.size(0)):
            x[rows, :] = y.size(0)

    error = first_error(wavetile.kernel(sized), matrix(), None)
    assert "`y`, the constant None, has no `size`" in error.message
    assert error.remedy == "test it before, such as `if y is not None:`"


def test_independent_mistakes_are_reported_together() -> None:
    error = first_error(several, matrix())
    kinds = [type(each) for each in (error, *error.others)]
    assert kinds == [
        errors.UnsupportedFunctionError,
        errors.UndefinedNameError,
        errors.ShapeError,
    ]
    assert str(error).count("help:") == 3


def helper(v: torch.Tensor) -> torch.Tensor:
    return torch.erfinv(v)


@wavetile.kernel
def calls_helper(x: torch.Tensor) -> None:
    for rows in wl.tile(x.size(0)):
        x[rows, :] = helper(x[rows, :])


def test_mistake_in_a_helper_names_both_places() -> None:
    error = first_error(calls_helper, matrix())
    assert underlined(error) == "torch.erfinv(v)"
    assert error.location is not None
    assert error.location.caller is not None
    caller = error.location.caller
    assert f"called from {__file__}:{caller.line}" in str(error)
    assert caller.line > error.location.line


def test_what_the_compiler_refuses_in_a_helper() -> None:
    def dots(x: torch.Tensor, out: torch.Tensor) -> None:
        for rows, cols in wl.tile(out.size()):
            out[rows, cols] = product(x[rows, :], x[:, cols])

    x = torch.zeros(64, 64, device="meta")
    config = {"rows": 2, "cols": 2, "waves": 4}
    with pytest.raises(
        errors.CompilationError, match="no matrix instruction of gfx950 tiles M 2"
    ) as caught:
        wavetile.kernel(dots).bind(x, x.clone(), config=config, target="gfx950")
    error = caught.value
    assert error.remedy is not None
    assert error.remedy.startswith("give the Config larger blocks")
    assert "help" not in error.message
    assert error.location is not None
    assert error.location.caller is not None
    assert "product(x[rows, :], x[:, cols])" in error.location.caller.excerpt()
    config = {"rows": 1024, "cols": 1024, "waves": 4}
    with pytest.raises(errors.CompilationError, match="does not fit in registers") as caught:
        wavetile.kernel(dots).bind(x, x.clone(), config=config, target="gfx950")
    assert caught.value.remedy == "give the Config smaller blocks, or more waves"


def product(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return wl.dot(a, b)


def recursive(v: torch.Tensor) -> torch.Tensor:
    return recursive(v)


@wavetile.kernel
def calls_recursive(x: torch.Tensor) -> None:
    for rows in wl.tile(x.size(0)):
        x[rows, :] = recursive(x[rows, :])


def test_recursion() -> None:
    error = first_error(calls_recursive, matrix())
    assert type(error) is errors.UnsupportedSyntaxError
    assert "calls itself" in error.message


@wavetile.kernel
def fills(x: torch.Tensor) -> None:
    for rows in wl.tile(x.size(0)):
        x[rows, :] = 1


def test_store_to_an_expanded_tensor() -> None:
    error = first_error(fills, torch.zeros(1, 24).expand(8, 24))
    assert type(error) is errors.TensorAccessError
    assert "expanded" in error.message


def test_unsupported_dtype() -> None:
    error = first_error(fills, torch.zeros(8, 24, dtype=torch.complex64))
    assert isinstance(error, TypeError)
    assert ("x" in error.message and "c64" in error.message) or "complex" in error.message


@pytest.mark.parametrize("name", ["tile", "zeros", "full", "arange", "dot", "static_range"])
def test_device_functions_outside_a_kernel(name: str) -> None:
    with pytest.raises(errors.OutsideKernelError, match=rf"wl\.{name} was called outside"):
        getattr(wl, name)(1, 2)


def test_source_that_cannot_be_read() -> None:
    program = (
        "import torch, wavetile, wavetile.language as wl\n"
        "def k(x):\n  for r in wl.tile(x.size(0)):\n    x[r] = 1\n"
        "try:\n  wavetile.kernel(k).bind(torch.zeros(4))\n"
        "except wavetile.errors.SourceUnavailableError as error:\n  print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert "define it in a file" in done.stdout


def test_a_helper_without_a_source_is_named_where_it_is_called() -> None:
    names: dict[str, Any] = {}
    exec("def doubled(v):\n    return v * 2\n", names)
    doubled = names["doubled"]

    def calls(x: torch.Tensor) -> None:
        for rows in wl.tile(x.size(0)):
            x[rows, :] = doubled(x[rows, :])

    error = first_error(wavetile.kernel(calls), matrix())
    assert type(error) is errors.SourceUnavailableError
    assert underlined(error) == "doubled(x[rows, :])"
    assert "define it in a file" in str(error)


class TestConfig:
    def test_unknown_key(self) -> None:
        with pytest.raises(errors.ConfigError, match="colour"):
            wavetile.Config({"rows.colour": 3})

    def test_dimension_that_the_kernel_does_not_have(self) -> None:
        with pytest.raises(errors.ConfigError, match="its dimensions are rows, x_dim1"):
            fills.bind(matrix(), config={"columns": 4})

    def test_several_configs(self) -> None:
        with pytest.raises(errors.ConfigError, match="both config and configs"):
            wavetile.kernel(config={"waves": 2}, configs=[wavetile.Config(waves=2)])

    def test_wrong_stage(self) -> None:
        with pytest.raises(errors.ConfigError, match="stages are tile, bound, final, llvm"):
            fills.bind(matrix()).ir("ptx")

    def test_dump_of_a_wrong_stage(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("WAVETILE_DUMP", "tile,ptx")
        with pytest.raises(errors.ConfigError, match="no stage 'ptx'"):
            fills.bind(matrix())


def test_every_class_has_base_and_builtin() -> None:
    for name, kind in vars(errors).items():
        if isinstance(kind, type) and issubclass(kind, Exception):
            base = errors.WavetileWarning if issubclass(kind, Warning) else errors.WavetileError
            assert issubclass(kind, base), name
            assert kind.__doc__, name
            builtins = [base for base in kind.__mro__ if base.__module__ == "builtins"]
            assert kind is errors.WavetileError or builtins[0] is not Exception, name


@wavetile.kernel
def mistakes_in_functions_of_host_code(x: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    for rows in wl.tile(x.size(0)):
        out[rows, :] = x[rows, :]
    first = lambda v: torch.erfinv(v)  # noqa: E731

    def second(v: Any) -> Any:
        return torch.lgamma(v)

    for rows in wl.tile(x.size(0)):
        x[rows, :] = first(x[rows, :])
        out[rows, :] = second(x[rows, :])
    return out


def test_functions_of_host_code_are_located_in_the_file() -> None:
    with pytest.raises(errors.UnsupportedFunctionError) as caught:
        mistakes_in_functions_of_host_code(torch.ones(3, 4))
    found = [caught.value, *caught.value.others]
    assert [underlined(error) for error in found] == ["torch.erfinv(v)", "torch.lgamma(v)"]
    lines = Path(__file__).read_text().splitlines()
    for error, text in zip(found, ("first = lambda", "return torch.lgamma"), strict=True):
        assert error.location is not None
        assert error.location.file == __file__
        assert text in lines[error.location.line - 1]
