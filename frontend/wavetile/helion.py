# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the decorator options and Configs of Helion mean here.

Its kernels keep them when their imports change. What has a meaning here gets it; what has none
is named by an `IgnoredOptionWarning`; what Helion does not have either is a `ConfigError`.
"""

from __future__ import annotations

import difflib
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from wavetile.errors import ConfigError, IgnoredOptionWarning, SourceLocation, WavetileWarning

_TUNER = "Configs are taken in their order and nothing is measured"
_SHOWN = "kernel.bind(...) gives .ir(), .isa() and .explain()"
_BACKEND = "there is one compiler, which the device chooses"

#: Options of Helion's decorator that change nothing here, with the reason; a name that ends in an
#: underscore stands for all that begin so.
_IGNORED_OPTIONS = {
    "allow_warp_specialize": "AMD GPUs do not specialise waves",
    "autotune_": _TUNER,
    "autotuner_fn": _TUNER,
    "backend": _BACKEND,
    "batched": _TUNER,
    "collect_fn": _TUNER,
    "debug_dtype_asserts": "dtypes are checked while a kernel is compiled",
    "disable_autotuner_heuristics": _TUNER,
    "distributed": "kernels run on one GPU",
    "dot_precision": 'products of f32 are sums in f32, as "ieee" says',
    "force_autotune": _TUNER,
    "ignore_warnings": "Python's filters say which warnings are shown",
    "index_dtype": "offsets are as wide as the tensors of a call need",
    "key": "the compiler knows what its code relies on",
    "measure_fn": _TUNER,
    "output_origin_lines": _SHOWN,
    "pallas_": _BACKEND,
    "persistent_reserved_sms": "blocks are not persistent",
    "print_output_code": _SHOWN,
    "print_repro": _SHOWN,
    "static_shapes": "sizes are arguments of the compiled code; wl.specialize makes one a constant",
    "torch_compile_fusion": "wavetile.torch_op makes a kernel an operator for torch.compile",
    "triton_do_not_specialize": _BACKEND,
}

#: Keys of Helion's Config that change nothing here, with the reason.
_IGNORED_KEYS = {
    "advanced_controls_file": "it is for another assembler",
    "atomic_indexing": "the compiler chooses the instructions of an access",
    "epilogue_subtile": "the compiler divides epilogues",
    "flatten_loops": "a loop over several dimensions has a grid of as many",
    "indexing": "the compiler chooses the instructions of an access",
    "l2_groupings": "blocks run in the order of the loop",
    "load_cache_modifiers": "the compiler chooses the instructions of an access",
    "load_eviction_policies": "the compiler chooses the instructions of an access",
    "loop_orders": "blocks run in the order of the loop",
    "maxnreg": "waves_per_simd=... bounds the registers",
    "num_sm_multiplier": "blocks are not persistent",
    "num_stages": "the compiler chooses how loops are pipelined",
    "num_threads": "waves=... says how many lanes work on a block",
    "pallas_load_buffer_count": _BACKEND,
    "pid_type": "blocks are not persistent",
    "range_flattens": "the compiler chooses how loops are unrolled",
    "range_multi_buffers": "the compiler chooses how loops are pipelined",
    "range_num_stages": "the compiler chooses how loops are pipelined",
    "range_unroll_factors": "the compiler chooses how loops are unrolled",
    "range_warp_specializes": "AMD GPUs do not specialise waves",
    "static_ranges": "wl.static_range unrolls a loop",
    "store_cache_modifiers": "the compiler chooses the instructions of an access",
    "xcd_remap": "blocks run in the order of the loop",
}

#: Keys of Helion's Config that are one of ours.
_RENAMED_KEYS = {
    "num_warps": "waves",
    "waves_per_eu": "waves_per_simd",
    "matrix_instr_nonkdim": "matrix",
}

#: Keys whose values stand in the order of the kernel's loops or rows.
POSITIONAL_KEYS = ("block_sizes", "reduction_loops")


def _reason(name: str) -> str | None:
    for key, reason in _IGNORED_OPTIONS.items():
        if name == key or (key.endswith("_") and name.startswith(key)):
            return reason
    return None


def _warn(what: str, reason: str, stacklevel: int) -> None:
    warning = IgnoredOptionWarning(f"{what} of Helion means nothing here: {reason}")
    warnings.warn(warning, stacklevel=stacklevel + 1)


def check_options(options: Mapping[str, Any], own: Sequence[str], stacklevel: int) -> None:
    """Warns of options of Helion's decorator, by name.

    Args:
        options: the options that are none of ours
        own: ours
        stacklevel: the caller that is warned, as for `warnings.warn`

    Raises:
        ConfigError: one that Helion does not have either
    """
    for name, value in options.items():
        reason = _reason(name)
        if reason is None:
            known = [*own, *(key for key in _IGNORED_OPTIONS if not key.endswith("_"))]
            close = difflib.get_close_matches(name, known, n=1)
            raise ConfigError(
                f"@wavetile.kernel has no option {name!r}",
                remedy=f"did you mean {close[0]!r}?"
                if close
                else f"its options are {', '.join(own)}",
            )
        _warn(f"the option {name}={value!r}", reason, stacklevel + 1)


def too_many_warps(warps: int, target: str, most: int, place: SourceLocation) -> WavetileWarning:
    """The warning that a kernel gets fewer waves than a Config of Helion's asks for."""
    return IgnoredOptionWarning(
        f"num_warps={warps} in a Config of Helion: a workgroup of {target} has at most {most}"
        " waves, which it gets",
        location=place,
        remedy=f"give waves={most} to choose it yourself",
    )


def split_keys(
    entries: Mapping[str, Any], stacklevel: int
) -> tuple[dict[str, int | str], dict[str, tuple[Any, ...]]]:
    """The entries of a Config by our names, and those that Helion gives by position.

    Warns of keys of Helion's that mean nothing here.
    """
    named: dict[str, int | str] = {}
    positional: dict[str, tuple[Any, ...]] = {}
    for key, value in entries.items():
        if key in _IGNORED_KEYS:
            _warn(f"{key}={value!r} in a Config", _IGNORED_KEYS[key], stacklevel + 1)
        elif key in POSITIONAL_KEYS and isinstance(value, Sequence) and not isinstance(value, str):
            positional[key] = tuple(value)
        elif key == "matrix_instr_nonkdim" and value == 0:
            continue  # Triton's "as the compiler likes"
        else:
            named[_RENAMED_KEYS.get(key, key)] = value
    return named, positional
