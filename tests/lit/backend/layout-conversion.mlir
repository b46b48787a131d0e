// RUN: wavetile-opt %s --rocm-pipeline --target gfx950 --split-input-file | FileCheck %s --check-prefixes=CHECK,SWAP
// RUN: wavetile-opt %s --rocm-pipeline --target gfx942 --split-input-file | FileCheck %s --check-prefixes=CHECK,DPP

// A value is moved by the cheapest means that fits: other registers of the lane.
// CHECK-LABEL: llvm.func @registers
// CHECK-NOT: llvm.call_intrinsic "llvm.amdgcn.{{update|permlane|ds}}
// CHECK-NOT: llvm.store
// CHECK: llvm.return
tile.program @registers() attributes {waves = 1 : i64} {
  %a = tile.iota : tensor<256xi32, #tile.layout<"register=[[1], [128]], lane=[[2], [4], [8], [16], [32], [64]], wave=[], shape=[256]">>
  %b = tile.convert_layout %a : tensor<256xi32, #tile.layout<"register=[[1], [128]], lane=[[2], [4], [8], [16], [32], [64]], wave=[], shape=[256]">> -> tensor<256xi32, #tile.layout<"register=[[128], [1]], lane=[[2], [4], [8], [16], [32], [64]], wave=[], shape=[256]">>
  tile.return
}

// -----

// The other half of the wave trades registers.
// CHECK-LABEL: llvm.func @halves
// SWAP: llvm.call_intrinsic "llvm.amdgcn.permlane32.swap"
// DPP: llvm.select
// DPP: llvm.call_intrinsic "llvm.amdgcn.ds.bpermute"
// CHECK-NOT: llvm.call_intrinsic
// CHECK-NOT: llvm.store
// CHECK: llvm.return
tile.program @halves() attributes {waves = 1 : i64} {
  %a = tile.iota : tensor<128xi32, #tile.layout<"register=[[1]], lane=[[2], [4], [8], [16], [32], [64]], wave=[], shape=[128]">>
  %b = tile.convert_layout %a : tensor<128xi32, #tile.layout<"register=[[1]], lane=[[2], [4], [8], [16], [32], [64]], wave=[], shape=[128]">> -> tensor<128xi32, #tile.layout<"register=[[64]], lane=[[2], [4], [8], [16], [32], [1]], wave=[], shape=[128]">>
  tile.return
}

// -----

// Neighbours trade registers: one cross-lane move and three selects for two registers.
// CHECK-LABEL: llvm.func @neighbours
// CHECK: llvm.select
// CHECK: llvm.call_intrinsic "llvm.amdgcn.update.dpp.i32"
// CHECK: llvm.select
// CHECK: llvm.select
// CHECK-NOT: llvm.call_intrinsic
// CHECK-NOT: llvm.store
// CHECK: llvm.return
tile.program @neighbours() attributes {waves = 1 : i64} {
  %a = tile.iota : tensor<128xi32, #tile.layout<"register=[[64]], lane=[[1], [2], [4], [8], [16], [32]], wave=[], shape=[128]">>
  %b = tile.convert_layout %a : tensor<128xi32, #tile.layout<"register=[[64]], lane=[[1], [2], [4], [8], [16], [32]], wave=[], shape=[128]">> -> tensor<128xi32, #tile.layout<"register=[[1]], lane=[[64], [2], [4], [8], [16], [32]], wave=[], shape=[128]">>
  tile.return
}

// -----

