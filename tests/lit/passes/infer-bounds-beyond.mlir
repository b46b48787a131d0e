// RUN: wavetile-opt %s --tile-infer-bounds --split-input-file | FileCheck %s

// Softmax: -inf beyond the extent is the identity of the maximum; x - m is -inf
// there too but in rows of NaN; its exp is the zero that the sum wants. A row
// without elements has no NaN, so its sum is chosen apart.
// CHECK-LABEL: tile.kernel @softmax
tile.kernel @softmax(%x: !tile.pointer<bf16> {tile.binding = 0 : i64}, %n: index {tile.binding = 0 : i64}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %v = tile.view %x sizes(%n) strides(%c1) : !tile.pointer<bf16> -> !tile.view<1 x bf16>
  tile.parallel (%c0) to (%c1) dims ["rows"] block_sizes [1] waves 1 {
  ^bb0(%row: index, %rows: index):
    // CHECK: tile.load {{.*}}beyond = 0xFF80 : bf16
    %a = tile.load %v[%c0] dims [0] extents(%n) : !tile.view<1 x bf16> -> tensor<64xbf16>
    %f = arith.extf %a : tensor<64xbf16> to tensor<64xf32>
    // CHECK-NOT: tile.fill_beyond
    // CHECK: tile.reduce maximum {{.*}} beyond_neutral
    %m = tile.reduce maximum %f axis 0 extent(%n) : tensor<64xf32> -> tensor<f32>
    %m1 = tile.expand_dims %m axis 0 : tensor<f32> -> tensor<1xf32>
    %mb = tile.broadcast %m1 : tensor<1xf32> -> tensor<64xf32>
    %d = arith.subf %f, %mb : tensor<64xf32>
    %e = math.exp %d : tensor<64xf32>
    // CHECK: %[[SUM:.*]] = tile.reduce sum {{.*}} beyond_neutral
    // CHECK: %[[EMPTY:.*]] = arith.cmpi eq, %{{.*}}, %{{.*}} : index
    // CHECK: %[[ZERO:.*]] = tile.full
    // CHECK: %[[CHOSEN:.*]] = arith.select %[[EMPTY]], %[[ZERO]], %[[SUM]]
    // CHECK: tile.expand_dims %[[CHOSEN]]
    %s = tile.reduce sum %e axis 0 extent(%n) : tensor<64xf32> -> tensor<f32>
    %s1 = tile.expand_dims %s axis 0 : tensor<f32> -> tensor<1xf32>
    %sb = tile.broadcast %s1 : tensor<1xf32> -> tensor<64xf32>
    %q = arith.divf %e, %sb : tensor<64xf32>
    %r = arith.truncf %q : tensor<64xf32> to tensor<64xbf16>
    tile.store %r, %v[%c0] dims [0] extents(%n) : tensor<64xbf16>, !tile.view<1 x bf16>
  }
  tile.return
}

// -----

// The maximum of another tile proves nothing: m may be -inf where x is not.
// CHECK-LABEL: tile.kernel @other_maximum
tile.kernel @other_maximum(%x: !tile.pointer<f32> {tile.binding = 0 : i64},
                           %y: !tile.pointer<f32> {tile.binding = 1 : i64}, %n: index {tile.binding = 0 : i64}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %v = tile.view %x sizes(%n) strides(%c1) : !tile.pointer<f32> -> !tile.view<1 x f32>
  %w = tile.view %y sizes(%n) strides(%c1) : !tile.pointer<f32> -> !tile.view<1 x f32>
  tile.parallel (%c0) to (%c1) dims ["rows"] block_sizes [1] waves 1 {
  ^bb0(%row: index, %rows: index):
    %a = tile.load %v[%c0] dims [0] extents(%n) : !tile.view<1 x f32> -> tensor<64xf32>
    %b = tile.load %w[%c0] dims [0] extents(%n) : !tile.view<1 x f32> -> tensor<64xf32>
    %m = tile.reduce maximum %b axis 0 extent(%n) : tensor<64xf32> -> tensor<f32>
    %m1 = tile.expand_dims %m axis 0 : tensor<f32> -> tensor<1xf32>
    %mb = tile.broadcast %m1 : tensor<1xf32> -> tensor<64xf32>
    %d = arith.subf %a, %mb : tensor<64xf32>
    // CHECK: %[[E:.*]] = math.exp
    // CHECK: %[[F:.*]] = tile.fill_beyond %[[E]] axis 0 extent(%{{.*}}) with 0.000000e+00
    // CHECK: tile.reduce sum %[[F]] {{.*}} beyond_neutral
    %e = math.exp %d : tensor<64xf32>
    %s = tile.reduce sum %e axis 0 extent(%n) : tensor<64xf32> -> tensor<f32>
    tile.store %s, %v[%c0] dims [-1] : tensor<f32>, !tile.view<1 x f32>
  }
  tile.return
}

