// RUN: wavetile-opt --tile-interpret %s -split-input-file -o /dev/null | FileCheck %s

// Reductions look only below the extent, from the identity on, in order of the index:
// (1e8 + 1) - 1e8 is 0 in f32. Of no elements the result is the identity.
// CHECK: out = {{\[\[}}0, -Inf, +Inf, 1], [0, NaN, NaN, NaN]]
module attributes {tile.inputs = {out = dense<7.0> : tensor<2x4xf32>}} {
  tile.kernel @reduce(%out: !tile.pointer<f32> {tile.name = "out"}) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %o = tile.view %out sizes(%c2, %c4) strides(%c4, %c1) : !tile.pointer<f32> -> !tile.view<2 x f32>
    tile.parallel (%c0) to (%c1) dims ["one"] block_sizes [1] {
    ^bb0(%begin: index, %extent: index):
      %x = arith.constant dense<[[1.0e8, 1.0, -1.0e8, 5.0]]> : tensor<1x4xf32>
      %nan = arith.constant dense<[[1.0, 0x7FC00000, -1.0e8, 5.0]]> : tensor<1x4xf32>
      %sum = tile.reduce sum %x axis 1 extent(%c0) : tensor<1x4xf32> -> tensor<1xf32>
      %max = tile.reduce maximum %x axis 1 extent(%c0) : tensor<1x4xf32> -> tensor<1xf32>
      %min = tile.reduce minimum %x axis 1 extent(%c0) : tensor<1x4xf32> -> tensor<1xf32>
      %product = tile.reduce product %x axis 1 extent(%c0) : tensor<1x4xf32> -> tensor<1xf32>
      tile.store %sum, %o[%c0, %c0] dims [-1, 0] extents(%c1) : tensor<1xf32>, !tile.view<2 x f32>
      tile.store %max, %o[%c0, %c1] dims [-1, 0] extents(%c1) : tensor<1xf32>, !tile.view<2 x f32>
      tile.store %min, %o[%c0, %c2] dims [-1, 0] extents(%c1) : tensor<1xf32>, !tile.view<2 x f32>
      tile.store %product, %o[%c0, %c3] dims [-1, 0] extents(%c1) : tensor<1xf32>, !tile.view<2 x f32>
      %sum3 = tile.reduce sum %x axis 1 extent(%c3) : tensor<1x4xf32> -> tensor<1xf32>
      %max3 = tile.reduce maximum %nan axis 1 extent(%c3) : tensor<1x4xf32> -> tensor<1xf32>
      %min3 = tile.reduce minimum %nan axis 1 extent(%c3) : tensor<1x4xf32> -> tensor<1xf32>
      %product3 = tile.reduce product %nan axis 1 extent(%c3) : tensor<1x4xf32> -> tensor<1xf32>
      tile.store %sum3, %o[%c1, %c0] dims [-1, 0] extents(%c1) : tensor<1xf32>, !tile.view<2 x f32>
      tile.store %max3, %o[%c1, %c1] dims [-1, 0] extents(%c1) : tensor<1xf32>, !tile.view<2 x f32>
      tile.store %min3, %o[%c1, %c2] dims [-1, 0] extents(%c1) : tensor<1xf32>, !tile.view<2 x f32>
      tile.store %product3, %o[%c1, %c3] dims [-1, 0] extents(%c1) : tensor<1xf32>, !tile.view<2 x f32>
    }
    tile.return
  }
}

// -----

// Axis 0 of two; every kind of integer.
// CHECK: out = {{\[\[}}9, 12], [15, 48], [5, 6], [1, 2], [1, 0], [7, 6]]
module attributes {tile.inputs = {out = dense<7> : tensor<6x2xi32>}} {
  tile.kernel @integers(%out: !tile.pointer<i32> {tile.name = "out"}) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %c5 = arith.constant 5 : index
    %c6 = arith.constant 6 : index
    %o = tile.view %out sizes(%c6, %c2) strides(%c2, %c1) : !tile.pointer<i32> -> !tile.view<2 x i32>
    tile.parallel (%c0) to (%c1) dims ["one"] block_sizes [1] {
    ^bb0(%begin: index, %extent: index):
      %x = arith.constant dense<[[1, 2], [3, 4], [5, 6], [100, 100]]> : tensor<4x2xi32>
      %sum = tile.reduce sum %x axis 0 extent(%c3) : tensor<4x2xi32> -> tensor<2xi32>
      %product = tile.reduce product %x axis 0 extent(%c3) : tensor<4x2xi32> -> tensor<2xi32>
      %max = tile.reduce maximum %x axis 0 extent(%c3) : tensor<4x2xi32> -> tensor<2xi32>
      %min = tile.reduce minimum %x axis 0 extent(%c3) : tensor<4x2xi32> -> tensor<2xi32>
      %and = tile.reduce and %x axis 0 extent(%c3) : tensor<4x2xi32> -> tensor<2xi32>
      %or = tile.reduce or %x axis 0 extent(%c3) : tensor<4x2xi32> -> tensor<2xi32>
      tile.store %sum, %o[%c0, %c0] dims [-1, 0] extents(%c2) : tensor<2xi32>, !tile.view<2 x i32>
      tile.store %product, %o[%c1, %c0] dims [-1, 0] extents(%c2) : tensor<2xi32>, !tile.view<2 x i32>
      tile.store %max, %o[%c2, %c0] dims [-1, 0] extents(%c2) : tensor<2xi32>, !tile.view<2 x i32>
      tile.store %min, %o[%c3, %c0] dims [-1, 0] extents(%c2) : tensor<2xi32>, !tile.view<2 x i32>
      tile.store %and, %o[%c4, %c0] dims [-1, 0] extents(%c2) : tensor<2xi32>, !tile.view<2 x i32>
      tile.store %or, %o[%c5, %c0] dims [-1, 0] extents(%c2) : tensor<2xi32>, !tile.view<2 x i32>
    }
    tile.return
  }
}

