// Every strategy computes what the unbound kernel does: rows of infinities, of NaN,
// with ties; lengths that are no multiple of a chunk, and that are below one.

// RUN: sed -e 's/STRATEGY/resident/' -e 's/SIZE/16/' %s > %t.mlir
// RUN: wavetile-opt %t.mlir --tile-interpret="seed=1" | grep " = \[" > %t.expected
// RUN: FileCheck %s < %t.expected

// RUN: wavetile-opt %t.mlir --tile-pipeline --tile-interpret="seed=2" | grep " = \[" > %t.resident
// RUN: diff %t.expected %t.resident

// RUN: sed -e 's/STRATEGY/looped/' -e 's/SIZE/8/' %s | wavetile-opt --tile-pipeline --tile-interpret="seed=3" | grep " = \[" > %t.looped
// RUN: diff %t.expected %t.looped
// RUN: sed -e 's/STRATEGY/looped/' -e 's/SIZE/32/' %s | wavetile-opt --tile-pipeline --tile-interpret="seed=4" | grep " = \[" > %t.short
// RUN: diff %t.expected %t.short

// RUN: sed -e 's/"STRATEGY"/"grid", cols.blocks = 4 : i64/' -e 's/SIZE/8/' %s | wavetile-opt --tile-pipeline --tile-interpret="seed=5" | grep " = \[" > %t.grid
// RUN: diff %t.expected %t.grid
// RUN: sed -e 's/"STRATEGY"/"grid", cols.blocks = 4 : i64/' -e 's/SIZE/16/' %s | wavetile-opt --tile-pipeline --tile-interpret="seed=6" | grep " = \[" > %t.empty_blocks
// RUN: diff %t.expected %t.empty_blocks

// The row of ties takes the first index, that of NaN the NaN, that of -inf the first.
// CHECK: index = [2, 0, 3, 0, 0]
// CHECK: total = [

module attributes {
    tile.config = {rows = 2 : i64, cols = SIZE : i64, cols.strategy = "STRATEGY", waves = 1 : i64},
    tile.inputs = {m = 5 : index, n = 11 : index,
      x = dense<[
        [1.0, 2.0, 4.0, 4.0, 0.0, 1.0, 3.0, 4.0, 2.0, 1.0, 4.0],
        [0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000],
        [1.0, 2.0, 3.0, 0x7FC00000, 0x7F800000, 1.0, 0x7FC00000, 2.0, 4.0, 8.0, 16.0],
        [0x7FC00000, 0x7FC00000, 0x7FC00000, 0x7FC00000, 0x7FC00000, 0x7FC00000, 0x7FC00000, 0x7FC00000, 0x7FC00000, 0x7FC00000, 0x7FC00000],
        [0.0, -1.0, 0xFF800000, -2.0, 0xFF800000, -3.0, -4.0, -8.0, -16.0, 0xFF800000, -1.0]]> : tensor<5x11xf32>,
      out = dense<0.0> : tensor<5x11xf32>, index = dense<7> : tensor<5xi64>, total = dense<0.0> : tensor<5xf32>}} {
tile.kernel @rows(%x: !tile.pointer<f32> {tile.name = "x", tile.binding = 0 : i64},
                  %out: !tile.pointer<f32> {tile.name = "out", tile.binding = 1 : i64},
                  %index: !tile.pointer<i64> {tile.name = "index", tile.binding = 2 : i64},
                  %total: !tile.pointer<f32> {tile.name = "total", tile.binding = 3 : i64},
                  %m: index {tile.name = "m", tile.binding = 0 : i64},
                  %n: index {tile.name = "n", tile.binding = 1 : i64}) attributes {disjoint} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %v = tile.view %x sizes(%m, %n) strides(%n, %c1) : !tile.pointer<f32> -> !tile.view<2 x f32>
  %ov = tile.view %out sizes(%m, %n) strides(%n, %c1) : !tile.pointer<f32> -> !tile.view<2 x f32>
  %iv = tile.view %index sizes(%m) strides(%c1) : !tile.pointer<i64> -> !tile.view<1 x i64>
  %tv = tile.view %total sizes(%m) strides(%c1) : !tile.pointer<f32> -> !tile.view<1 x f32>
  tile.parallel (%c0) to (%m) dims ["rows"] {
  ^bb0(%row: index, %rows: index):
    %a = tile.load %v[%row, %c0] dims [0, 1] extents(%rows, %n) : !tile.view<2 x f32> -> tensor<?x?xf32, #tile.dims<[rows, cols]>>
    %i = tile.iota : tensor<?xi64, #tile.dims<[cols]>>
    %i1 = tile.expand_dims %i axis 0 : tensor<?xi64, #tile.dims<[cols]>> -> tensor<1x?xi64, #tile.dims<[_, cols]>>
    %ib = tile.broadcast %i1 : tensor<1x?xi64, #tile.dims<[_, cols]>> -> tensor<?x?xi64, #tile.dims<[rows, cols]>>
    %largest, %where = tile.arg_reduce maximum %a, %ib axis 1 extent(%n)
        : tensor<?x?xf32, #tile.dims<[rows, cols]>>, tensor<?x?xi64, #tile.dims<[rows, cols]>>
        -> tensor<?xf32, #tile.dims<[rows]>>, tensor<?xi64, #tile.dims<[rows]>>
    tile.store %where, %iv[%row] dims [0] extents(%rows) : tensor<?xi64, #tile.dims<[rows]>>, !tile.view<1 x i64>
    %mx = tile.reduce maximum %a axis 1 extent(%n) : tensor<?x?xf32, #tile.dims<[rows, cols]>> -> tensor<?xf32, #tile.dims<[rows]>>
    %m1 = tile.expand_dims %mx axis 1 : tensor<?xf32, #tile.dims<[rows]>> -> tensor<?x1xf32, #tile.dims<[rows, _]>>
    %mb = tile.broadcast %m1 : tensor<?x1xf32, #tile.dims<[rows, _]>> -> tensor<?x?xf32, #tile.dims<[rows, cols]>>
    %d = arith.subf %a, %mb : tensor<?x?xf32, #tile.dims<[rows, cols]>>
    // Powers of two, so that the order of a sum does not show.
    %e = math.exp2 %d : tensor<?x?xf32, #tile.dims<[rows, cols]>>
    %s = tile.reduce sum %e axis 1 extent(%n) : tensor<?x?xf32, #tile.dims<[rows, cols]>> -> tensor<?xf32, #tile.dims<[rows]>>
    tile.store %s, %tv[%row] dims [0] extents(%rows) : tensor<?xf32, #tile.dims<[rows]>>, !tile.view<1 x f32>
    %s1 = tile.expand_dims %s axis 1 : tensor<?xf32, #tile.dims<[rows]>> -> tensor<?x1xf32, #tile.dims<[rows, _]>>
    %sb = tile.broadcast %s1 : tensor<?x1xf32, #tile.dims<[rows, _]>> -> tensor<?x?xf32, #tile.dims<[rows, cols]>>
    %q = arith.divf %e, %sb : tensor<?x?xf32, #tile.dims<[rows, cols]>>
    tile.store %q, %ov[%row, %c0] dims [0, 1] extents(%rows, %n) : tensor<?x?xf32, #tile.dims<[rows, cols]>>, !tile.view<2 x f32>
  }
  tile.return
}
}
