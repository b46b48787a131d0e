// RUN: wavetile-opt %s --tile-infer-bounds --split-input-file | FileCheck %s

// Alignment comes from the pointer, the offsets and the strides of outer
// dimensions; the divisor from where the innermost dimension ends.
// CHECK-LABEL: tile.kernel @alignment
tile.kernel @alignment(%x: !tile.pointer<bf16> {tile.align = 16 : i64, tile.binding = 0 : i64},
                       %y: !tile.pointer<bf16> {tile.align = 256 : i64, tile.binding = 1 : i64},
                       %m: index {tile.binding = 0 : i64},
                       %n: index {tile.binding = 1 : i64, tile.divisor = 16 : i64},
                       %odd: index {tile.binding = 2 : i64},
                       %s: index {tile.binding = 3 : i64, tile.divisor = 4 : i64}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %dense = tile.view %x sizes(%m, %n) strides(%n, %c1) : !tile.pointer<bf16> -> !tile.view<2 x bf16>
  %ragged = tile.view %x sizes(%m, %odd) strides(%odd, %c1) : !tile.pointer<bf16> -> !tile.view<2 x bf16>
  %padded = tile.view %y sizes(%m, %odd) strides(%s, %c1) : !tile.pointer<bf16> -> !tile.view<2 x bf16>
  tile.parallel (%c0) to (%m) dims ["rows"] block_sizes [4] waves 4 {
  ^bb0(%row: index, %rows: index):
    // CHECK: tile.load {{.*}} {alignment = 16 : i64, divisor = 16 : i64, in_bounds = array<i1: false, false>}
    %a = tile.load %dense[%row, %c0] dims [0, 1] extents(%rows, %n) : !tile.view<2 x bf16> -> tensor<4x64xbf16>
    // CHECK: tile.load {{.*}} {alignment = 2 : i64, in_bounds = array<i1: false, false>}
    %b = tile.load %ragged[%row, %c0] dims [0, 1] extents(%rows, %odd) : !tile.view<2 x bf16> -> tensor<4x64xbf16>
    // Rows begin at multiples of 4 elements.
    // CHECK: tile.load {{.*}} {alignment = 8 : i64, in_bounds = array<i1: false, false>}
    %c = tile.load %padded[%row, %c0] dims [0, 1] extents(%rows, %odd) : !tile.view<2 x bf16> -> tensor<4x64xbf16>
    // The offset along the row is odd, and so is what is left of the row from there on.
    // CHECK: tile.load {{.*}} {alignment = 2 : i64, in_bounds
    %d = tile.load %dense[%row, %c3] dims [0, 1] extents(%rows, %n) : !tile.view<2 x bf16> -> tensor<4x64xbf16>
    // The view may end before the extent does.
    // CHECK: tile.load {{.*}} {alignment = 2 : i64, in_bounds
    %f = tile.load %ragged[%row, %c0] dims [0, 1] extents(%rows, %n) : !tile.view<2 x bf16> -> tensor<4x64xbf16>
    // One row: the block's row is a multiple of 4, times the stride of 4.
    // CHECK: tile.load {{.*}} {alignment = 32 : i64, in_bounds
    %e = tile.load %padded[%row, %c0] dims [-1, 0] extents(%odd) : !tile.view<2 x bf16> -> tensor<64xbf16>
    // CHECK: tile.store {{.*}} {alignment = 16 : i64, divisor = 16 : i64, in_bounds = array<i1: false, false>}
    tile.store %a, %dense[%row, %c0] dims [0, 1] extents(%rows, %n) : tensor<4x64xbf16>, !tile.view<2 x bf16>
  }
  tile.return
}

// -----

// Whole steps and whole blocks are in bounds; an extent that is not that of the
// view is not enough.
// CHECK-LABEL: tile.kernel @in_bounds
tile.kernel @in_bounds(%x: !tile.pointer<f32> {tile.binding = 0 : i64},
                       %m: index {tile.binding = 0 : i64, tile.divisor = 8 : i64},
                       %n: index {tile.binding = 1 : i64}, %other: index {tile.binding = 2 : i64}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %v = tile.view %x sizes(%m, %n) strides(%n, %c1) : !tile.pointer<f32> -> !tile.view<2 x f32>
  %rest = arith.remui %n, %c64 : index
  %split = arith.subi %n, %rest : index
  tile.parallel (%c0) to (%m) dims ["rows"] block_sizes [8] waves 1 {
  ^bb0(%row: index, %rows: index):
    tile.for (%c0) to (%split) dim "cols" block_size 64 full {
    ^bb0(%col: index, %cols: index):
      // CHECK: tile.load {{.*}} in_bounds = array<i1: true, true>
      %a = tile.load %v[%row, %col] dims [0, 1] extents(%rows, %cols) : !tile.view<2 x f32> -> tensor<8x64xf32>
    }
    tile.for (%split) to (%n) dim "cols" block_size 64 {
    ^bb0(%col: index, %cols: index):
      // CHECK: tile.load {{.*}} in_bounds = array<i1: true, false>
      %a = tile.load %v[%row, %col] dims [0, 1] extents(%rows, %cols) : !tile.view<2 x f32> -> tensor<8x64xf32>
    }
    tile.for (%c0) to (%other) dim "cols" block_size 64 full {
    ^bb0(%col: index, %cols: index):
      // CHECK: tile.load {{.*}} in_bounds = array<i1: true, false>
      %a = tile.load %v[%row, %col] dims [0, 1] extents(%rows, %cols) : !tile.view<2 x f32> -> tensor<8x64xf32>
    }
  }
  // A block of one row is always whole.
  tile.parallel (%c0) to (%other) dims ["rows"] block_sizes [1] waves 1 {
  ^bb0(%row: index, %rows: index):
    %w = tile.view %x sizes(%other, %n) strides(%n, %c1) : !tile.pointer<f32> -> !tile.view<2 x f32>
    // CHECK: tile.load {{.*}} in_bounds = array<i1: true, false>
    %a = tile.load %w[%row, %c0] dims [0, 1] extents(%rows, %n) : !tile.view<2 x f32> -> tensor<1x64xf32>
  }
  tile.return
}
