# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Kernels in FlyDSL's language, written for the tests.

Each function builds a launcher for one specialisation. `from __future__ import annotations` would
hide the types of the arguments from FlyDSL.
"""

from collections.abc import Callable

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl._mlir import ir
from flydsl._mlir.dialects import llvm
from flydsl.expr import arith, const_expr, gpu, math, range_constexpr
from flydsl.expr.typing import ReductionOp

THREADS = 256
LOG2_E = 1.4426950408889634
DEFAULT_STREAM = fx.Stream(None)


def softmax(columns: int, wave: int) -> Callable[..., None]:
    """The softmax of each row of a bf16 matrix; a wave has a row, and LDS is not needed."""
    steps = -(-columns // wave)
    rows_of_block = THREADS // wave

    @flyc.kernel
    def softmax_rows(x: fx.Tensor, out: fx.Tensor, rows: fx.Int32):
        lane = fx.thread_idx.x % wave
        row = fx.block_idx.x * rows_of_block + fx.thread_idx.x // wave
        exists = row < rows
        safe_row = exists.select(row, 0)
        x_row = fx.slice(fx.rocdl.make_buffer_tensor(x), (safe_row, None))
        out_row = fx.slice(fx.rocdl.make_buffer_tensor(out), (safe_row, None))
        x_elements = fx.logical_divide(x_row, fx.make_layout(1, 1))
        out_elements = fx.logical_divide(out_row, fx.make_layout(1, 1))
        move = fx.make_copy_atom(fx.rocdl.BufferCopy16b(), 16)

        values = []
        peak = fx.Float32(float("-inf"))
        for step in range_constexpr(steps):
            column = lane + step * wave
            inside = column < columns
            element = fx.make_rmem_tensor(1, fx.BFloat16)
            fx.copy(move, fx.slice(x_elements, (None, inside.select(column, 0))), element)
            value = fx.memref_load_vec(element)[0].to(fx.Float32)
            value = inside.select(value, fx.Float32(float("-inf")))
            values.append(value)
            peak = fx.max(peak, value)
        distance = wave // 2
        while const_expr(distance > 0):
            peak = fx.max(peak, peak.shuffle_xor(distance, wave))
            distance //= 2
        total = fx.Float32(0.0)
        for step in range_constexpr(steps):
            values[step] = ((values[step] - peak) * LOG2_E).exp2(fastmath=arith.FastMathFlags.fast)
            total = total + values[step]
        distance = wave // 2
        while const_expr(distance > 0):
            total = total + total.shuffle_xor(distance, wave)
            distance //= 2
        for step in range_constexpr(steps):
            column = lane + step * wave
            if exists & (column < columns):
                element = fx.make_rmem_tensor(1, fx.BFloat16)
                element[0] = (values[step] / total).to(fx.BFloat16)
                fx.copy(move, element, fx.slice(out_elements, (None, column)))

    @flyc.jit
    def launch(x: fx.Tensor, out: fx.Tensor, rows: fx.Int32, stream: fx.Stream = DEFAULT_STREAM):
        blocks = (rows + rows_of_block - 1) // rows_of_block
        softmax_rows(x, out, rows).launch(grid=(blocks, 1, 1), block=(THREADS, 1, 1), stream=stream)

    return launch


def rms_norm(columns: int, wave: int, epsilon: float) -> Callable[..., None]:
    """Each row of a bf16 matrix over its root mean square, times a weight; a workgroup has a row.

    Rows are multiples of 8 elements, moved by 16 bytes. The waves join their sums through LDS.
    """
    vectors = columns // 8
    steps = -(-vectors // THREADS)
    waves = THREADS // wave

    @fx.struct
    class Shared:
        sums: fx.Array[fx.Float32, waves, 16]

    @flyc.kernel
    def rms_norm_rows(x: fx.Tensor, weight: fx.Tensor, out: fx.Tensor):
        thread = fx.thread_idx.x
        shared = fx.SharedAllocator().allocate(Shared).peek()
        sums = shared.sums.view(fx.make_layout(waves, 1))
        by_eight = fx.make_layout(8, 1)
        x_row = fx.slice(fx.rocdl.make_buffer_tensor(x), (fx.block_idx.x, None))
        out_row = fx.slice(fx.rocdl.make_buffer_tensor(out), (fx.block_idx.x, None))
        x_vectors = fx.logical_divide(x_row, by_eight)
        out_vectors = fx.logical_divide(out_row, by_eight)
        weight_vectors = fx.logical_divide(fx.rocdl.make_buffer_tensor(weight), by_eight)
        move = fx.make_copy_atom(fx.rocdl.BufferCopy128b(), 16)

        values = []
        total = fx.Float32(0.0)
        for step in range_constexpr(steps):
            index = thread + step * THREADS
            inside = index < vectors
            vector = fx.make_rmem_tensor(8, fx.BFloat16)
            fx.copy(move, fx.slice(x_vectors, (None, inside.select(index, 0))), vector)
            value = fx.memref_load_vec(vector).to(fx.Float32)
            values.append(value)
            square = (value * value).reduce(ReductionOp.ADD)
            total = total + inside.select(square, fx.Float32(0.0))
        distance = wave // 2
        while const_expr(distance > 0):
            total = total + total.shuffle_xor(distance, wave)
            distance //= 2
        if thread % wave == 0:
            fx.memref_store(total, sums, thread // wave)
        gpu.barrier()
        total = fx.Float32(0.0)
        for other in range_constexpr(waves):
            total = total + fx.memref_load(sums, other)
        scale = math.rsqrt(total / float(columns) + epsilon, fastmath=arith.FastMathFlags.fast)
        for step in range_constexpr(steps):
            index = thread + step * THREADS
            if index < vectors:
                vector = fx.make_rmem_tensor(8, fx.BFloat16)
                fx.copy(move, fx.slice(weight_vectors, (None, index)), vector)
                result = values[step] * scale * fx.memref_load_vec(vector).to(fx.Float32)
                fx.memref_store_vec(result.to(fx.BFloat16), vector)
                fx.copy(move, vector, fx.slice(out_vectors, (None, index)))

    @flyc.jit
    def launch(
        x: fx.Tensor,
        weight: fx.Tensor,
        out: fx.Tensor,
        rows: fx.Int32,
        stream: fx.Stream = DEFAULT_STREAM,
    ):
        rms_norm_rows(x, weight, out).launch(
            grid=(rows, 1, 1), block=(THREADS, 1, 1), stream=stream
        )

    return launch


def gemm(M: int, N: int, K: int, wide: bool) -> Callable[..., None]:
    """out[M, N] = a[M, K] @ b[N, K]^T, bf16 to f32, all flat; K is a multiple of 64.

    A workgroup of four waves has a tile of 64 x 64, a wave 32 x 32 of it. Tiles of a and b go to
    LDS without passing through registers, 16 bytes a lane if `wide` (gfx950), else 4; two buffers,
    so that a step's loads run while the step before is multiplied. Rows beyond M and N lie past
    the descriptors' sizes, and read as 0.
    """
    tile, depth = 64, 64
    size = 16 if wide else 4
    lanes_of_row = depth * 2 // size
    rows_of_load = 64 // lanes_of_row
    loads = tile // rows_of_load // 4  # of a wave, for each operand
    instruction = 32 if wide else 16
    pieces = instruction // 4  # elements of a lane

    @fx.struct
    class Shared:
        a: fx.Array[fx.BFloat16, 2 * tile * depth, 16]
        b: fx.Array[fx.BFloat16, 2 * tile * depth, 16]

    @flyc.kernel
    def gemm_tiles(a: fx.Tensor, b: fx.Tensor, out: fx.Tensor):
        thread = fx.thread_idx.x
        lane, wave = thread % 64, thread // 64
        first_row, first_column = fx.block_idx.x * tile, fx.block_idx.y * tile
        shared = fx.SharedAllocator().allocate(Shared).peek()
        load = fx.make_copy_atom(
            fx.rocdl.BufferCopyLDS128b() if wide else fx.rocdl.BufferCopyLDS32b(), size * 8
        )
        pointer = fx.PointerType.get(fx.BFloat16.ir_type, 2, 512)
        by_one = fx.make_layout(1, 1)

        def elements(x, rows):
            whole = fx.rocdl.make_buffer_tensor(x, max_size=False, num_records_bytes=rows * K * 2)
            return fx.logical_divide(whole, by_one)

        a_elements, b_elements = elements(a, M), elements(b, N)

        def start(source, first, area, buffer, k):
            """Loads this wave's rows of a tile into a buffer in LDS."""
            for i in range_constexpr(loads):
                row = (wave * loads + i) * rows_of_load
                from_row = first + row + lane // lanes_of_row
                from_column = k + lane % lanes_of_row * (size // 2)
                offset = (buffer * tile + row) * depth * 2
                to = fx.inttoptr(pointer, fx.Int32(fx.ptrtoint(area.ptr)) + offset)
                fx.copy(
                    load,
                    fx.slice(source, (None, from_row * K + from_column)),
                    fx.make_view(to, by_one),
                )

        def fragment(area, buffer, row, k):
            """A lane's elements of a matrix instruction's operand."""
            offset = (buffer * tile + row + lane % 16) * depth + k + lane // 16 * pieces
            at = fx.add_offset(area.ptr, fx.make_int_tuple(offset))
            result = fx.make_rmem_tensor(pieces, fx.BFloat16)
            result.store(fx.make_view(at, fx.make_layout(pieces, 1)).load())
            return result

        product = fx.make_mma_atom(fx.rocdl.MFMA(16, 16, instruction, fx.BFloat16))
        sums = [[fx.make_rmem_tensor(4, fx.Float32) for _ in range(2)] for _ in range(2)]
        for i in range_constexpr(2):
            for j in range_constexpr(2):
                sums[i][j].fill(0)
        wave_row, wave_column = wave // 2 * 32, wave % 2 * 32
        start(a_elements, first_row, shared.a, 0, 0)
        start(b_elements, first_column, shared.b, 0, 0)
        for step in range_constexpr(K // depth):
            fx.rocdl.s_waitcnt(0)
            gpu.barrier()
            if const_expr(step + 1 < K // depth):
                start(a_elements, first_row, shared.a, (step + 1) % 2, (step + 1) * depth)
                start(b_elements, first_column, shared.b, (step + 1) % 2, (step + 1) * depth)
            for k in range_constexpr(0, depth, instruction):
                rows = [fragment(shared.a, step % 2, wave_row + 16 * i, k) for i in range(2)]
                columns = [fragment(shared.b, step % 2, wave_column + 16 * j, k) for j in range(2)]
                for i in range_constexpr(2):
                    for j in range_constexpr(2):
                        fx.gemm(product, sums[i][j], rows[i], columns[j], sums[i][j])

        out_elements = fx.logical_divide(fx.rocdl.make_buffer_tensor(out), by_one)
        store = fx.make_copy_atom(fx.rocdl.BufferCopy32b(), 32)
        for i in range_constexpr(2):
            for j in range_constexpr(2):
                values = sums[i][j].load()
                column = first_column + wave_column + 16 * j + lane % 16
                for index in range_constexpr(4):
                    row = first_row + wave_row + 16 * i + lane // 16 * 4 + index
                    if (row < M) & (column < N):
                        element = fx.make_rmem_tensor(1, fx.Float32)
                        element[0] = values[index]
                        fx.copy(store, element, fx.slice(out_elements, (None, row * N + column)))

    @flyc.jit
    def launch(a: fx.Tensor, b: fx.Tensor, out: fx.Tensor, stream: fx.Stream = DEFAULT_STREAM):
        gemm_tiles(a, b, out).launch(
            grid=(-(-M // tile), -(-N // tile), 1), block=(256, 1, 1), stream=stream
        )

    return launch


def transpose_bytes(waits: bool) -> Callable[..., None]:
    """One wave of gfx950 copies 64 x 8 bytes through LDS and reads them transposed.

    The read is inline assembly, for which a compiler adds no wait: only if `waits` is there one.
    """

    @fx.struct
    class Shared:
        rows: fx.Array[fx.Int32, 128, 16]

    @flyc.kernel
    def transpose_rows(x: fx.Tensor, out: fx.Tensor):
        lane = fx.thread_idx.x
        shared = fx.SharedAllocator().allocate(Shared).peek()
        by_two = fx.make_layout(2, 1)
        x_rows = fx.logical_divide(fx.rocdl.make_buffer_tensor(x), by_two)
        out_rows = fx.logical_divide(fx.rocdl.make_buffer_tensor(out), by_two)
        move = fx.make_copy_atom(fx.rocdl.BufferCopy64b(), 64)
        row = fx.make_rmem_tensor(2, fx.Int32)
        fx.copy(move, fx.slice(x_rows, (None, lane)), row)
        rows = shared.rows.view(fx.make_layout(128, 1))
        for i in range_constexpr(2):
            fx.memref_store(row[i], rows, lane * 2 + i)
        gpu.barrier()
        address = fx.Int32(fx.ptrtoint(shared.rows.ptr)) + lane * 8
        text = "ds_read_b64_tr_b8 $0, $1" + ("\ns_waitcnt lgkmcnt(0)" if waits else "")
        pair = ir.VectorType.get([2], ir.IntegerType.get_signless(32))
        read = llvm.inline_asm(
            pair, [address.ir_value()], text, "=v,v,~{memory}", has_side_effects=True
        )
        fx.memref_store_vec(fx.Vector(read, (2,), fx.Int32), row)
        fx.copy(move, row, fx.slice(out_rows, (None, lane)))

    @flyc.jit
    def launch(x: fx.Tensor, out: fx.Tensor, stream: fx.Stream = DEFAULT_STREAM):
        transpose_rows(x, out).launch(grid=(1, 1, 1), block=(64, 1, 1), stream=stream)

    return launch
