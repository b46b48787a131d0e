# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The software device's speed on one core: wave instructions, matrix products, launches, loading.

`docs/software-device-speed.md` says what each figure is and has a record of them. A figure is the
smallest CPU time of several launches, each in a process whose settings say the host's instruction
set, the checks and the threads; two threads are compared by the clock on the wall. A line says how
long known work takes on this host, so that figures of two hosts can be compared.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import math
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.benchmarks.device_kernels import (
    LANE_OFF,
    MEMORY,
    MIXED,
    TARGET,
    WAVES,
    WORKGROUP,
    Loop,
    assemble,
    memory_loop,
    repeated,
)
from tests.benchmarks.figures import ROOT, judge, print_table

LOOPS = {
    "mixed": Loop(MIXED),
    "mixed, a lane off": Loop(MIXED, before=tuple(LANE_OFF)),
    "v_fma_f32": Loop(repeated("v_fma_f32 v10, v11, v12, v13")),
    "v_add_f32 dpp": Loop(repeated("v_add_f32 v10, v10, v10 row_shr:1 bound_ctrl:1")),
    "v_add_f32 neg": Loop(repeated("v_add_f32 v10, -v11, v12")),
    "v_cmp_lt_f32": Loop(repeated("v_cmp_lt_f32 vcc, v11, v12")),
    "v_cndmask_b32": Loop(repeated("v_cndmask_b32 v10, v11, v12, vcc")),
    "v_pk_fma_f32": Loop(repeated("v_pk_fma_f32 v[10:11], v[12:13], v[14:15], v[16:17]")),
    "s_add_u32": Loop(repeated("s_add_u32 s8, s4, s5")),
    "ds_read_b128": Loop(memory_loop("ds_read_b128 v[{n}:{last}], v2", "s_waitcnt lgkmcnt(0)")),
    "ds_write_b128": Loop(memory_loop("ds_write_b128 v2, v[{n}:{last}]", "s_waitcnt lgkmcnt(0)")),
    "global_load_dwordx4": Loop(
        memory_loop("global_load_dwordx4 v[{n}:{last}], v3, s[4:5]", "s_waitcnt vmcnt(0)")
    ),
    "global_load_dwordx4 scattered": Loop(
        memory_loop("global_load_dwordx4 v[{n}:{last}], v4, s[4:5]", "s_waitcnt vmcnt(0)")
    ),
    "global_store_dwordx4": Loop(
        memory_loop("global_store_dwordx4 v3, v[{n}:{last}], s[4:5]", "s_waitcnt vmcnt(0)")
    ),
}
# Millions of wave instructions a second, by loop, host instruction set and checks.
GOALS = {
    ("mixed", "avx512", "none"): 60.0,
    ("mixed", "avx512", "all"): 25.0,
    ("mixed", "avx2", "none"): 40.0,
    ("mixed", "avx2", "all"): 15.0,
    ("global_load_dwordx4 scattered", "avx512", "all"): 2.0,
    ("ds_read_b128", "avx512", "all"): 8.0,
}
# Of the mixed loop's speed, with one lane off throughout.
LANE_OFF_GOAL = 0.7
ISAS = ("avx512", "avx2", "plain")
# Seconds of a GEMM, by rounding and checks.
GEMM_GOALS = {("fma", "none"): 0.1, ("fma", "all"): 0.15, ("hw", "none"): 0.5, ("hw", "all"): 0.5}
ATTENTION_GOAL = 1.0
LOAD_GOAL, EMPTY_GOAL, THREADS_GOAL = 50.0, 5.0, 1.8
# Instructions of 8 bytes that make a code object of 100 KB.
LOADED_INSTRUCTIONS = 100 * 1024 // 8


class Device:
    """The software device of this process, and memory for the kernels."""

    def __init__(self) -> None:
        from wavetile.device.library import Library

        self.library = Library()
        self.hip = ctypes.CDLL(str(self.library.path))
        self.memory = ctypes.c_void_p()
        self.library.call("hipMalloc", ctypes.byref(self.memory), ctypes.c_size_t(MEMORY))
        self.library.call("hipMemset", self.memory, 0, ctypes.c_size_t(MEMORY))

    def load(self, code: bytes) -> ctypes.c_void_p:
        """The kernel of a code object."""
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        self.library.call("hipModuleLoadData", ctypes.byref(module), code)
        self.library.call("hipModuleGetFunction", ctypes.byref(function), module, b"kernel")
        return function

    def launcher(self, function: ctypes.c_void_p, groups: int = 1) -> Callable[[], None]:
        """Calling it launches the kernel."""
        arguments = (ctypes.c_void_p * 1)(ctypes.addressof(self.memory))
        launch = self.hip.hipModuleLaunchKernel

        def call() -> None:
            if launch(function, groups, 1, 1, WORKGROUP, 1, 1, 0, None, arguments, None):
                raise RuntimeError(self.library.last_report())

        return call