// -----

// A full tile holds its value beyond the extent too: full(1).sum() is n only if
// the rest is filled with zero.
// CHECK-LABEL: tile.kernel @ones
tile.kernel @ones(%x: !tile.pointer<f32> {tile.binding = 0 : i64}, %n: index {tile.binding = 0 : i64}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  %v = tile.view %x sizes(%n) strides(%c1) : !tile.pointer<f32> -> !tile.view<1 x f32>
  tile.parallel (%c0) to (%c1) dims ["rows"] block_sizes [1] waves 1 {
  ^bb0(%row: index, %rows: index):
    %full = tile.full %one : f32 -> tensor<64xf32>
    // CHECK: %[[F:.*]] = tile.fill_beyond %{{.*}} axis 0 extent(%{{.*}}) with 0.000000e+00 : f32
    // CHECK: tile.reduce sum %[[F]] {{.*}} beyond_neutral
    %s = tile.reduce sum %full axis 0 extent(%n) : tensor<64xf32> -> tensor<f32>
    // The product of ones needs none.
    // CHECK-NOT: tile.fill_beyond
    // CHECK: tile.reduce product {{.*}} beyond_neutral
    %p = tile.reduce product %full axis 0 extent(%n) : tensor<64xf32> -> tensor<f32>
    %r = arith.addf %s, %p : tensor<f32>
    tile.store %r, %v[%c0] dims [-1] : tensor<f32>, !tile.view<1 x f32>
  }
  tile.return
}

// -----

// x - mean is -mean beyond the extent, whatever x is there.
// CHECK-LABEL: tile.kernel @variance
tile.kernel @variance(%x: !tile.pointer<f32> {tile.binding = 0 : i64}, %n: index {tile.binding = 0 : i64},
                      %scale: f32 {tile.binding = 0 : i64}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %v = tile.view %x sizes(%n) strides(%c1) : !tile.pointer<f32> -> !tile.view<1 x f32>
  tile.parallel (%c0) to (%c1) dims ["rows"] block_sizes [1] waves 1 {
  ^bb0(%row: index, %rows: index):
    // CHECK: tile.load {{.*}}beyond = 0.000000e+00 : f32
    %a = tile.load %v[%c0] dims [0] extents(%n) : !tile.view<1 x f32> -> tensor<64xf32>
    %s = tile.reduce sum %a axis 0 extent(%n) : tensor<64xf32> -> tensor<f32>
    %s1 = tile.expand_dims %s axis 0 : tensor<f32> -> tensor<1xf32>
    %mean = tile.broadcast %s1 : tensor<1xf32> -> tensor<64xf32>
    %d = arith.subf %a, %mean : tensor<64xf32>
    %sq = arith.mulf %d, %d : tensor<64xf32>
    // CHECK: %[[F:.*]] = tile.fill_beyond
    // CHECK: tile.reduce sum %[[F]]
    %var = tile.reduce sum %sq axis 0 extent(%n) : tensor<64xf32> -> tensor<f32>
    tile.store %var, %v[%c0] dims [-1] : tensor<f32>, !tile.view<1 x f32>
  }
  tile.return
}