// -----

// Of equal elements the smallest index counts, wherever it stands; NaN wins, the first of
// them; 9 is beyond the extent.
// CHECK: values = {{\[\[}}5, -Inf], [NaN, NaN]]
// CHECK: indices = {{\[\[}}10, 12], [13, 13]]
module attributes {tile.inputs = {values = dense<0.0> : tensor<2x2xf32>,
                                  indices = dense<0> : tensor<2x2xi64>}} {
  tile.kernel @arg_reduce(%values: !tile.pointer<f32> {tile.name = "values"},
                          %indices: !tile.pointer<i64> {tile.name = "indices"}) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %v = tile.view %values sizes(%c2, %c2) strides(%c2, %c1) : !tile.pointer<f32> -> !tile.view<2 x f32>
    %i = tile.view %indices sizes(%c2, %c2) strides(%c2, %c1) : !tile.pointer<i64> -> !tile.view<2 x i64>
    tile.parallel (%c0) to (%c1) dims ["one"] block_sizes [1] {
    ^bb0(%begin: index, %extent: index):
      %x = arith.constant dense<[[5.0, 0xFF800000, 1.0, 5.0, 9.0],
                                 [5.0, 0x7FC00000, 0x7FC00000, 8.0, 9.0]]> : tensor<2x5xf32>
      %j = arith.constant dense<[[11, 12, 13, 10, 1], [15, 14, 13, 12, 1]]> : tensor<2x5xi64>
      %max, %where = tile.arg_reduce maximum %x, %j axis 1 extent(%c4)
          : tensor<2x5xf32>, tensor<2x5xi64> -> tensor<2xf32>, tensor<2xi64>
      %min, %whereMin = tile.arg_reduce minimum %x, %j axis 1 extent(%c4)
          : tensor<2x5xf32>, tensor<2x5xi64> -> tensor<2xf32>, tensor<2xi64>
      tile.store %max, %v[%c0, %c0] dims [0, -1] extents(%c2) : tensor<2xf32>, !tile.view<2 x f32>
      tile.store %where, %i[%c0, %c0] dims [0, -1] extents(%c2) : tensor<2xi64>, !tile.view<2 x i64>
      tile.store %min, %v[%c0, %c1] dims [0, -1] extents(%c2) : tensor<2xf32>, !tile.view<2 x f32>
      tile.store %whereMin, %i[%c0, %c1] dims [0, -1] extents(%c2) : tensor<2xi64>, !tile.view<2 x i64>
    }
    tile.return
  }
}

// -----

// Products and sums of bf16 are in f32, of i8 in i32; k = 2 is beyond the extent.
// CHECK: floats = {{\[\[}}258.5, 1], [1026, 5]]
// CHECK: integers = {{\[\[}}16129]]
module attributes {tile.inputs = {floats = dense<0.0> : tensor<2x2xf32>,
                                  integers = dense<0> : tensor<1x1xi32>}} {
  tile.kernel @dot(%floats: !tile.pointer<f32> {tile.name = "floats"},
                   %integers: !tile.pointer<i32> {tile.name = "integers"}) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %f = tile.view %floats sizes(%c2, %c2) strides(%c2, %c1) : !tile.pointer<f32> -> !tile.view<2 x f32>
    %i = tile.view %integers sizes(%c1, %c1) strides(%c1, %c1) : !tile.pointer<i32> -> !tile.view<2 x i32>
    tile.parallel (%c0) to (%c1) dims ["one"] block_sizes [1] {
    ^bb0(%begin: index, %extent: index):
      %a = arith.constant dense<[[1.0, 2.0, 100.0], [4.0, 8.0, 100.0]]> : tensor<2x3xbf16>
      %b = arith.constant dense<[[256.0, 0.0], [1.0, 0.5], [100.0, 100.0]]> : tensor<3x2xbf16>
      %acc = arith.constant dense<[[0.5, 0.0], [-6.0, 1.0]]> : tensor<2x2xf32>
      %d = tile.dot %a, %b, %acc extent(%c2) : tensor<2x3xbf16>, tensor<3x2xbf16>, tensor<2x2xf32>
      tile.store %d, %f[%c0, %c0] dims [0, 1] extents(%c2, %c2) : tensor<2x2xf32>, !tile.view<2 x f32>
      %p = arith.constant dense<[[127, 1]]> : tensor<1x2xi8>
      %q = arith.constant dense<[[127], [0]]> : tensor<2x1xi8>
      %zero = arith.constant dense<0> : tensor<1x1xi32>
      %e = tile.dot %p, %q, %zero extent(%c2) : tensor<1x2xi8>, tensor<2x1xi8>, tensor<1x1xi32>
      tile.store %e, %i[%c0, %c0] dims [0, 1] extents(%c1, %c1) : tensor<1x1xi32>, !tile.view<2 x i32>
    }
    tile.return
  }
}
