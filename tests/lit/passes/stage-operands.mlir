// RUN: wavetile-opt %s --tile-stage-operands --split-input-file | FileCheck %s

// A product of whole rows is in no loop: its operands are staged in the program itself, behind one
// barrier, for nothing can have read the buffers before.
// CHECK-LABEL: tile.program @outside_of_loops
// CHECK: %[[B:.*]] = tile.stage_alloc
// CHECK: %[[A:.*]] = tile.stage_alloc
// CHECK: %[[LHS:.*]] = tile.load
// CHECK: %[[RHS:.*]] = tile.load
// CHECK-NOT: tile.barrier
// CHECK: tile.stage_store %[[LHS]], %[[LEFT:[a-z0-9]+]]
// CHECK: tile.stage_store %[[RHS]], %[[RIGHT:[a-z0-9]+]]
// CHECK: tile.barrier
// CHECK: %[[X:.*]] = tile.stage_load %[[LEFT]]
// CHECK: %[[Y:.*]] = tile.stage_load %[[RIGHT]]
// CHECK: tile.dot %[[X]], %[[Y]]
tile.program @outside_of_loops(%a: !tile.pointer<bf16>, %b: !tile.pointer<bf16>, %o: !tile.pointer<f32>,
                               %m: index, %n: index, %k: index) attributes {waves = 2 : i64} {
  %zero = arith.constant 0.000000e+00 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x = tile.view %a sizes(%m, %k) strides(%k, %c1) : !tile.pointer<bf16> -> !tile.view<2 x bf16>
  %y = tile.view %b sizes(%k, %n) strides(%n, %c1) : !tile.pointer<bf16> -> !tile.view<2 x bf16>
  %z = tile.view %o sizes(%m, %n) strides(%n, %c1) : !tile.pointer<f32> -> !tile.view<2 x f32>
  %lhs = tile.load %x[%c0, %c0] dims [0, 1] extents(%m, %k) : !tile.view<2 x bf16> -> tensor<16x64xbf16>
  %rhs = tile.load %y[%c0, %c0] dims [0, 1] extents(%k, %n) : !tile.view<2 x bf16> -> tensor<64x32xbf16>
  %start = tile.full %zero : f32 -> tensor<16x32xf32>
  %product = tile.dot %lhs, %rhs, %start extent(%k) : tensor<16x64xbf16>, tensor<64x32xbf16>, tensor<16x32xf32>
  tile.store %product, %z[%c0, %c0] dims [0, 1] extents(%m, %n) : tensor<16x32xf32>, !tile.view<2 x f32>
  tile.return
}