// -----

// Each load gets what its own consumers want; one that is only stored nothing.
// CHECK-LABEL: tile.kernel @preferences
tile.kernel @preferences(%x: !tile.pointer<f32> {tile.binding = 0 : i64},
                         %y: !tile.pointer<i32> {tile.binding = 1 : i64}, %n: index {tile.binding = 0 : i64}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %v = tile.view %x sizes(%n) strides(%c1) : !tile.pointer<f32> -> !tile.view<1 x f32>
  %w = tile.view %y sizes(%n) strides(%c1) : !tile.pointer<i32> -> !tile.view<1 x i32>
  tile.parallel (%c0) to (%c1) dims ["rows"] block_sizes [1] waves 1 {
  ^bb0(%row: index, %rows: index):
    // CHECK: tile.load {{.*}}beyond = 0x7F800000 : f32
    %a = tile.load %v[%c0] dims [0] extents(%n) : !tile.view<1 x f32> -> tensor<64xf32>
    %min = tile.reduce minimum %a axis 0 extent(%n) : tensor<64xf32> -> tensor<f32>
    // CHECK: tile.load {{.*}}beyond = 1.000000e+00 : f32
    %b = tile.load %v[%c0] dims [0] extents(%n) : !tile.view<1 x f32> -> tensor<64xf32>
    %prod = tile.reduce product %b axis 0 extent(%n) : tensor<64xf32> -> tensor<f32>
    // CHECK: tile.load {{.*}}beyond = -2147483648 : i32
    %c = tile.load %w[%c0] dims [0] extents(%n) : !tile.view<1 x i32> -> tensor<64xi32>
    %max = tile.reduce maximum %c axis 0 extent(%n) : tensor<64xi32> -> tensor<i32>
    // CHECK: tile.load {{.*}}beyond = -1 : i32
    %d = tile.load %w[%c0] dims [0] extents(%n) : !tile.view<1 x i32> -> tensor<64xi32>
    %and = tile.reduce and %d axis 0 extent(%n) : tensor<64xi32> -> tensor<i32>
    // CHECK: tile.load
    // CHECK-NOT: beyond
    // CHECK-SAME: tensor<64xf32>
    %e = tile.load %v[%c0] dims [0] extents(%n) : !tile.view<1 x f32> -> tensor<64xf32>
    // CHECK-NOT: tile.fill_beyond
    tile.store %e, %v[%c0] dims [0] extents(%n) : tensor<64xf32>, !tile.view<1 x f32>
    %r = arith.addf %min, %prod : tensor<f32>
    tile.store %r, %v[%c0] dims [-1] : tensor<f32>, !tile.view<1 x f32>
    %i = arith.addi %max, %and : tensor<i32>
    tile.store %i, %w[%c0] dims [-1] : tensor<i32>, !tile.view<1 x i32>
  }
  tile.return
}

// -----

// Two reductions of one load disagree: one of them gets a fill.
// CHECK-LABEL: tile.kernel @disagree
tile.kernel @disagree(%x: !tile.pointer<f32> {tile.binding = 0 : i64}, %n: index {tile.binding = 0 : i64}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %v = tile.view %x sizes(%n) strides(%c1) : !tile.pointer<f32> -> !tile.view<1 x f32>
  tile.parallel (%c0) to (%c1) dims ["rows"] block_sizes [1] waves 1 {
  ^bb0(%row: index, %rows: index):
    %a = tile.load %v[%c0] dims [0] extents(%n) : !tile.view<1 x f32> -> tensor<64xf32>
    // CHECK-COUNT-1: tile.fill_beyond
    // CHECK-NOT: tile.fill_beyond
    %min = tile.reduce minimum %a axis 0 extent(%n) : tensor<64xf32> -> tensor<f32>
    %max = tile.reduce maximum %a axis 0 extent(%n) : tensor<64xf32> -> tensor<f32>
    %r = arith.addf %min, %max : tensor<f32>
    tile.store %r, %v[%c0] dims [-1] : tensor<f32>, !tile.view<1 x f32>
  }
  tile.return
}

