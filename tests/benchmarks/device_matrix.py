# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Nanoseconds of a matrix instruction on the software device, and seconds of a GEMM of 1024^3.

Each instruction runs in a loop of one wave, a launch that does little else, with its operands in
registers; the time is the shortest of several launches, as the device's own log has it. The GEMM is
Triton's code for gfx950. Both for each way of rounding, and on whatever host this is: a line says
how long a known amount of the host's own work takes, so that figures of two hosts can be compared.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from tests.benchmarks.figures import ROOT, judge, print_table

ROUNDINGS = ("fma", "hw")
# Instructions, operands and the goal with rounding=fma; the registers are initialised as one value.
INSTRUCTIONS = {
    "gfx950": {
        "v_mfma_f32_16x16x128_f8f6f4": ("v[64:67], v[0:7], v[8:15], v[64:67]", 800.0),
        "v_mfma_f32_32x32x64_f8f6f4": ("v[64:79], v[0:7], v[8:15], v[64:79]", None),
        "v_mfma_f32_32x32x16_bf16": ("v[64:79], v[0:3], v[4:7], v[64:79]", 310.0),
        "v_mfma_f32_16x16x32_bf16": ("v[64:67], v[0:3], v[4:7], v[64:67]", None),
        "v_mfma_f32_16x16x32_f16": ("v[64:67], v[0:3], v[4:7], v[64:67]", None),
        "v_mfma_scale_f32_16x16x128_f8f6f4": (
            "v[64:67], v[0:3], v[8:11], v[64:67], v20, v21 op_sel_hi:[0,0,0] cbsz:4 blgp:4",
            None,
        ),
    },
    "gfx942": {
        "v_mfma_f32_16x16x16_f16": ("v[64:67], v[0:1], v[2:3], v[64:67]", None),
        "v_mfma_f32_16x16x32_fp8_fp8": ("v[64:67], v[0:1], v[2:3], v[64:67]", None),
        "v_mfma_f32_16x16x4_f32": ("v[64:67], v0, v1, v[64:67]", None),
        "v_mfma_f64_16x16x4_f64": ("v[64:71], v[0:1], v[2:3], v[64:71]", None),
        "v_mfma_i32_16x16x32_i8": ("v[64:67], v[0:1], v[2:3], v[64:67]", None),
        "v_smfmac_f32_16x16x32_f16": ("v[64:67], v[0:1], v[2:5], v6", None),
    },
    "gfx1150": {"v_wmma_f32_16x16x16_f16": ("v[64:71], v[0:7], v[8:15], v[64:71]", None)},
}
# Seconds of the GEMM without checks, by rounding.
GOALS = {"fma": 0.1, "hw": 0.5}
SIZE = 1024
# The shortest of many short launches: other work on the machine disturbs some of them.
REPEATED, LOOPS, LAUNCHES = 50, 10, 40
CLANG = "/usr/lib/llvm-22/bin/clang"


def _kernel(instruction: str, wave: int) -> str:
    """A kernel that executes `instruction` REPEATED * LOOPS times."""
    junk = "\n".join(f"v_mov_b32 v{n}, 0x3c3c3c3c" for n in range(16))
    scales = "v_mov_b32 v20, 0x7f7f7f7f\nv_mov_b32 v21, 0x7f7f7f7f\n"
    zero = "\n".join(f"v_mov_b32 v{n}, 0" for n in range(64, 80))
    extra = ".amdhsa_accum_offset 128" if wave == 64 else ".amdhsa_wavefront_size32 1"
    size = f".wavefront_size: {wave}"
    return f"""
.text
.globl kernel
.p2align 8
.type kernel,@function
kernel:
{junk}
{scales}{zero}
s_movk_i32 s8, {LOOPS}
again:
{chr(10).join([instruction] * REPEATED)}
s_add_i32 s8, s8, -1
s_cmp_lg_u32 s8, 0
s_cbranch_scc1 again
s_endpgm
.rodata
.p2align 6
.amdhsa_kernel kernel
.amdhsa_next_free_vgpr 128
.amdhsa_next_free_sgpr 16
{extra}
.end_amdhsa_kernel
.amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.kernels:
  - .name: kernel
    .symbol: kernel.kd
    .kernarg_segment_size: 0
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .kernarg_segment_align: 4
    {size}
    .sgpr_count: 16
    .vgpr_count: 128
    .max_flat_workgroup_size: 64
...
.end_amdgpu_metadata
"""


