// RUN: split-file %s %t
// RUN: wavetile-compile %t/bf16.mlir --target gfx950 --config n=1024,rows=1,waves=1 --emit=isa | FileCheck %s --check-prefix=BF16-950
// RUN: wavetile-compile %t/bf16.mlir --target gfx942 --config n=1024,rows=1,waves=1 --emit=isa | FileCheck %s --check-prefix=BF16-942
// RUN: wavetile-compile %t/bf16.mlir --target gfx1150 --config n=1024,rows=1,waves=1 --emit=isa | FileCheck %s --check-prefix=BF16-1150
// RUN: wavetile-compile %t/f16.mlir --target gfx950 --config n=1024,rows=1,waves=1 --emit=isa | FileCheck %s --check-prefix=F16
// RUN: wavetile-compile %t/f16.mlir --target gfx942 --config n=1024,rows=1,waves=1 --emit=isa | FileCheck %s --check-prefix=F16
// RUN: wavetile-compile %t/to-e4m3fn.mlir --target gfx950 --config n=1024,rows=1,waves=1 --emit=isa | FileCheck %s --check-prefix=E4M3-NATIVE
// RUN: wavetile-compile %t/to-e4m3fn.mlir --target gfx942 --config n=1024,rows=1,waves=1 --emit=isa | FileCheck %s --check-prefix=E4M3-BITS --implicit-check-not=v_cvt_pk_fp8
// RUN: wavetile-compile %t/to-e5m2fnuz.mlir --target gfx942 --config n=1024,rows=1,waves=1 --emit=isa | FileCheck %s --check-prefix=E5M2FNUZ-NATIVE
// RUN: wavetile-compile %t/to-e5m2fnuz.mlir --target gfx950 --config n=1024,rows=1,waves=1 --emit=isa | FileCheck %s --check-prefix=E5M2FNUZ-BITS --implicit-check-not=v_cvt_pk_bf8
// RUN: wavetile-compile %t/from-e4m3fnuz.mlir --target gfx942 --config n=1024,rows=1,waves=1 --emit=isa | FileCheck %s --check-prefix=FROM-NATIVE
// RUN: wavetile-compile %t/from-e4m3fnuz.mlir --target gfx1150 --config n=1024,rows=1,waves=1 --emit=isa | FileCheck %s --check-prefix=FROM-BITS --implicit-check-not=v_cvt_pk_f32_fp8
// RUN: wavetile-compile %t/from-e5m2.mlir --target gfx950 --config n=1024,rows=1,waves=1 --emit=isa | FileCheck %s --check-prefix=FROM-E5M2

// Hardware conversions where the target has them. tests/python/test_float_conversions.py has the
// numbers.

// BF16-950: v_cvt_pk_bf16_f32
// Round to nearest even on the bits, NaN by one select.
// BF16-942: v_bfe_u32
// BF16-942: v_add3_u32
// BF16-942: v_cmp_{{u|o}}_f32
// BF16-942: v_cndmask_b32
// BF16-942-NOT: v_lshrrev_b32
// BF16-942: v_perm_b32
// BF16-1150: v_bfe_u32
// BF16-1150: v_add3_u32
// BF16-1150: v_{{(dual_)?}}cndmask_b32
// BF16-1150: v_perm_b32
// F16: v_cvt_{{(pk_)?}}f16_f32

// e4m3fn saturates, which the instruction does not.
// E4M3-NATIVE: v_{{med3|min|max}}
// E4M3-NATIVE: v_cvt_pk_fp8_f32
// E4M3-BITS: v_cndmask_b32
// E5M2FNUZ-NATIVE: v_cvt_pk_bf8_f32
// E5M2FNUZ-BITS: v_cndmask_b32
// FROM-NATIVE: v_cvt_pk_f32_fp8
// FROM-BITS: v_cndmask_b32
// FROM-E5M2: v_cvt_pk_f32_bf8
// FROM-E5M2: v_cvt_pk_bf16_f32