// -----

// Both operands of a dot hold zero beyond K. The last block of rows needs no more.
// CHECK-LABEL: tile.kernel @dot
tile.kernel @dot(%x: !tile.pointer<f16> {tile.binding = 0 : i64}, %y: !tile.pointer<f16> {tile.binding = 1 : i64},
                 %m: index {tile.binding = 0 : i64}, %k: index {tile.binding = 1 : i64}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %v = tile.view %x sizes(%m, %k) strides(%k, %c1) : !tile.pointer<f16> -> !tile.view<2 x f16>
  %w = tile.view %y sizes(%k, %m) strides(%m, %c1) : !tile.pointer<f16> -> !tile.view<2 x f16>
  tile.parallel (%c0) to (%m) dims ["rows"] block_sizes [16] waves 1 {
  ^bb0(%row: index, %rows: index):
    %init = tile.full %zero : f32 -> tensor<16x16xf32>
    %sum = tile.for (%c0) to (%k) dim "k" block_size 32 carries(%init) : tensor<16x16xf32> {
    ^bb0(%begin: index, %extent: index, %acc: tensor<16x16xf32>):
      // CHECK: tile.load {{.*}}beyond = 0.000000e+00 : f16
      %a = tile.load %v[%row, %begin] dims [0, 1] extents(%rows, %extent) : !tile.view<2 x f16> -> tensor<16x32xf16>
      // CHECK: tile.load {{.*}}beyond = 0.000000e+00 : f16
      %b = tile.load %w[%begin, %row] dims [0, 1] extents(%extent, %rows) : !tile.view<2 x f16> -> tensor<32x16xf16>
      %one = arith.constant 1.0 : f16
      %ones = tile.full %one : f16 -> tensor<32x16xf16>
      // CHECK: tile.dot %{{.*}} extent(%{{.*}}) beyond_neutral
      %c = tile.dot %a, %b, %acc extent(%extent) : tensor<16x32xf16>, tensor<32x16xf16>, tensor<16x16xf32>
      // Zero times one is zero, but the attribute promises zeros on both sides.
      // CHECK: tile.fill_beyond %{{.*}} axis 0
      // CHECK: tile.dot %{{.*}} extent(%{{.*}}) beyond_neutral
      %d = tile.dot %a, %ones, %c extent(%extent) : tensor<16x32xf16>, tensor<32x16xf16>, tensor<16x16xf32>
      tile.yield %d : tensor<16x16xf32>
    }
  }
  tile.return
}

// -----

// Indices that grow lose a tie beyond the extent; others are filled as well.
// CHECK-LABEL: tile.kernel @argmax
tile.kernel @argmax(%x: !tile.pointer<f32> {tile.binding = 0 : i64}, %y: !tile.pointer<i64> {tile.binding = 1 : i64},
                    %n: index {tile.binding = 0 : i64}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %v = tile.view %x sizes(%n) strides(%c1) : !tile.pointer<f32> -> !tile.view<1 x f32>
  %w = tile.view %y sizes(%n) strides(%c1) : !tile.pointer<i64> -> !tile.view<1 x i64>
  tile.parallel (%c0) to (%c1) dims ["rows"] block_sizes [1] waves 1 {
  ^bb0(%row: index, %rows: index):
    // CHECK: tile.load {{.*}}beyond = 0xFF800000 : f32
    %a = tile.load %v[%c0] dims [0] extents(%n) : !tile.view<1 x f32> -> tensor<64xf32>
    %iota = tile.iota : tensor<64xi64>
    // CHECK-NOT: tile.fill_beyond
    // CHECK: tile.arg_reduce maximum {{.*}} beyond_neutral
    %value, %index = tile.arg_reduce maximum %a, %iota axis 0 extent(%n)
        : tensor<64xf32>, tensor<64xi64> -> tensor<f32>, tensor<i64>
    %given = tile.load %w[%c0] dims [0] extents(%n) : !tile.view<1 x i64> -> tensor<64xi64>
    // CHECK: tile.fill_beyond {{.*}} with 0xFF800000 : f32
    // CHECK: tile.fill_beyond {{.*}} with 9223372036854775807 : i64
    // CHECK: tile.arg_reduce maximum {{.*}} beyond_neutral
    %value2, %index2 = tile.arg_reduce maximum %a, %given axis 0 extent(%n)
        : tensor<64xf32>, tensor<64xi64> -> tensor<f32>, tensor<i64>
    tile.store %value, %v[%c0] dims [-1] : tensor<f32>, !tile.view<1 x f32>
    tile.store %index2, %w[%c0] dims [-1] : tensor<i64>, !tile.view<1 x i64>
  }
  tile.return
}

