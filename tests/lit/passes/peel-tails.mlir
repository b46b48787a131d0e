// RUN: wavetile-opt %s --tile-peel-tails --split-input-file | FileCheck %s

// CHECK-LABEL: tile.kernel @copy(
// CHECK-SAME: %[[N:[a-z0-9]+]]: index {tile.binding = 0 : i64}
tile.kernel @copy(%x: !tile.pointer<f32> {tile.binding = 0 : i64},
                  %n: index {tile.binding = 0 : i64}, %m: index {tile.binding = 1 : i64}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %v = tile.view %x sizes(%n) strides(%c1) : !tile.pointer<f32> -> !tile.view<1 x f32>
  tile.parallel (%c0) to (%m) dims ["rows"] block_sizes [1] waves 1 {
  ^bb0(%row: index, %rows: index):
    // CHECK: %[[SIZE:.*]] = arith.constant 256 : index
    // CHECK: %[[REST:.*]] = arith.remui %[[N]], %[[SIZE]]
    // CHECK: %[[SPLIT:.*]] = arith.subi %[[N]], %[[REST]]
    // CHECK: tile.for(%{{.*}}) to(%[[SPLIT]]) dim "i" block_size 256 full {
    // CHECK: tile.load
    // CHECK: tile.for(%[[SPLIT]]) to(%[[N]]) dim "i" block_size 256 {
    // CHECK: tile.load
    // CHECK-NOT: tile.for
    tile.for (%c0) to (%n) dim "i" block_size 256 {
    ^bb0(%begin: index, %extent: index):
      %a = tile.load %v[%begin] dims [0] extents(%extent) : !tile.view<1 x f32> -> tensor<256xf32>
      tile.store %a, %v[%begin] dims [0] extents(%extent) : tensor<256xf32>, !tile.view<1 x f32>
    }
  }
  tile.return
}

// -----

// Carried values go through both loops; a lower bound that is not zero counts.
// CHECK-LABEL: tile.kernel @carried(
// CHECK-SAME: %[[L:[a-z0-9]+]]: index {tile.binding = 0 : i64}, %[[N:[a-z0-9]+]]: index
tile.kernel @carried(%x: !tile.pointer<f32> {tile.binding = 0 : i64},
                     %l: index {tile.binding = 0 : i64}, %n: index {tile.binding = 1 : i64}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %v = tile.view %x sizes(%n) strides(%c1) : !tile.pointer<f32> -> !tile.view<1 x f32>
  tile.parallel (%c0) to (%c1) dims ["rows"] block_sizes [1] waves 1 {
  ^bb0(%row: index, %rows: index):
    %init = tile.full %zero : f32 -> tensor<f32>
    // CHECK: %[[LENGTH:.*]] = arith.subi %[[N]], %[[L]]
    // CHECK: %[[POSITIVE:.*]] = arith.maxsi %[[LENGTH]]
    // CHECK: %[[REST:.*]] = arith.remui %[[POSITIVE]]
    // CHECK: %[[SPLIT:.*]] = arith.subi %[[N]], %[[REST]]
    // CHECK: %[[WHOLE:.*]] = tile.for(%[[L]]) to(%[[SPLIT]]) {{.*}} full carries(
    // CHECK: %[[ALL:.*]] = tile.for(%[[SPLIT]]) to(%[[N]]) {{.*}} carries(%[[WHOLE]])
    // CHECK: tile.store %[[ALL]]
    %sum = tile.for (%l) to (%n) dim "i" block_size 256 carries(%init) : tensor<f32> {
    ^bb0(%begin: index, %extent: index, %acc: tensor<f32>):
      %a = tile.load %v[%begin] dims [0] extents(%extent) : !tile.view<1 x f32> -> tensor<256xf32>
      %s = tile.reduce sum %a axis 0 extent(%extent) : tensor<256xf32> -> tensor<f32>
      %next = arith.addf %acc, %s : tensor<f32>
      tile.yield %next : tensor<f32>
    }
    tile.store %sum, %v[%c0] dims [-1] : tensor<f32>, !tile.view<1 x f32>
  }
  tile.return
}

// -----

// Steps that are known to be whole, and loops that mask nothing, stay one loop.
// CHECK-LABEL: tile.kernel @no_tail
tile.kernel @no_tail(%x: !tile.pointer<f32> {tile.binding = 0 : i64},
                     %n: index {tile.binding = 0 : i64, tile.divisor = 512 : i64},
                     %k: index {tile.binding = 1 : i64}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %v = tile.view %x sizes(%n) strides(%c1) : !tile.pointer<f32> -> !tile.view<1 x f32>
  tile.parallel (%c0) to (%c1) dims ["rows"] block_sizes [1] waves 1 {
  ^bb0(%row: index, %rows: index):
    // CHECK-COUNT-2: tile.for
    // CHECK-NOT: tile.for
    tile.for (%c0) to (%n) dim "i" block_size 256 {
    ^bb0(%begin: index, %extent: index):
      %a = tile.load %v[%begin] dims [0] extents(%extent) : !tile.view<1 x f32> -> tensor<256xf32>
      tile.store %a, %v[%begin] dims [0] extents(%extent) : tensor<256xf32>, !tile.view<1 x f32>
    }
    tile.for (%c0) to (%k) dim "k" block_size 8 {
    ^bb0(%begin: index, %extent: index):
      %a = tile.load %v[%c0] dims [0] extents(%n) : !tile.view<1 x f32> -> tensor<256xf32>
      tile.store %a, %v[%c0] dims [0] extents(%n) : tensor<256xf32>, !tile.view<1 x f32>
    }
  }
  tile.return
}

// -----

// A bound that is no size may be negative: then there is no step, and no rest.
// CHECK-LABEL: tile.kernel @scalar_bound(
// CHECK-SAME: %[[N:[a-z0-9]+]]: index {tile.binding = 0 : i64}, %[[K:[a-z0-9]+]]: index
tile.kernel @scalar_bound(%x: !tile.pointer<f32> {tile.binding = 0 : i64},
                          %n: index {tile.binding = 0 : i64}, %k: index {tile.binding = 1 : i64}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %v = tile.view %x sizes(%n) strides(%c1) : !tile.pointer<f32> -> !tile.view<1 x f32>
  tile.parallel (%c0) to (%c1) dims ["rows"] block_sizes [1] waves 1 {
  ^bb0(%row: index, %rows: index):
    // CHECK: %[[POSITIVE:.*]] = arith.maxsi %[[K]]
    // CHECK: %[[REST:.*]] = arith.remui %[[POSITIVE]]
    // CHECK: %[[SPLIT:.*]] = arith.subi %[[K]], %[[REST]]
    // CHECK: tile.for(%{{.*}}) to(%[[SPLIT]]) dim "i" block_size 256 full {
    // CHECK: tile.for(%[[SPLIT]]) to(%[[K]]) dim "i" block_size 256 {
    tile.for (%c0) to (%k) dim "i" block_size 256 {
    ^bb0(%begin: index, %extent: index):
      %a = tile.load %v[%begin] dims [0] extents(%extent) : !tile.view<1 x f32> -> tensor<256xf32>
      tile.store %a, %v[%begin] dims [0] extents(%extent) : tensor<256xf32>, !tile.view<1 x f32>
    }
  }
  tile.return
}