//--- bf16.mlir
tile.kernel @f(%xp: !tile.pointer<f32> {tile.align = 16 : i64, tile.binding = 0 : i64},
               %op: !tile.pointer<bf16> {tile.align = 16 : i64, tile.binding = 1 : i64},
               %m: index {tile.binding = 0 : i64, tile.hint = 64 : i64},
               %n: index {tile.binding = 1 : i64, tile.divisor = 16 : i64, tile.hint = 1024 : i64}) attributes {disjoint} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x = tile.view %xp sizes(%m, %n) strides(%n, %c1) : !tile.pointer<f32> -> !tile.view<2 x f32>
  %o = tile.view %op sizes(%m, %n) strides(%n, %c1) : !tile.pointer<bf16> -> !tile.view<2 x bf16>
  tile.parallel (%c0) to (%m) dims ["rows"] {
  ^bb0(%i: index, %ie: index):
    %a = tile.load %x[%i, %c0] dims [0, 1] extents(%ie, %n) : !tile.view<2 x f32> -> tensor<?x?xf32, #tile.dims<[rows, n]>>
    %r = arith.truncf %a : tensor<?x?xf32, #tile.dims<[rows, n]>> to tensor<?x?xbf16, #tile.dims<[rows, n]>>
    tile.store %r, %o[%i, %c0] dims [0, 1] extents(%ie, %n) : tensor<?x?xbf16, #tile.dims<[rows, n]>>, !tile.view<2 x bf16>
  }
  tile.return
}
//--- f16.mlir
tile.kernel @f(%xp: !tile.pointer<f32> {tile.align = 16 : i64, tile.binding = 0 : i64},
               %op: !tile.pointer<f16> {tile.align = 16 : i64, tile.binding = 1 : i64},
               %m: index {tile.binding = 0 : i64, tile.hint = 64 : i64},
               %n: index {tile.binding = 1 : i64, tile.divisor = 16 : i64, tile.hint = 1024 : i64}) attributes {disjoint} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x = tile.view %xp sizes(%m, %n) strides(%n, %c1) : !tile.pointer<f32> -> !tile.view<2 x f32>
  %o = tile.view %op sizes(%m, %n) strides(%n, %c1) : !tile.pointer<f16> -> !tile.view<2 x f16>
  tile.parallel (%c0) to (%m) dims ["rows"] {
  ^bb0(%i: index, %ie: index):
    %a = tile.load %x[%i, %c0] dims [0, 1] extents(%ie, %n) : !tile.view<2 x f32> -> tensor<?x?xf32, #tile.dims<[rows, n]>>
    %r = arith.truncf %a : tensor<?x?xf32, #tile.dims<[rows, n]>> to tensor<?x?xf16, #tile.dims<[rows, n]>>
    tile.store %r, %o[%i, %c0] dims [0, 1] extents(%ie, %n) : tensor<?x?xf16, #tile.dims<[rows, n]>>, !tile.view<2 x f16>
  }
  tile.return
}
//--- to-e4m3fn.mlir
tile.kernel @f(%xp: !tile.pointer<f32> {tile.align = 16 : i64, tile.binding = 0 : i64},
               %op: !tile.pointer<f8E4M3FN> {tile.align = 16 : i64, tile.binding = 1 : i64},
               %m: index {tile.binding = 0 : i64, tile.hint = 64 : i64},
               %n: index {tile.binding = 1 : i64, tile.divisor = 16 : i64, tile.hint = 1024 : i64}) attributes {disjoint} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x = tile.view %xp sizes(%m, %n) strides(%n, %c1) : !tile.pointer<f32> -> !tile.view<2 x f32>
  %o = tile.view %op sizes(%m, %n) strides(%n, %c1) : !tile.pointer<f8E4M3FN> -> !tile.view<2 x f8E4M3FN>
  tile.parallel (%c0) to (%m) dims ["rows"] {
  ^bb0(%i: index, %ie: index):
    %a = tile.load %x[%i, %c0] dims [0, 1] extents(%ie, %n) : !tile.view<2 x f32> -> tensor<?x?xf32, #tile.dims<[rows, n]>>
    %r = arith.truncf %a : tensor<?x?xf32, #tile.dims<[rows, n]>> to tensor<?x?xf8E4M3FN, #tile.dims<[rows, n]>>
    tile.store %r, %o[%i, %c0] dims [0, 1] extents(%ie, %n) : tensor<?x?xf8E4M3FN, #tile.dims<[rows, n]>>, !tile.view<2 x f8E4M3FN>
  }
  tile.return
}
//--- to-e5m2fnuz.mlir
tile.kernel @f(%xp: !tile.pointer<bf16> {tile.align = 16 : i64, tile.binding = 0 : i64},
               %op: !tile.pointer<f8E5M2FNUZ> {tile.align = 16 : i64, tile.binding = 1 : i64},
               %m: index {tile.binding = 0 : i64, tile.hint = 64 : i64},
               %n: index {tile.binding = 1 : i64, tile.divisor = 16 : i64, tile.hint = 1024 : i64}) attributes {disjoint} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x = tile.view %xp sizes(%m, %n) strides(%n, %c1) : !tile.pointer<bf16> -> !tile.view<2 x bf16>
  %o = tile.view %op sizes(%m, %n) strides(%n, %c1) : !tile.pointer<f8E5M2FNUZ> -> !tile.view<2 x f8E5M2FNUZ>
  tile.parallel (%c0) to (%m) dims ["rows"] {
  ^bb0(%i: index, %ie: index):
    %a = tile.load %x[%i, %c0] dims [0, 1] extents(%ie, %n) : !tile.view<2 x bf16> -> tensor<?x?xbf16, #tile.dims<[rows, n]>>
    %r = arith.truncf %a : tensor<?x?xbf16, #tile.dims<[rows, n]>> to tensor<?x?xf8E5M2FNUZ, #tile.dims<[rows, n]>>
    tile.store %r, %o[%i, %c0] dims [0, 1] extents(%ie, %n) : tensor<?x?xf8E5M2FNUZ, #tile.dims<[rows, n]>>, !tile.view<2 x f8E5M2FNUZ>
  }
  tile.return
}
//--- from-e4m3fnuz.mlir
tile.kernel @f(%xp: !tile.pointer<f8E4M3FNUZ> {tile.align = 16 : i64, tile.binding = 0 : i64},
               %op: !tile.pointer<f32> {tile.align = 16 : i64, tile.binding = 1 : i64},
               %m: index {tile.binding = 0 : i64, tile.hint = 64 : i64},
               %n: index {tile.binding = 1 : i64, tile.divisor = 16 : i64, tile.hint = 1024 : i64}) attributes {disjoint} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x = tile.view %xp sizes(%m, %n) strides(%n, %c1) : !tile.pointer<f8E4M3FNUZ> -> !tile.view<2 x f8E4M3FNUZ>
  %o = tile.view %op sizes(%m, %n) strides(%n, %c1) : !tile.pointer<f32> -> !tile.view<2 x f32>
  tile.parallel (%c0) to (%m) dims ["rows"] {
  ^bb0(%i: index, %ie: index):
    %a = tile.load %x[%i, %c0] dims [0, 1] extents(%ie, %n) : !tile.view<2 x f8E4M3FNUZ> -> tensor<?x?xf8E4M3FNUZ, #tile.dims<[rows, n]>>
    %r = arith.extf %a : tensor<?x?xf8E4M3FNUZ, #tile.dims<[rows, n]>> to tensor<?x?xf32, #tile.dims<[rows, n]>>
    tile.store %r, %o[%i, %c0] dims [0, 1] extents(%ie, %n) : tensor<?x?xf32, #tile.dims<[rows, n]>>, !tile.view<2 x f32>
  }
  tile.return
}
//--- from-e5m2.mlir
tile.kernel @f(%xp: !tile.pointer<f8E5M2> {tile.align = 16 : i64, tile.binding = 0 : i64},
               %op: !tile.pointer<bf16> {tile.align = 16 : i64, tile.binding = 1 : i64},
               %m: index {tile.binding = 0 : i64, tile.hint = 64 : i64},
               %n: index {tile.binding = 1 : i64, tile.divisor = 16 : i64, tile.hint = 1024 : i64}) attributes {disjoint} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x = tile.view %xp sizes(%m, %n) strides(%n, %c1) : !tile.pointer<f8E5M2> -> !tile.view<2 x f8E5M2>
  %o = tile.view %op sizes(%m, %n) strides(%n, %c1) : !tile.pointer<bf16> -> !tile.view<2 x bf16>
  tile.parallel (%c0) to (%m) dims ["rows"] {
  ^bb0(%i: index, %ie: index):
    %a = tile.load %x[%i, %c0] dims [0, 1] extents(%ie, %n) : !tile.view<2 x f8E5M2> -> tensor<?x?xf8E5M2, #tile.dims<[rows, n]>>
    %r = arith.extf %a : tensor<?x?xf8E5M2, #tile.dims<[rows, n]>> to tensor<?x?xbf16, #tile.dims<[rows, n]>>
    tile.store %r, %o[%i, %c0] dims [0, 1] extents(%ie, %n) : tensor<?x?xbf16, #tile.dims<[rows, n]>>, !tile.view<2 x bf16>
  }
  tile.return
}
