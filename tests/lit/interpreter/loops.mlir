// RUN: wavetile-opt --tile-interpret="seed=1" %s -split-input-file -o /dev/null | FileCheck %s
// RUN: wavetile-opt --tile-interpret="seed=3" %s -split-input-file -o /dev/null \
// RUN:   | FileCheck %s --check-prefix=OTHER
// RUN: wavetile-opt --tile-interpret %s -split-input-file -o /dev/null \
// RUN:   | FileCheck %s --check-prefix=RANDOM
// RANDOM: seed = {{[0-9]+}}

// Blocks have no order: which of them stores last depends on the seed.
// CHECK: seed = 1
// CHECK-NEXT: out = [28]
// OTHER: seed = 3
// OTHER-NEXT: out = [17]
module attributes {tile.inputs = {out = dense<0> : tensor<1xi64>}} {
  tile.kernel @order(%out: !tile.pointer<i64> {tile.name = "out"}) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c50 = arith.constant 50 : index
    %o = tile.view %out sizes(%c1) strides(%c1) : !tile.pointer<i64> -> !tile.view<1 x i64>
    tile.parallel (%c0) to (%c50) dims ["i"] block_sizes [1] {
    ^bb0(%begin: index, %extent: index):
      %i = arith.index_cast %begin : index to i64
      %a = tile.full %i : i64 -> tensor<1xi64>
      tile.store %a, %o[%c0] dims [0] extents(%c1) : tensor<1xi64>, !tile.view<1 x i64>
    }
    tile.return
  }
}

// -----

// Steps run in order with their begins and extents; carried values; no step gives the
// initial value. The loop's size comes from the Config, and `tile.block_size` too.
// From 1 to 8: begins 1, 4 and 7 with extents 3, 3 and 1.
// CHECK: out = [9134371, 42, 3]
module attributes {tile.config = {k = 3}, tile.inputs = {out = dense<0> : tensor<3xi64>, n = 8 : index}} {
  tile.kernel @steps(%out: !tile.pointer<i64> {tile.name = "out"}, %n: index {tile.name = "n"}) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c9 = arith.constant 9 : index
    %c10 = arith.constant 10 : index
    %c42 = arith.constant 42 : index
    %o = tile.view %out sizes(%c3) strides(%c1) : !tile.pointer<i64> -> !tile.view<1 x i64>
    tile.parallel (%c0) to (%c1) dims ["one"] block_sizes [1] {
    ^bb0(%begin: index, %extent: index):
      %digits = tile.for (%c1) to (%n) dim "k" carries(%c9) : index {
      ^bb0(%k: index, %ks: index, %before: index):
        %tens = arith.muli %before, %c10 : index
        %a = arith.addi %tens, %k : index
        %tens2 = arith.muli %a, %c10 : index
        %b = arith.addi %tens2, %ks : index
        tile.yield %b : index
      }
      %none = tile.for (%n) to (%n) dim "k" carries(%c42) : index {
      ^bb0(%k: index, %ks: index, %before: index):
        tile.yield %c0 : index
      }
      %size = tile.block_size "k"
      %i0 = arith.index_cast %digits : index to i64
      %i1 = arith.index_cast %none : index to i64
      %i2 = arith.index_cast %size : index to i64
      %t0 = tile.full %i0 : i64 -> tensor<1xi64>
      %t1 = tile.full %i1 : i64 -> tensor<1xi64>
      %t2 = tile.full %i2 : i64 -> tensor<1xi64>
      tile.store %t0, %o[%c0] dims [0] extents(%c1) : tensor<1xi64>, !tile.view<1 x i64>
      tile.store %t1, %o[%c1] dims [0] extents(%c1) : tensor<1xi64>, !tile.view<1 x i64>
      tile.store %t2, %o[%c2] dims [0] extents(%c1) : tensor<1xi64>, !tile.view<1 x i64>
    }
    tile.return
  }
}

// -----

// A program runs on each block of a grid, one of them empty.
// CHECK: out = {{\[\[}}0, 1, 2], [10, 11, 12]]
module attributes {tile.inputs = {out = dense<0> : tensor<2x3xi64>}} {
  tile.program @work(%out: !tile.pointer<i64>) attributes {waves = 1 : i64} {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c10 = arith.constant 10 : index
    %o = tile.view %out sizes(%c2, %c3) strides(%c3, %c1) : !tile.pointer<i64> -> !tile.view<2 x i64>
    %x = tile.block_id 0
    %y = tile.block_id 1
    %tens = arith.muli %x, %c10 : index
    %both = arith.addi %tens, %y : index
    %i = arith.index_cast %both : index to i64
    %a = tile.full %i : i64 -> tensor<i64>
    tile.store %a, %o[%x, %y] dims [-1, -1] : tensor<i64>, !tile.view<2 x i64>
    tile.return
  }
  tile.kernel @grid(%out: !tile.pointer<i64> {tile.name = "out"}) {
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    tile.launch @work grid(%c2, %c3) arguments(%out) : !tile.pointer<i64>
    tile.launch @work grid(%c2, %c0) arguments(%out) : !tile.pointer<i64>
    tile.return
  }
}

// -----

// The pointer, the integer and the float at the places that `tile.binding` says.
// CHECK: out = [2.5, 2.5, 0]
module attributes {tile.inputs = {out = dense<0.0> : tensor<3xf32>, n = 2 : index, m = 1 : index,
                                  a = 2.5 : f32}} {
  tile.kernel @bindings(%a: f32 {tile.name = "a", tile.binding = 0 : i64},
                        %n: index {tile.name = "n", tile.binding = 1 : i64},
                        %out: !tile.pointer<f32> {tile.name = "out", tile.binding = 0 : i64},
                        %m: index {tile.name = "m", tile.binding = 0 : i64}) {
    %c0 = arith.constant 0 : index
    %o = tile.view %out sizes(%n) strides(%m) : !tile.pointer<f32> -> !tile.view<1 x f32>
    tile.parallel (%c0) to (%n) dims ["i"] block_sizes [8] {
    ^bb0(%begin: index, %extent: index):
      %t = tile.full %a : f32 -> tensor<8xf32>
      tile.store %t, %o[%c0] dims [0] extents(%extent) : tensor<8xf32>, !tile.view<1 x f32>
    }
    tile.return
  }
}

// -----

// A dimension named `_` is walked one by one, without a size in the Config.
// CHECK: out = [1, 1, 1]
module attributes {tile.config = {}, tile.inputs = {out = dense<0> : tensor<3xi32>}} {
  tile.kernel @one_by_one(%out: !tile.pointer<i32> {tile.name = "out"}) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %o = tile.view %out sizes(%c3) strides(%c1) : !tile.pointer<i32> -> !tile.view<1 x i32>
    tile.parallel (%c0) to (%c3) dims ["_"] {
    ^bb0(%i: index, %extent: index):
      %one = arith.index_cast %extent : index to i32
      %t = tile.full %one : i32 -> tensor<i32>
      tile.store %t, %o[%i] dims [-1] : tensor<i32>, !tile.view<1 x i32>
    }
    tile.return
  }
}
