// Types and attributes are read back as they were written.
// RUN: wavetile-opt %s -allow-unregistered-dialect | wavetile-opt -allow-unregistered-dialect | FileCheck %s

// CHECK: t.names = [tensor<?x1xf32, #tile.dims<[rows, _]>>, tensor<?xi8, #tile.dims<["a b"]>>]
// CHECK-SAME: t.pointers = [!tile.pointer<bf16>, !tile.view<3 x f8E4M3FN>]
// CHECK-SAME: t.staging = !tile.staging<3 x{{ ?}}[128, 64] x bf16, unit>
module attributes {
  t.names = [tensor<?x1xf32, #tile.dims<[rows, _]>>, tensor<?xi8, #tile.dims<["a b"]>>],
  t.pointers = [!tile.pointer<bf16>, !tile.view<3 x f8E4M3FN>],
  t.staging = !tile.staging<3 x [128, 64] x bf16, unit>
} {
  tile.program @layout() attributes {waves = 1 : i64} {
    // Two texts of one layout are one attribute.
    // CHECK: %[[X:.*]] = arith.constant dense<0.000000e+00> : tensor<4x16xf32, #tile.layout<"[[LAYOUT:.*]]">>
    %x = arith.constant dense<0.0> : tensor<4x16xf32, #tile.layout<"register=[[0, 1]], lane=[[0, 2], [0, 4], [0, 8], [1, 0], [2, 0]], wave=[], shape=[4, 16]">>
    // CHECK: tile.convert_layout %[[X]] : tensor<4x16xf32, #tile.layout<"[[LAYOUT]]">> -> tensor<4x16xf32>
    %y = tile.convert_layout %x : tensor<4x16xf32, #tile.layout<"register=[[0,1]],   lane=[[0,2], [0,4], [0,8], [1,0], [2,0]],  wave=[], shape=[4,16]">> -> tensor<4x16xf32>
    tile.return
  }
}
