// RUN: split-file %s %t
// RUN: wavetile-compile %t/exp.mlir --target gfx950 --config n=256,rows=1,waves=1 --emit=isa | FileCheck %s --check-prefix=EXP --implicit-check-not=v_fma --implicit-check-not=v_cndmask_b32_e64
// RUN: wavetile-compile %t/exact-exp.mlir --target gfx950 --config n=256,rows=1,waves=1 --emit=isa | FileCheck %s --check-prefix=EXACT
// RUN: wavetile-compile %t/tanh.mlir --target gfx942 --config n=256,rows=1,waves=1 --emit=isa | FileCheck %s --check-prefix=TANH --implicit-check-not=s_swappc
// RUN: wavetile-compile %t/erf.mlir --target gfx1150 --config n=256,rows=1,waves=1 --emit=isa | FileCheck %s --check-prefix=ERF --implicit-check-not=s_swappc
// RUN: wavetile-compile %t/sin.mlir --target gfx950 --config n=256,rows=1,waves=1 --emit=isa | FileCheck %s --check-prefix=SIN
// RUN: wavetile-compile %t/rsqrt.mlir --target gfx950 --config n=256,rows=1,waves=1 --emit=isa | FileCheck %s --check-prefix=RSQRT
// RUN: not wavetile-compile %t/missing.mlir --target gfx950 --emit=isa 2>&1 | FileCheck %s --check-prefix=MISSING
// RUN: wavetile-compile %t/f64.mlir --target gfx950 --config n=256,rows=1,waves=1 --emit=isa | FileCheck %s --check-prefix=F64 --implicit-check-not=s_swappc

// Instructions and arithmetic, no device library. tests/python/test_math.py has the numbers.

// e^x is one exp2 with the factor folded.
// EXP: v_{{(pk_)?}}mul_f32
// EXP: v_exp_f32
// EXP: s_endpgm
// EXACT: v_fma_f32
// EXACT: v_exp_f32
// TANH: v_exp_f32
// TANH: v_rcp_f32
// TANH: v_bfi_b32
// ERF: v_fma{{.*}}_f32
// ERF: v_exp_f32
// ERF: v_bfi_b32
// The long reduction of a large angle is behind a branch.
// SIN: v_{{(pk_)?}}fma_f32
// SIN: s_cbranch_execz
// SIN: v_mad_u64_u32
// RSQRT: v_rsq_f32
// RSQRT: v_cvt_pk_bf16_f32
// MISSING: 'math.atan' on 'f32' has no lowering for gfx950
// F64: v_rndne_f64
// F64: v_fma_f64
// F64: v_ldexp_f64

