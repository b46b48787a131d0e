// RUN: wavetile-opt %s --tile-stage-operands --split-input-file | FileCheck %s

// Both operands go through LDS; the first barrier lets the step before finish reading.
// CHECK-LABEL: tile.program @product
// CHECK-DAG: %[[A:.*]] = tile.stage_alloc : <1 x [64, 32] x bf16, unit>
// CHECK-DAG: %[[B:.*]] = tile.stage_alloc : <1 x [32, 128] x bf16, unit>
// CHECK: tile.for
// CHECK: %[[LHS:.*]] = tile.load
// CHECK: %[[RHS:.*]] = tile.load
// CHECK: tile.barrier
// CHECK-NEXT: %[[ZERO:.*]] = arith.constant 0 : index
// CHECK: tile.stage_store %[[LHS]], %[[A]]
// CHECK: tile.stage_store %[[RHS]], %[[B]]
// CHECK-NEXT: tile.barrier
// CHECK: %[[LHS2:.*]] = tile.stage_load %[[A]]
// CHECK: %[[RHS2:.*]] = tile.stage_load %[[B]]
// CHECK: tile.dot %[[LHS2]], %[[RHS2]]
tile.program @product(%p: !tile.pointer<bf16>, %q: !tile.pointer<bf16>, %n: index) attributes {waves = 4 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %x = tile.view %p sizes(%n, %n) strides(%n, %c1) : !tile.pointer<bf16> -> !tile.view<2 x bf16>
  %y = tile.view %q sizes(%n, %n) strides(%n, %c1) : !tile.pointer<bf16> -> !tile.view<2 x bf16>
  %init = tile.full %zero : f32 -> tensor<64x128xf32>
  %r = tile.for (%c0) to (%n) dim "k" block_size 32 carries(%init) : tensor<64x128xf32> {
  ^bb0(%k: index, %e: index, %acc: tensor<64x128xf32>):
    %a = tile.load %x[%c0, %k] dims [0, 1] extents(%n, %e) : !tile.view<2 x bf16> -> tensor<64x32xbf16>
    %b = tile.load %y[%k, %c0] dims [0, 1] extents(%e, %n) : !tile.view<2 x bf16> -> tensor<32x128xbf16>
    %d = tile.dot %a, %b, %acc extent(%e) : tensor<64x32xbf16>, tensor<32x128xbf16>, tensor<64x128xf32>
    tile.yield %d : tensor<64x128xf32>
  }
  tile.return
}

// -----

// Loops that follow one another fill the same buffers.
// CHECK-LABEL: tile.program @peeled
// CHECK-COUNT-2: tile.stage_alloc
// CHECK-NOT: tile.stage_alloc
// CHECK: tile.return
tile.program @peeled(%p: !tile.pointer<bf16>, %q: !tile.pointer<bf16>, %n: index, %whole: index) attributes {waves = 4 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %x = tile.view %p sizes(%n, %n) strides(%n, %c1) : !tile.pointer<bf16> -> !tile.view<2 x bf16>
  %y = tile.view %q sizes(%n, %n) strides(%n, %c1) : !tile.pointer<bf16> -> !tile.view<2 x bf16>
  %init = tile.full %zero : f32 -> tensor<64x128xf32>
  %r = tile.for (%c0) to (%whole) dim "k" block_size 32 full carries(%init) : tensor<64x128xf32> {
  ^bb0(%k: index, %e: index, %acc: tensor<64x128xf32>):
    %a = tile.load %x[%c0, %k] dims [0, 1] extents(%n, %e) : !tile.view<2 x bf16> -> tensor<64x32xbf16>
    %b = tile.load %y[%k, %c0] dims [0, 1] extents(%e, %n) : !tile.view<2 x bf16> -> tensor<32x128xbf16>
    %d = tile.dot %a, %b, %acc extent(%e) : tensor<64x32xbf16>, tensor<32x128xbf16>, tensor<64x128xf32>
    tile.yield %d : tensor<64x128xf32>
  }
  %s = tile.for (%whole) to (%n) dim "k" block_size 32 carries(%r) : tensor<64x128xf32> {
  ^bb0(%k: index, %e: index, %acc: tensor<64x128xf32>):
    %a = tile.load %x[%c0, %k] dims [0, 1] extents(%n, %e) : !tile.view<2 x bf16> -> tensor<64x32xbf16>
    %b = tile.load %y[%k, %c0] dims [0, 1] extents(%e, %n) : !tile.view<2 x bf16> -> tensor<32x128xbf16>
    %d = tile.dot %a, %b, %acc extent(%e) : tensor<64x32xbf16>, tensor<32x128xbf16>, tensor<64x128xf32>
    tile.yield %d : tensor<64x128xf32>
  }
  tile.return
}

// -----

// An operand from outside of the loop is written once, and one that is both operands too.
// CHECK-LABEL: tile.program @square
// CHECK: %[[S:.*]] = tile.stage_alloc : <1 x [64, 64] x bf16, unit>
// CHECK-NOT: tile.stage_alloc
// CHECK: tile.load
// CHECK-NOT: tile.barrier
// CHECK: tile.stage_store
// CHECK-NEXT: tile.barrier
// CHECK: tile.stage_load %[[S]]
// CHECK: tile.stage_load %[[S]]
// CHECK-NOT: tile.barrier
// CHECK: tile.dot
tile.program @square(%p: !tile.pointer<bf16>, %n: index) attributes {waves = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %x = tile.view %p sizes(%n, %n) strides(%n, %c1) : !tile.pointer<bf16> -> !tile.view<2 x bf16>
  %init = tile.full %zero : f32 -> tensor<64x64xf32>
  %a = tile.load %x[%c0, %c0] dims [0, 1] extents(%n, %n) : !tile.view<2 x bf16> -> tensor<64x64xbf16>
  %d = tile.dot %a, %a, %init extent(%n) : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
  tile.return
}