// -----

// An accumulator over steps: what one step leaves beyond its extent is not what
// the next finds beyond its own, so the fill stays; in whole steps it goes.
// CHECK-LABEL: tile.kernel @accumulate
tile.kernel @accumulate(%x: !tile.pointer<f32> {tile.binding = 0 : i64}, %n: index {tile.binding = 0 : i64}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %one = arith.constant 1.0 : f32
  %zero = arith.constant 0.0 : f32
  %v = tile.view %x sizes(%n) strides(%c1) : !tile.pointer<f32> -> !tile.view<1 x f32>
  tile.parallel (%c0) to (%c1) dims ["rows"] block_sizes [1] waves 1 {
  ^bb0(%row: index, %rows: index):
    %init = tile.full %zero : f32 -> tensor<64xf32>
    // CHECK: full carries
    %whole = tile.for (%c0) to (%n) dim "i" block_size 64 full carries(%init) : tensor<64xf32> {
    ^bb0(%begin: index, %extent: index, %acc: tensor<64xf32>):
      %ones = tile.full %one : f32 -> tensor<64xf32>
      // CHECK-NOT: tile.fill_beyond
      %f = tile.fill_beyond %ones axis 0 extent(%extent) with 0.0 : f32 : tensor<64xf32>
      %next = arith.addf %acc, %f : tensor<64xf32>
      tile.yield %next : tensor<64xf32>
    }
    // CHECK: tile.for
    %all = tile.for (%c0) to (%n) dim "i" block_size 64 carries(%whole) : tensor<64xf32> {
    ^bb0(%begin: index, %extent: index, %acc: tensor<64xf32>):
      %ones = tile.full %one : f32 -> tensor<64xf32>
      // CHECK: tile.fill_beyond
      %f = tile.fill_beyond %ones axis 0 extent(%extent) with 0.0 : f32 : tensor<64xf32>
      // A load that is zero beyond needs none.
      // CHECK: tile.load {{.*}}beyond = 0.000000e+00
      // CHECK-NOT: tile.fill_beyond
      %a = tile.load %v[%begin] dims [0] extents(%extent) : !tile.view<1 x f32> -> tensor<64xf32>
      %g = tile.fill_beyond %a axis 0 extent(%extent) with 0.0 : f32 : tensor<64xf32>
      %sum = arith.addf %f, %g : tensor<64xf32>
      %next = arith.addf %acc, %sum : tensor<64xf32>
      tile.yield %next : tensor<64xf32>
    }
    // Nothing lies beyond the whole tile.
    // CHECK: tile.reduce sum {{.*}} beyond_neutral
    %s = tile.reduce sum %all axis 0 extent(%c64) : tensor<64xf32> -> tensor<f32>
    tile.store %s, %v[%c0] dims [-1] : tensor<f32>, !tile.view<1 x f32>
  }
  tile.return
}