def shortest(call: Callable[[], None], times: int, clock: Callable[[], float]) -> float:
    """The smallest number of seconds that a call took."""
    found = math.inf
    for _ in range(times):
        begin = clock()
        call()
        found = min(found, clock() - begin)
    return found


# --- What is measured in a process of its own ---


def loop_speeds(names: list[str]) -> dict[str, float]:
    """Millions of wave instructions a second of these loops."""
    device = Device()
    speeds = {}
    for name in names:
        launch = device.launcher(device.load(LOOPS[name].assemble()))
        seconds = shortest(launch, 12, time.process_time)
        speeds[name] = LOOPS[name].instructions * WAVES / seconds / 1e6
    return speeds


def gemm_seconds() -> dict[str, float]:
    """Seconds of Triton's GEMM of 1024^3, by element type."""
    from tests.benchmarks.device_matrix import gemm_times

    return gemm_times()


def attention_seconds() -> float:
    """CPU seconds of Triton's attention forward in bf16, after the first call has compiled it."""
    import torch
    from wavetile.device import triton as software

    from tests.python.clients.test_triton_attention import LOG2_E, attention_forward

    software.activate()
    heads, length, width = 4, 512, 64
    generator = torch.Generator().manual_seed(1)
    q, k, v = (
        torch.randn(heads, length, width, generator=generator).to(torch.bfloat16) for _ in range(3)
    )
    out, log_sum = torch.empty_like(q), torch.empty(heads, length)

    def call() -> None:
        attention_forward[(length // 64, heads)](
            *(q, k, v, out, log_sum, LOG2_E / math.sqrt(width), length),
            HEAD=width,
            CAUSAL=False,
            BLOCK_M=64,
            BLOCK_N=64,
            num_warps=4,
        )

    call()
    return shortest(call, 3, time.process_time)


def load_milliseconds() -> float:
    """CPU milliseconds in which a code object of 100 KB is loaded."""
    device = Device()
    body = [line for line in MIXED if line.startswith(("v_fma", "ds_", "global_"))]
    code = assemble([*(body * (LOADED_INSTRUCTIONS // len(body))), "s_endpgm"])
    return shortest(lambda: device.load(code) and None, 10, time.process_time) * 1e3


def empty_microseconds() -> float:
    """CPU microseconds of a launch whose kernel does nothing, called from Python."""
    device = Device()
    launch = device.launcher(device.load(assemble(["s_endpgm"])))

    def hundred() -> None:
        for _ in range(100):
            launch()

    return shortest(hundred, 50, time.process_time) * 1e4


def thread_nanoseconds() -> dict[str, int]:
    """CPU time of each thread of this process so far."""
    tasks = Path("/proc/self/task")
    return {task.name: int((task / "schedstat").read_text().split()[0]) for task in tasks.iterdir()}


def launch_seconds(groups: int) -> tuple[float, float]:
    """Seconds of the mixed loop in so many workgroups: on the wall, and of its busiest thread."""
    device = Device()
    launch = device.launcher(device.load(Loop(MIXED, loops=400).assemble()), groups)
    wall = busiest = math.inf
    for _ in range(15):
        before, begin = thread_nanoseconds(), time.perf_counter()
        launch()
        wall = min(wall, time.perf_counter() - begin)
        after = thread_nanoseconds()
        busiest = min(busiest, max(n - before.get(t, 0) for t, n in after.items()) * 1e-9)
    return wall, busiest


# --- The tables ---


def in_process(function: str, *arguments: object, **settings: object) -> Any:
    """What a function of this module returns in a process with these WAVETILE_DEVICE settings."""
    program = (
        "import json, sys\nfrom tests.benchmarks import device\n"
        f"print(json.dumps(device.{function}(*json.loads(sys.argv[1]))))"
    )
    environment = {**os.environ, "WAVETILE_DEVICE_TARGET": TARGET}
    for name, value in {"threads": 1, **settings}.items():
        environment[f"WAVETILE_DEVICE_{name.upper()}"] = str(value)
    process = subprocess.run(
        [sys.executable, "-c", program, json.dumps(arguments)],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return json.loads(process.stdout.splitlines()[-1])


def judge_speed(value: float, goal: float | None) -> str:
    """Whether a speed reaches its goal, if it has one."""
    return "" if goal is None else f"{goal:g} {'met' if value >= goal else 'MISSED'}"


def calibration() -> str:
    """What known work takes on this host: hashing, which is scalar, and a product of matrices."""
    import torch

    torch.set_num_threads(1)
    data, matrix = bytes(16 << 20), torch.ones(512, 512)
    hashing = shortest(lambda: hashlib.sha256(data).digest() and None, 10, time.process_time)
    product = shortest(lambda: (matrix @ matrix) is None, 20, time.process_time)
    model = "an unknown processor"
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            model = line.split(":", 1)[1].strip()
            break
    return (
        f"{model}, {os.cpu_count()} cores; SHA-256 of 16 MB takes {hashing * 1e3:.2f} ms, "
        f"a product of matrices of 512x512 f32 {product * 1e3:.2f} ms"
    )


def available_isas() -> list[str]:
    """The host instruction sets that the device can be told to use here."""
    found = []
    for isa in ISAS:
        try:
            in_process("empty_microseconds", isa=isa)
        except subprocess.CalledProcessError:
            continue
        found.append(isa)
    return found


def print_loops(isas: list[str]) -> None:
    """Each loop under each host instruction set, without checks and with all."""
    rows: list[tuple[object, ...]] = []
    speeds = {
        (isa, checks): in_process("loop_speeds", list(LOOPS), isa=isa, checks=checks)
        for isa in isas
        for checks in ("none", "all")
    }
    for name in LOOPS:
        for isa in isas:
            cells: list[str] = []
            for checks in ("none", "all"):
                speed = speeds[isa, checks][name]
                goal = GOALS.get((name, isa, checks))
                if name == "mixed, a lane off":
                    goal = round(LANE_OFF_GOAL * speeds[isa, checks]["mixed"], 1)
                cells += [f"{speed:.1f}", judge_speed(speed, goal), f"{1e3 / speed:.1f}"]
            rows.append((name, isa, *cells))
    head = ("loop", "host", "M/s, off", "goal", "ns, off", "M/s, all", "goal", "ns, all")
    print_table("Wave instructions, one core, checks off and all on", head, rows)


def print_programs() -> None:
    """GEMM, attention, loading, empty launches."""
    rows: list[tuple[object, ...]] = []
    for (rounding, checks), goal in GEMM_GOALS.items():
        times = in_process("gemm_seconds", rounding=rounding, checks=checks)
        for name, seconds in times.items():
            what = f"GEMM 1024^3, {name}, rounding={rounding}"
            rows.append((what, checks, f"{seconds:.3f} s", f"{goal:g} {judge(seconds, goal)}"))
    seconds = in_process("attention_seconds", checks="all")
    goal = f"{ATTENTION_GOAL:g} {judge(seconds, ATTENTION_GOAL)}"
    rows.append(("attention forward (1, 4, 512, 64), bf16", "all", f"{seconds:.3f} s", goal))
    loading = in_process("load_milliseconds", checks="all")
    goal = f"{LOAD_GOAL:g} {judge(loading, LOAD_GOAL)}"
    rows.append(("loading a code object of 100 KB", "all", f"{loading:.1f} ms", goal))
    for checks in ("none", "all"):
        empty = in_process("empty_microseconds", checks=checks)
        goal = f"{EMPTY_GOAL:g} {judge(empty, EMPTY_GOAL)}"
        rows.append(("an empty launch", checks, f"{empty:.1f} us", goal))
    print_table("Programs, one core", ("what", "checks", "time", "goal"), rows)


def print_threads() -> None:
    """Two threads against one."""
    rows: list[tuple[object, ...]] = []
    # Races in global memory are looked for on one thread.
    for checks in ("none", "undefined,waits,barriers,lds-races"):
        one, two = (
            in_process("launch_seconds", 64, threads=threads, checks=checks) for threads in (1, 2)
        )
        wall, busiest = one[0] / two[0], one[1] / two[1]
        rows.append((checks, f"{wall:.2f}", f"{busiest:.2f}", judge_speed(busiest, THREADS_GOAL)))
    head = ("checks", "on the wall", "busiest thread", "goal")
    print_table("Two threads, times as fast as one", head, rows)


def main() -> None:
    """Prints the figures."""
    print(f"\nhost: {calibration()}")
    print_loops(available_isas())
    print_programs()
    print_threads()