//--- exp.mlir
tile.kernel @f(%xp: !tile.pointer<f32> {tile.align = 16 : i64, tile.binding = 0 : i64},
               %op: !tile.pointer<f32> {tile.align = 16 : i64, tile.binding = 1 : i64},
               %m: index {tile.binding = 0 : i64, tile.hint = 64 : i64},
               %n: index {tile.binding = 1 : i64, tile.divisor = 8 : i64, tile.hint = 1024 : i64}) attributes {disjoint} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x = tile.view %xp sizes(%m, %n) strides(%n, %c1) : !tile.pointer<f32> -> !tile.view<2 x f32>
  %o = tile.view %op sizes(%m, %n) strides(%n, %c1) : !tile.pointer<f32> -> !tile.view<2 x f32>
  tile.parallel (%c0) to (%m) dims ["rows"] {
  ^bb0(%i: index, %ie: index):
    %a = tile.load %x[%i, %c0] dims [0, 1] extents(%ie, %n) : !tile.view<2 x f32> -> tensor<?x?xf32, #tile.dims<[rows, n]>>
    %r = math.exp %a fastmath<afn,contract> : tensor<?x?xf32, #tile.dims<[rows, n]>>
    tile.store %r, %o[%i, %c0] dims [0, 1] extents(%ie, %n) : tensor<?x?xf32, #tile.dims<[rows, n]>>, !tile.view<2 x f32>
  }
  tile.return
}
//--- exact-exp.mlir
tile.kernel @f(%xp: !tile.pointer<f32> {tile.align = 16 : i64, tile.binding = 0 : i64},
               %op: !tile.pointer<f32> {tile.align = 16 : i64, tile.binding = 1 : i64},
               %m: index {tile.binding = 0 : i64, tile.hint = 64 : i64},
               %n: index {tile.binding = 1 : i64, tile.divisor = 8 : i64, tile.hint = 1024 : i64}) attributes {disjoint} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x = tile.view %xp sizes(%m, %n) strides(%n, %c1) : !tile.pointer<f32> -> !tile.view<2 x f32>
  %o = tile.view %op sizes(%m, %n) strides(%n, %c1) : !tile.pointer<f32> -> !tile.view<2 x f32>
  tile.parallel (%c0) to (%m) dims ["rows"] {
  ^bb0(%i: index, %ie: index):
    %a = tile.load %x[%i, %c0] dims [0, 1] extents(%ie, %n) : !tile.view<2 x f32> -> tensor<?x?xf32, #tile.dims<[rows, n]>>
    %r = math.exp %a : tensor<?x?xf32, #tile.dims<[rows, n]>>
    tile.store %r, %o[%i, %c0] dims [0, 1] extents(%ie, %n) : tensor<?x?xf32, #tile.dims<[rows, n]>>, !tile.view<2 x f32>
  }
  tile.return
}
//--- tanh.mlir
tile.kernel @f(%xp: !tile.pointer<f32> {tile.align = 16 : i64, tile.binding = 0 : i64},
               %op: !tile.pointer<f32> {tile.align = 16 : i64, tile.binding = 1 : i64},
               %m: index {tile.binding = 0 : i64, tile.hint = 64 : i64},
               %n: index {tile.binding = 1 : i64, tile.divisor = 8 : i64, tile.hint = 1024 : i64}) attributes {disjoint} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x = tile.view %xp sizes(%m, %n) strides(%n, %c1) : !tile.pointer<f32> -> !tile.view<2 x f32>
  %o = tile.view %op sizes(%m, %n) strides(%n, %c1) : !tile.pointer<f32> -> !tile.view<2 x f32>
  tile.parallel (%c0) to (%m) dims ["rows"] {
  ^bb0(%i: index, %ie: index):
    %a = tile.load %x[%i, %c0] dims [0, 1] extents(%ie, %n) : !tile.view<2 x f32> -> tensor<?x?xf32, #tile.dims<[rows, n]>>
    %r = math.tanh %a : tensor<?x?xf32, #tile.dims<[rows, n]>>
    tile.store %r, %o[%i, %c0] dims [0, 1] extents(%ie, %n) : tensor<?x?xf32, #tile.dims<[rows, n]>>, !tile.view<2 x f32>
  }
  tile.return
}
//--- erf.mlir
tile.kernel @f(%xp: !tile.pointer<f32> {tile.align = 16 : i64, tile.binding = 0 : i64},
               %op: !tile.pointer<f32> {tile.align = 16 : i64, tile.binding = 1 : i64},
               %m: index {tile.binding = 0 : i64, tile.hint = 64 : i64},
               %n: index {tile.binding = 1 : i64, tile.divisor = 8 : i64, tile.hint = 1024 : i64}) attributes {disjoint} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x = tile.view %xp sizes(%m, %n) strides(%n, %c1) : !tile.pointer<f32> -> !tile.view<2 x f32>
  %o = tile.view %op sizes(%m, %n) strides(%n, %c1) : !tile.pointer<f32> -> !tile.view<2 x f32>
  tile.parallel (%c0) to (%m) dims ["rows"] {
  ^bb0(%i: index, %ie: index):
    %a = tile.load %x[%i, %c0] dims [0, 1] extents(%ie, %n) : !tile.view<2 x f32> -> tensor<?x?xf32, #tile.dims<[rows, n]>>
    %r = math.erf %a : tensor<?x?xf32, #tile.dims<[rows, n]>>
    tile.store %r, %o[%i, %c0] dims [0, 1] extents(%ie, %n) : tensor<?x?xf32, #tile.dims<[rows, n]>>, !tile.view<2 x f32>
  }
  tile.return
}
//--- sin.mlir
tile.kernel @f(%xp: !tile.pointer<f32> {tile.align = 16 : i64, tile.binding = 0 : i64},
               %op: !tile.pointer<f32> {tile.align = 16 : i64, tile.binding = 1 : i64},
               %m: index {tile.binding = 0 : i64, tile.hint = 64 : i64},
               %n: index {tile.binding = 1 : i64, tile.divisor = 8 : i64, tile.hint = 1024 : i64}) attributes {disjoint} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x = tile.view %xp sizes(%m, %n) strides(%n, %c1) : !tile.pointer<f32> -> !tile.view<2 x f32>
  %o = tile.view %op sizes(%m, %n) strides(%n, %c1) : !tile.pointer<f32> -> !tile.view<2 x f32>
  tile.parallel (%c0) to (%m) dims ["rows"] {
  ^bb0(%i: index, %ie: index):
    %a = tile.load %x[%i, %c0] dims [0, 1] extents(%ie, %n) : !tile.view<2 x f32> -> tensor<?x?xf32, #tile.dims<[rows, n]>>
    %r = math.sin %a : tensor<?x?xf32, #tile.dims<[rows, n]>>
    tile.store %r, %o[%i, %c0] dims [0, 1] extents(%ie, %n) : tensor<?x?xf32, #tile.dims<[rows, n]>>, !tile.view<2 x f32>
  }
  tile.return
}
//--- rsqrt.mlir
tile.kernel @f(%xp: !tile.pointer<bf16> {tile.align = 16 : i64, tile.binding = 0 : i64},
               %op: !tile.pointer<bf16> {tile.align = 16 : i64, tile.binding = 1 : i64},
               %m: index {tile.binding = 0 : i64, tile.hint = 64 : i64},
               %n: index {tile.binding = 1 : i64, tile.divisor = 8 : i64, tile.hint = 1024 : i64}) attributes {disjoint} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x = tile.view %xp sizes(%m, %n) strides(%n, %c1) : !tile.pointer<bf16> -> !tile.view<2 x bf16>
  %o = tile.view %op sizes(%m, %n) strides(%n, %c1) : !tile.pointer<bf16> -> !tile.view<2 x bf16>
  tile.parallel (%c0) to (%m) dims ["rows"] {
  ^bb0(%i: index, %ie: index):
    %a = tile.load %x[%i, %c0] dims [0, 1] extents(%ie, %n) : !tile.view<2 x bf16> -> tensor<?x?xbf16, #tile.dims<[rows, n]>>
    %r = math.rsqrt %a fastmath<afn,contract> : tensor<?x?xbf16, #tile.dims<[rows, n]>>
    tile.store %r, %o[%i, %c0] dims [0, 1] extents(%ie, %n) : tensor<?x?xbf16, #tile.dims<[rows, n]>>, !tile.view<2 x bf16>
  }
  tile.return
}
//--- missing.mlir
tile.kernel @f(%xp: !tile.pointer<f32> {tile.align = 16 : i64, tile.binding = 0 : i64},
               %op: !tile.pointer<f32> {tile.align = 16 : i64, tile.binding = 1 : i64},
               %m: index {tile.binding = 0 : i64, tile.hint = 64 : i64},
               %n: index {tile.binding = 1 : i64, tile.divisor = 8 : i64, tile.hint = 1024 : i64}) attributes {disjoint} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x = tile.view %xp sizes(%m, %n) strides(%n, %c1) : !tile.pointer<f32> -> !tile.view<2 x f32>
  %o = tile.view %op sizes(%m, %n) strides(%n, %c1) : !tile.pointer<f32> -> !tile.view<2 x f32>
  tile.parallel (%c0) to (%m) dims ["rows"] {
  ^bb0(%i: index, %ie: index):
    %a = tile.load %x[%i, %c0] dims [0, 1] extents(%ie, %n) : !tile.view<2 x f32> -> tensor<?x?xf32, #tile.dims<[rows, n]>>
    %r = math.atan %a : tensor<?x?xf32, #tile.dims<[rows, n]>>
    tile.store %r, %o[%i, %c0] dims [0, 1] extents(%ie, %n) : tensor<?x?xf32, #tile.dims<[rows, n]>>, !tile.view<2 x f32>
  }
  tile.return
}
//--- f64.mlir
tile.kernel @f(%xp: !tile.pointer<f64> {tile.align = 16 : i64, tile.binding = 0 : i64},
               %op: !tile.pointer<f64> {tile.align = 16 : i64, tile.binding = 1 : i64},
               %m: index {tile.binding = 0 : i64, tile.hint = 64 : i64},
               %n: index {tile.binding = 1 : i64, tile.divisor = 8 : i64, tile.hint = 1024 : i64}) attributes {disjoint} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x = tile.view %xp sizes(%m, %n) strides(%n, %c1) : !tile.pointer<f64> -> !tile.view<2 x f64>
  %o = tile.view %op sizes(%m, %n) strides(%n, %c1) : !tile.pointer<f64> -> !tile.view<2 x f64>
  tile.parallel (%c0) to (%m) dims ["rows"] {
  ^bb0(%i: index, %ie: index):
    %a = tile.load %x[%i, %c0] dims [0, 1] extents(%ie, %n) : !tile.view<2 x f64> -> tensor<?x?xf64, #tile.dims<[rows, n]>>
    %r = math.exp %a : tensor<?x?xf64, #tile.dims<[rows, n]>>
    tile.store %r, %o[%i, %c0] dims [0, 1] extents(%ie, %n) : tensor<?x?xf64, #tile.dims<[rows, n]>>, !tile.view<2 x f64>
  }
  tile.return
}