def _assemble(source: str, target: str) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path, result = Path(folder) / "kernel.s", Path(folder) / "kernel.hsaco"
        path.write_text(source)
        options = ["-target", "amdgcn-amd-amdhsa", f"-mcpu={target}"]
        subprocess.run([CLANG, *options, str(path), "-o", str(result)], check=True)
        return result.read_bytes()


def instruction_times() -> dict[str, float]:
    """Nanoseconds of each instruction of the GPU that this process's device poses as."""
    from wavetile.device.library import Library

    target = os.environ["WAVETILE_DEVICE_TARGET"]
    library = Library()
    hip = ctypes.CDLL(str(library.path))
    times = {}
    for mnemonic, (operands, _) in INSTRUCTIONS[target].items():
        wave = 32 if target.startswith("gfx1") else 64
        code = _assemble(_kernel(f"{mnemonic} {operands}", wave), target)
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        if hip.hipModuleLoadData(ctypes.byref(module), code):
            raise RuntimeError(library.last_report())
        hip.hipModuleGetFunction(ctypes.byref(function), module, b"kernel")
        library.clear_launch_log()
        for _ in range(LAUNCHES):
            if hip.hipModuleLaunchKernel(function, 1, 1, 1, wave, 1, 1, 0, None, None, None):
                raise RuntimeError(library.last_report())
        seconds = min(launch["seconds"] for launch in library.launch_log())
        times[mnemonic] = seconds / (REPEATED * LOOPS) * 1e9
    return times


def gemm_times() -> dict[str, float]:
    """CPU seconds of Triton's GEMM by element type."""
    import torch
    from wavetile.device import triton as software

    from tests.python.clients.test_triton_matmul import matmul

    software.activate()
    times = {}
    for name, dtype in (("bf16", torch.bfloat16), ("fp8", torch.float8_e4m3fn)):
        generator = torch.Generator().manual_seed(1)
        a = torch.randn(SIZE, SIZE, generator=generator).to(dtype)
        b = torch.randn(SIZE, SIZE, generator=generator).to(dtype).T
        out = torch.empty(SIZE, SIZE)
        tile = {"BLOCK_M": 128, "BLOCK_N": 128, "BLOCK_K": 64 if name == "bf16" else 128}
        measured = []
        for _ in range(8):
            begin = time.process_time()
            matmul[(SIZE // 128, SIZE // 128)](
                *(a, b, out, SIZE, SIZE, SIZE, *a.stride(), *b.stride()),
                **tile,
                MASK_K=False,
                PRECISION="ieee",
                num_warps=4,
            )
            measured.append(time.process_time() - begin)
        times[name] = min(measured)
    return times


def _in_process(function: str, target: str, rounding: str) -> Any:
    program = (
        f"import json; from tests.benchmarks import device_matrix as benchmark\n"
        f"print(json.dumps(benchmark.{function}()))"
    )
    environment = {
        **os.environ,
        "WAVETILE_DEVICE_TARGET": target,
        "WAVETILE_DEVICE_ROUNDING": rounding,
    }
    process = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return json.loads(process.stdout.splitlines()[-1])


def host_milliseconds() -> float:
    """The shortest of several SHA-256 of 16 MB on one core of this host."""
    data = bytes(16 << 20)
    times = []
    for _ in range(10):
        begin = time.perf_counter()
        hashlib.sha256(data).digest()
        times.append(time.perf_counter() - begin)
    return min(times) * 1e3


def main() -> None:
    """Prints the figures."""
    print(f"\nhost: SHA-256 of 16 MB takes {host_milliseconds():.2f} ms")
    rows: list[tuple[object, ...]] = []
    for target, instructions in INSTRUCTIONS.items():
        times = {r: _in_process("instruction_times", target, r) for r in ROUNDINGS}
        for mnemonic, (_, goal) in instructions.items():
            fused, hardware = (times[r][mnemonic] for r in ROUNDINGS)
            verdict = "" if goal is None else f"{goal:.0f} {judge(fused, goal)}"
            rows.append((target, mnemonic, f"{fused:.0f}", verdict, f"{hardware:.0f}"))
    head = ("target", "instruction", "fma, ns", "goal", "hw, ns")
    print_table("One instruction of a wave", head, rows)
    rows = []
    for rounding in ROUNDINGS:
        for name, seconds in _in_process("gemm_times", "gfx950", rounding).items():
            goal = GOALS[rounding]
            rows.append((name, rounding, f"{seconds:.3f}", f"{goal} {judge(seconds, goal)}"))
    print_table(f"GEMM {SIZE}^3, Triton's for gfx950", ("type", "rounding", "s", "goal"), rows)