// 16-bit registers trade places in pairs: four registers are two words.
// CHECK-LABEL: llvm.func @pairs
// SWAP-COUNT-1: llvm.call_intrinsic "llvm.amdgcn.permlane32.swap"
// DPP-COUNT-1: llvm.call_intrinsic "llvm.amdgcn.ds.bpermute"
// CHECK-NOT: llvm.call_intrinsic
// CHECK: llvm.return
tile.program @pairs() attributes {waves = 1 : i64} {
  %a = tile.iota : tensor<256xi32, #tile.layout<"register=[[1], [2]], lane=[[4], [8], [16], [32], [64], [128]], wave=[], shape=[256]">>
  %t = arith.trunci %a : tensor<256xi32, #tile.layout<"register=[[1], [2]], lane=[[4], [8], [16], [32], [64], [128]], wave=[], shape=[256]">> to tensor<256xi16, #tile.layout<"register=[[1], [2]], lane=[[4], [8], [16], [32], [64], [128]], wave=[], shape=[256]">>
  %b = tile.convert_layout %t : tensor<256xi16, #tile.layout<"register=[[1], [2]], lane=[[4], [8], [16], [32], [64], [128]], wave=[], shape=[256]">> -> tensor<256xi16, #tile.layout<"register=[[1], [128]], lane=[[4], [8], [16], [32], [64], [2]], wave=[], shape=[256]">>
  tile.return
}

// -----

// The second register is that of the lane next to it: lane ^ 1.
// CHECK-LABEL: llvm.func @butterfly
// CHECK: llvm.mlir.constant(177 : i32)
// CHECK: llvm.call_intrinsic "llvm.amdgcn.update.dpp.i32"
// CHECK-NOT: llvm.select
// CHECK: llvm.return
tile.program @butterfly() attributes {waves = 1 : i64} {
  %a = tile.iota : tensor<128xi32, #tile.layout<"register=[[64]], lane=[[1], [2], [4], [8], [16], [32]], wave=[], shape=[128]">>
  %b = tile.convert_layout %a : tensor<128xi32, #tile.layout<"register=[[64]], lane=[[1], [2], [4], [8], [16], [32]], wave=[], shape=[128]">> -> tensor<128xi32, #tile.layout<"register=[[65]], lane=[[1], [2], [4], [8], [16], [32]], wave=[], shape=[128]">>
  tile.return
}

// -----

// Through LDS once waves are involved; between the barriers nothing but the two accesses.
// CHECK-LABEL: llvm.mlir.global internal @waves_lds
// CHECK-SAME: !llvm.array<512 x i8>
// CHECK: llvm.func @waves
// CHECK: llvm.store {{.*}} : i32, !llvm.ptr<3>
// CHECK: llvm.fence syncscope("workgroup") release
// CHECK: llvm.call_intrinsic "llvm.amdgcn.s.barrier"
// CHECK: llvm.fence syncscope("workgroup") acquire
// CHECK: llvm.load {{.*}} : !llvm.ptr<3> -> i32
// CHECK: llvm.return
tile.program @waves() attributes {waves = 2 : i64} {
  %a = tile.iota : tensor<128xi32, #tile.layout<"register=[], lane=[[1], [2], [4], [8], [16], [32]], wave=[[64]], shape=[128]">>
  %b = tile.convert_layout %a : tensor<128xi32, #tile.layout<"register=[], lane=[[1], [2], [4], [8], [16], [32]], wave=[[64]], shape=[128]">> -> tensor<128xi32, #tile.layout<"register=[], lane=[[64], [2], [4], [8], [16], [32]], wave=[[1]], shape=[128]">>
  tile.return
}

// -----

// Only the canonical copy of an element is written: here the first wave's.
// CHECK-LABEL: llvm.func @copies
// CHECK: %[[IS_FIRST:.*]] = llvm.icmp "eq"
// CHECK: llvm.cond_br %[[IS_FIRST]], ^[[WRITE:.*]], ^{{.*}}
// CHECK: ^[[WRITE]]:
// CHECK: llvm.store {{.*}} !llvm.ptr<3>
// CHECK: llvm.return
tile.program @copies() attributes {waves = 2 : i64} {
  %a = tile.iota : tensor<64xi32, #tile.layout<"register=[], lane=[[1], [2], [4], [8], [16], [32]], wave=[[0]], shape=[64]">>
  %b = tile.convert_layout %a : tensor<64xi32, #tile.layout<"register=[], lane=[[1], [2], [4], [8], [16], [32]], wave=[[0]], shape=[64]">> -> tensor<64xi32, #tile.layout<"register=[], lane=[[1], [2], [4], [8], [16], [0]], wave=[[32]], shape=[64]">>
  tile.return
}
