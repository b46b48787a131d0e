# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The launcher: how it reads values, when it compiles, what it refuses.

The plans here have no steps, so that nothing runs; what HIP is given is tested in
tests/unit/LauncherTest.cpp, and kernels that run in the tests of kernels.
"""

import enum
import fractions
import gc
import math
import sys
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch._subclasses import FakeTensorMode
from wavetile import _C, errors
from wavetile.devices import devices


def plan_without_steps(target: str) -> _C.LaunchPlan:
    name = target.encode()
    none = bytes(8)
    return _C.LaunchPlan.from_bytes(
        b"wavetile-plan-2\n" + len(name).to_bytes(8, "little") + name + none + none + none
    )


class Compiler:
    """Counts what it is asked for."""

    def __init__(self) -> None:
        self.calls: list[tuple[_C.Specialisation, tuple[int, ...]]] = []

    def __call__(
        self, specialisation: _C.Specialisation, integers: tuple[int, ...]
    ) -> _C.CompiledKernel:
        self.calls.append((specialisation, integers))
        return _C.CompiledKernel(plan_without_steps(specialisation.target), b"")


def launcher(
    *kinds: str, compile: Callable[..., Any] | None = None, names: Sequence[str] = "abcdefgh"
) -> _C.Launcher:
    return _C.Launcher(
        name="region",
        parameter_names=list(names[: len(kinds)]),
        parameter_kinds=list(kinds),
        compile=compile or Compiler(),
        devices=devices(),
        errors=errors,
    )


def facts(*values: object) -> list[Any]:
    """What is guarded about these values as parameters of a region."""
    return launcher(*["value"] * len(values)).specialise(*values).parameters


class TestValues:
    @pytest.mark.parametrize(
        ("value", "kind"),
        [
            (True, _C.IntegerSpecialisation),
            (3, _C.IntegerSpecialisation),
            (-(2**63), _C.IntegerSpecialisation),
            (np.int16(3), _C.IntegerSpecialisation),
            (enum.IntEnum("Mode", "A").A, _C.IntegerSpecialisation),
            (2.5, _C.FloatSpecialisation),
            (np.float64(2.5), _C.FloatSpecialisation),
            (np.float32(2.5), _C.FloatSpecialisation),
            (fractions.Fraction(1, 3), _C.FloatSpecialisation),
            (torch.zeros(2), _C.TensorSpecialisation),
            (torch.nn.Parameter(torch.zeros(2)), _C.TensorSpecialisation),
            (torch.zeros(()), _C.TensorSpecialisation),
            (None, _C.ConstantSpecialisation),
            ("mean", _C.ConstantSpecialisation),
            (torch.bfloat16, _C.ConstantSpecialisation),
            (math.exp, _C.ConstantSpecialisation),
            ((1, 2), _C.ConstantSpecialisation),
        ],
    )
    def test_kind_follows_the_value(self, value: object, kind: type) -> None:
        (parameter,) = facts(value)
        assert type(parameter) is kind
        assert parameter.name == "a"

    @pytest.mark.parametrize(
        ("kind", "value", "wanted"),
        [
            ("tensor", 3, "must be a tensor, not int"),
            ("tensor", None, "must be a tensor, not NoneType"),
            ("integer", 2.0, "must be an integer, not float"),
            ("integer", torch.tensor(3), "must be an integer, not Tensor"),
            ("float", "1", "must be a number, not str"),
            ("float", torch.tensor(1.0), "must be a number, not Tensor"),
            ("bool", 1, "must be a bool, not int"),
            ("value", [1], "is a list, neither a tensor nor a number"),
            ("value", np.zeros(3), "is a numpy.ndarray, neither a tensor nor a number"),
            ("constexpr", {}, "is a dict"),
            ("integer", 2**63, "9223372036854775808, which does not fit 64 bits"),
        ],
    )
    def test_wrong_kind_names_the_parameter(self, kind: str, value: object, wanted: str) -> None:
        with pytest.raises(errors.ArgumentError, match=f"region: parameter 'b' .*{wanted}"):
            launcher("value", kind)(1, value)

    def test_conversions(self) -> None:
        region = launcher("float", "integer", "bool")
        kinds = [type(parameter) for parameter in region.specialise(3, True, False).parameters]
        assert kinds == [
            _C.FloatSpecialisation,
            _C.IntegerSpecialisation,
            _C.IntegerSpecialisation,
        ]
        assert [entry.is_bool for entry in region.specialise(3, True, False).integers] == [
            False,
            True,
        ]
        assert region.integers(3, True, False) == (1, 0)

    def test_wrong_number(self) -> None:
        with pytest.raises(errors.ArgumentError, match="region: takes 2 values, not 1"):
            launcher("value", "value")(1)

    def test_keywords(self) -> None:
        with pytest.raises(TypeError, match="by position"):
            launcher("value")(a=1)

    def test_unknown_kind(self) -> None:
        with pytest.raises(ValueError, match="no kind of parameter is called 'number'"):
            launcher("number")


class TestTensors:
    @pytest.mark.parametrize(
        ("dtype", "name"),
        [
            (torch.float32, "f32"),
            (torch.float16, "f16"),
            (torch.bfloat16, "bf16"),
            (torch.float64, "f64"),
            (torch.int8, "i8"),
            (torch.int32, "i32"),
            (torch.int64, "i64"),
            (torch.uint8, "u8"),
            (torch.bool, "bool"),
            (torch.float8_e4m3fn, "f8e4m3fn"),
            (torch.float8_e4m3fnuz, "f8e4m3fnuz"),
            (torch.float8_e5m2, "f8e5m2"),
            (torch.float8_e5m2fnuz, "f8e5m2fnuz"),
            (torch.float8_e8m0fnu, "f8e8m0fnu"),
        ],
    )
    def test_dtypes(self, dtype: torch.dtype, name: str) -> None:
        assert facts(torch.empty(3, 5, dtype=dtype))[0].dtype == name

    @given(data=st.data())
    def test_integers_are_those_of_the_tensor(self, data: st.DataObject) -> None:
        shape = data.draw(st.lists(st.integers(0, 9), max_size=4))
        order = data.draw(st.permutations(range(len(shape))))
        x = torch.empty(shape).permute(order)
        y = torch.empty(3, 1).expand(3, 4)
        assert launcher("value", "integer", "tensor").integers(x, 48, y) == (
            *x.shape,
            *x.stride(),
            *y.shape,
            *y.stride(),
            48,
        )

    @given(data=st.data())
    def test_equal_integers_have_one_representative(self, data: st.DataObject) -> None:
        sizes = st.integers(0, 4)
        x = torch.empty(data.draw(sizes), data.draw(sizes))
        y = torch.empty(data.draw(sizes), data.draw(sizes)).t()
        number = data.draw(sizes)
        region = launcher("value", "value", "value")
        values = region.integers(x, y, number)
        entries = region.specialise(x, y, number).integers
        assert [entry.index for entry in entries] == list(range(9))
        for entry, value in zip(entries, values, strict=True):
            scalar, stride = entry.index == 8, "stride" in entry.name
            assert entry.constant == (
                value if not scalar and (value == 1 or (stride and value == 0)) else None
            )
            assert values[entry.representative] == value
            if entry.constant is None:
                earlier = [e for e in entries[: entry.index] if e.constant is None]
                assert entry.representative == next(
                    (e.index for e in earlier if values[e.index] == value), entry.index
                )
            assert value % entry.divisor == 0

    def test_names(self) -> None:
        region = launcher("value", "value", names=["x", "n"])
        assert [entry.name for entry in region.specialise(torch.zeros(2, 3), 5).integers] == [
            "x.size(0)",
            "x.size(1)",
            "x.stride(0)",
            "x.stride(1)",
            "n",
        ]

    def test_alignment_and_overlap_of_views(self) -> None:
        x = torch.zeros(64, dtype=torch.bfloat16)
        region = launcher("tensor", "tensor", "tensor")
        specialisation = region.specialise(x[:16], x[16:32], x[31:])
        assert [tensor.aligned for tensor in specialisation.parameters] == [True, True, False]
        pairs = [(0, 1), (0, 2), (1, 2)]
        assert [specialisation.may_overlap(*pair) for pair in pairs] == [False, False, True]
        with pytest.raises(IndexError):
            specialisation.may_overlap(0, 3)

    def test_views_that_are_computed_when_read(self) -> None:
        z = torch.randn(3, 4, dtype=torch.complex64)
        with pytest.raises(errors.ArgumentError, match="negated when read"):
            launcher("value")(z.conj().imag)
        with pytest.raises(errors.ArgumentError, match="conjugated when read"):
            launcher("value")(z.conj())
        launcher("value")(z.conj().imag.resolve_neg())

    def test_sparse(self) -> None:
        with pytest.raises(errors.ArgumentError, match="not an array in memory") as caught:
            launcher("value")(torch.eye(3).to_sparse())
        assert isinstance(caught.value.__cause__, RuntimeError)

    def test_tensors_without_memory_are_bound_but_not_run(self) -> None:
        x = torch.empty(3, 40, dtype=torch.bfloat16)
        region = launcher("value", "value")
        with FakeTensorMode():
            fake = torch.empty(3, 40, dtype=torch.bfloat16)
        for tensor in (torch.empty_like(x, device="meta"), fake):
            assert region.specialise(tensor, tensor) == region.specialise(x, torch.empty_like(x))
            assert region.integers(tensor, 5) == (3, 40, 40, 1, 5)
            with pytest.raises(errors.ArgumentError, match="without memory"):
                region(tensor, tensor)

    def test_more_types_than_are_remembered(self) -> None:
        kinds = [type(f"Tensor{number}", (torch.Tensor,), {}) for number in range(6)]
        region = launcher("value", "value")
        expected = region.specialise(torch.zeros(2), None).text
        for kind in kinds * 2:
            assert region.specialise(torch.zeros(2).as_subclass(kind), None).text == expected


class TestCompiling:
    def test_once_for_all_row_lengths_of_one_alignment(self) -> None:
        compiler = Compiler()
        region = launcher("tensor", "tensor", compile=compiler)
        for columns in (32, 1000, 4096, 32000):
            x = torch.empty(3, columns, dtype=torch.bfloat16)
            region(x, torch.empty_like(x))
        assert len(compiler.calls) == 1
        specialisation, integers = compiler.calls[0]
        assert integers == (3, 32, 32, 1, 3, 32, 32, 1)
        assert region.specialisations() == [specialisation]
        region(torch.empty(3, 33, dtype=torch.bfloat16), torch.empty(3, 33, dtype=torch.bfloat16))
        assert len(compiler.calls) == 2

    def test_values_of_numbers_do_not_matter(self) -> None:
        compiler = Compiler()
        region = launcher("value", "value", "value", compile=compiler)
        for values in ((17, 0.5, True), (9, math.nan, False)):
            region(*values)
        assert len(compiler.calls) == 1
        region(16, 0.5, True)  # divisible
        region(2**40 + 1, 0.5, True)  # 64 bits
        assert len(compiler.calls) == 3

    @pytest.mark.parametrize(
        "values",
        [
            [1, 1.0, True],
            [0.0, -0.0],
            [(1,), (1.0,), (True,), (1, 1)],
            [((0.0,),), ((-0.0,),)],
            [None, "None", torch.float32, torch.float16, len],
        ],
    )
    def test_constants_that_differ(self, values: list[object]) -> None:
        compiler = Compiler()
        region = launcher("constexpr", compile=compiler)
        for value in values * 2:
            region(value)
        seen = [specialisation.parameters[0].value for specialisation, _ in compiler.calls]
        assert [repr(value) for value in seen] == [repr(value) for value in values]

    def test_constants_that_are_equal(self) -> None:
        compiler = Compiler()
        region = launcher("constexpr", compile=compiler)
        for value in (10**30, 10**30 + 0, int("1" + "0" * 30)):
            region(value)
        for value in (float("nan"), math.nan):
            region(value)
        for value in ("ab", "".join("ab"), ("ab", (1,)), ("".join("ab"), (1,))):
            region(value)
        assert len(compiler.calls) == 4

    def test_mixed_kinds_of_one_parameter(self) -> None:
        compiler = Compiler()
        region = launcher("value", compile=compiler)
        for value in (None, torch.zeros(3), 3, None, torch.zeros(3), 3):
            region(value)
        assert len(compiler.calls) == 3

    def test_exceptions_pass_through(self) -> None:
        class MistakeError(Exception):
            pass

        mistake = MistakeError()

        def compile(*_: object) -> None:
            raise mistake

        with pytest.raises(MistakeError) as caught:
            launcher("value", compile=compile)(1)
        assert caught.value is mistake

    @pytest.mark.parametrize("result", [None, 3, [None], (3,)])
    def test_wrong_result(self, result: object) -> None:
        with pytest.raises(TypeError, match=r"compile\(\) must return a CompiledKernel"):
            launcher("value", compile=lambda *_: result)(1)

    def test_nothing_compiled(self) -> None:
        with pytest.raises(errors.LaunchError, match="nothing that was compiled serves"):
            launcher("value", compile=lambda *_: [])(1)

    def test_another_target(self) -> None:
        kernel = _C.CompiledKernel(plan_without_steps("gfx000"), b"")
        with pytest.raises(errors.LaunchError, match="code for gfx000 cannot serve"):
            launcher("value", compile=lambda *_: kernel)(1)

    def test_several_variants(self) -> None:
        kernels = [_C.CompiledKernel(plan_without_steps(devices().default().target), b"")] * 2
        region = launcher("value", compile=lambda *_: tuple(kernels))
        region(1)
        specialisation = region.specialise(1)
        assert region.variants(specialisation) == kernels
        region.add(specialisation, kernels[0])
        assert region.variants(specialisation) == [*kernels, kernels[0]]
        assert region.variants(region.specialise("other")) == []

    def test_added_variants_need_no_compiler(self) -> None:
        compiler = Compiler()
        region = launcher("value", compile=compiler)
        specialisation = region.specialise(torch.zeros(3))
        region.add(specialisation, compiler(specialisation, ()))
        region(torch.zeros(3))
        assert len(compiler.calls) == 1

    def test_run_takes_the_given_kernel(self) -> None:
        compiler = Compiler()
        region = launcher("value", compile=compiler)
        kernel = compiler(region.specialise(1), ())
        region.run(kernel, 1)
        assert region.specialisations() == []
        with pytest.raises(errors.ArgumentError, match="takes 1 values"):
            region.run(kernel)
        with pytest.raises(TypeError):
            region.run()

    def test_compiler_may_call_the_launcher(self) -> None:
        compiler = Compiler()

        def compile(specialisation: _C.Specialisation, integers: tuple[int, ...]) -> object:
            if integers == (3,):
                for other in range(100):  # other keys, while this one is being looked up
                    region(str(other))
            return compiler(specialisation, integers)

        region = launcher("value", compile=compile)
        region(3)
        assert len(compiler.calls) == 101
        region(5)
        assert len(compiler.calls) == 101


class TestObjects:
    def test_specialisations_compare_by_what_they_guard(self) -> None:
        region = launcher("tensor", "value")
        one, two = (region.specialise(torch.zeros(3, n), 5) for n in (8, 16))
        assert one == two
        assert hash(one) == hash(two)
        assert one != region.specialise(torch.zeros(3, 9), 5)
        assert one.text == two.text == str(one)

    def test_plan_bytes(self) -> None:
        plan = plan_without_steps("gfx942")
        assert plan.target == "gfx942"
        assert _C.LaunchPlan.from_bytes(plan.to_bytes()) == plan
        assert plan.kernel_names == []
        for damaged in (b"", plan.to_bytes()[:-1], plan.to_bytes() + b"\0"):
            with pytest.raises(ValueError, match="not a launch plan"):
                _C.LaunchPlan.from_bytes(damaged)

    def test_cycles_are_collected(self) -> None:
        class Owner:
            region: object

            def compile(self, *_: object) -> None: ...

        owner = Owner()
        owner.region = launcher("value", "constexpr", compile=owner.compile)
        owner.region.specialise(torch.zeros(2), owner)  # type: ignore[attr-defined]
        gone = weakref.ref(owner)
        del owner
        gc.collect()
        assert gone() is None

    def test_no_reference_is_lost(self) -> None:
        x, name = torch.zeros(3, 4), "a constant"
        region = launcher("value", "value", "value")

        def use() -> None:
            region(x, name, 2.5)
            for value in ([], torch.eye(2).to_sparse()):
                with pytest.raises(errors.ArgumentError):
                    region(x, name, value)

        use()
        before = sys.getrefcount(x), sys.getrefcount(name), sys.getrefcount(torch.Tensor)
        for _ in range(50):
            use()
        gc.collect()
        after = sys.getrefcount(x), sys.getrefcount(name), sys.getrefcount(torch.Tensor)
        assert all(abs(one - other) < 10 for one, other in zip(before, after, strict=True))

    def test_describes_itself(self) -> None:
        region = launcher("value", "value", names=["x", "out"])
        assert region.name == "region"
        assert region.parameter_names == ["x", "out"]
        assert repr(region) == "<wavetile launcher of region>"


class TestDevices:
    def test_every_device_has_a_reason(self) -> None:
        for device in devices().describe():
            assert device.reason
            assert device.kind in ("software", "hip")
            assert device.usable == bool(device.target)

    def test_unknown_choice(self) -> None:
        with pytest.raises(ValueError, match="'gpu'; it may be auto, software or hip"):
            _C.Devices("gpu")

    def test_no_software_device(self) -> None:
        region = _C.Launcher("region", ["x"], ["value"], Compiler(), _C.Devices("software"), errors)
        with pytest.raises(errors.DeviceNotFoundError, match="has no software device"):
            region(torch.zeros(3))
