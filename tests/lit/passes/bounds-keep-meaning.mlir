// What lies beyond extents never shows: ones summed over a tail, a row of no
// elements, and a store in place.

// RUN: sed -e 's/COLS/16/' -e 's/STRATEGY/resident/' %s > %t.mlir
// RUN: wavetile-opt %t.mlir --tile-interpret="seed=1" | grep " = \[" | FileCheck %s
// RUN: wavetile-opt %t.mlir --tile-pipeline --tile-interpret="seed=2" | grep " = \[" | FileCheck %s
// RUN: sed -e 's/COLS/4/' -e 's/STRATEGY/looped/' %s > %t.looped.mlir
// RUN: wavetile-opt %t.looped.mlir --tile-pipeline --tile-interpret="seed=3" | grep " = \[" | FileCheck %s

// CHECK: ones = [11, 11, 11]
// CHECK: empty = [0, 1, -Inf, 0]
// CHECK: inplace = {{\[\[}}0.0625, 0.125, 0.0625, 0.125, 0.125, 0.125, 0.0625, 0.0625, 0.0625, 0.125, 0.0625],
// CHECK-SAME: [0.25, 0, 0, 0.25, 0, 0, 0.25, 0, 0, 0.25, 0]]

module attributes {
    tile.config = {rows = 2 : i64, cols = COLS : i64, cols.strategy = "STRATEGY", i = 4 : i64, waves = 1 : i64},
    tile.inputs = {m = 3 : index, two = 2 : index, n = 11 : index, none = 0 : index,
      ones = dense<7.0> : tensor<3xf32>, empty = dense<7.0> : tensor<4xf32>,
      inplace = dense<[[1.0, 2.0, 1.0, 2.0, 2.0, 2.0, 1.0, 1.0, 1.0, 2.0, 1.0],
                       [2.0, 0.0, 0.0, 2.0, 0.0, 0.0, 2.0, 0.0, 0.0, 2.0, 0.0]]> : tensor<2x11xf32>}} {
tile.kernel @traps(%ones: !tile.pointer<f32> {tile.name = "ones", tile.binding = 0 : i64},
                   %empty: !tile.pointer<f32> {tile.name = "empty", tile.binding = 1 : i64},
                   %inplace: !tile.pointer<f32> {tile.name = "inplace", tile.binding = 2 : i64},
                   %m: index {tile.name = "m", tile.binding = 0 : i64},
                   %two: index {tile.name = "two", tile.binding = 1 : i64},
                   %n: index {tile.name = "n", tile.binding = 2 : i64},
                   %none: index {tile.name = "none", tile.binding = 3 : i64}) attributes {disjoint} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %one = arith.constant 1.0 : f32
  %zero = arith.constant 0.0 : f32
  %ov = tile.view %ones sizes(%m) strides(%c1) : !tile.pointer<f32> -> !tile.view<1 x f32>
  %c4 = arith.constant 4 : index
  %ev = tile.view %empty sizes(%c4) strides(%c1) : !tile.pointer<f32> -> !tile.view<1 x f32>
  %iv = tile.view %inplace sizes(%two, %n) strides(%n, %c1) : !tile.pointer<f32> -> !tile.view<2 x f32>

  // The sum of ones over steps of 4 is 11.
  tile.parallel (%c0) to (%m) dims ["rows"] {
  ^bb0(%row: index, %rows: index):
    %init = tile.full %zero : f32 -> tensor<?xf32, #tile.dims<[rows]>>
    %sum = tile.for (%c0) to (%n) dim "i" carries(%init) : tensor<?xf32, #tile.dims<[rows]>> {
    ^bb0(%begin: index, %extent: index, %acc: tensor<?xf32, #tile.dims<[rows]>>):
      %full = tile.full %one : f32 -> tensor<?x?xf32, #tile.dims<[rows, i]>>
      %s = tile.reduce sum %full axis 1 extent(%extent) : tensor<?x?xf32, #tile.dims<[rows, i]>> -> tensor<?xf32, #tile.dims<[rows]>>
      %next = arith.addf %acc, %s : tensor<?xf32, #tile.dims<[rows]>>
      tile.yield %next : tensor<?xf32, #tile.dims<[rows]>>
    }
    tile.store %sum, %ov[%row] dims [0] extents(%rows) : tensor<?xf32, #tile.dims<[rows]>>, !tile.view<1 x f32>
  }

  // Reductions of no elements are identities; so is the sum of exp(x - max(x)).
  tile.parallel (%c0) to (%c1) dims ["rows"] {
  ^bb0(%row: index, %rows: index):
    %w = tile.view %inplace sizes(%none) strides(%c1) : !tile.pointer<f32> -> !tile.view<1 x f32>
    %a = tile.load %w[%c0] dims [0] extents(%none) : !tile.view<1 x f32> -> tensor<?xf32, #tile.dims<[cols]>>
    %s = tile.reduce sum %a axis 0 extent(%none) : tensor<?xf32, #tile.dims<[cols]>> -> tensor<f32>
    %p = tile.reduce product %a axis 0 extent(%none) : tensor<?xf32, #tile.dims<[cols]>> -> tensor<f32>
    %x = tile.reduce maximum %a axis 0 extent(%none) : tensor<?xf32, #tile.dims<[cols]>> -> tensor<f32>
    %x1 = tile.expand_dims %x axis 0 : tensor<f32> -> tensor<1xf32>
    %xb = tile.broadcast %x1 : tensor<1xf32> -> tensor<?xf32, #tile.dims<[cols]>>
    %d = arith.subf %a, %xb : tensor<?xf32, #tile.dims<[cols]>>
    %e = math.exp %d : tensor<?xf32, #tile.dims<[cols]>>
    %t = tile.reduce sum %e axis 0 extent(%none) : tensor<?xf32, #tile.dims<[cols]>> -> tensor<f32>
    tile.store %s, %ev[%c0] dims [-1] : tensor<f32>, !tile.view<1 x f32>
    tile.store %p, %ev[%c1] dims [-1] : tensor<f32>, !tile.view<1 x f32>
    tile.store %x, %ev[%c2] dims [-1] : tensor<f32>, !tile.view<1 x f32>
    tile.store %t, %ev[%c3] dims [-1] : tensor<f32>, !tile.view<1 x f32>
  }

  // x / sum(x), stored where x was.
  tile.parallel (%c0) to (%two) dims ["rows"] {
  ^bb0(%row: index, %rows: index):
    %a = tile.load %iv[%row, %c0] dims [0, 1] extents(%rows, %n) : !tile.view<2 x f32> -> tensor<?x?xf32, #tile.dims<[rows, cols]>>
    %s = tile.reduce sum %a axis 1 extent(%n) : tensor<?x?xf32, #tile.dims<[rows, cols]>> -> tensor<?xf32, #tile.dims<[rows]>>
    %s1 = tile.expand_dims %s axis 1 : tensor<?xf32, #tile.dims<[rows]>> -> tensor<?x1xf32, #tile.dims<[rows, _]>>
    %sb = tile.broadcast %s1 : tensor<?x1xf32, #tile.dims<[rows, _]>> -> tensor<?x?xf32, #tile.dims<[rows, cols]>>
    %q = arith.divf %a, %sb : tensor<?x?xf32, #tile.dims<[rows, cols]>>
    tile.store %q, %iv[%row, %c0] dims [0, 1] extents(%rows, %n) : tensor<?x?xf32, #tile.dims<[rows, cols]>>, !tile.view<2 x f32>
  }
  tile.return
}
}
