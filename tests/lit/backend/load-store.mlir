// RUN: split-file %s %t
// RUN: wavetile-compile %t/even.mlir --target gfx950 --config n=1024,rows=1,waves=1 --emit=isa | FileCheck %s --check-prefix=EVEN --implicit-check-not='buffer_{{load|store}}_{{u|s|dword }}' --implicit-check-not=s_cbranch
// RUN: wavetile-compile %t/odd.mlir --target gfx950 --config n=512,rows=1,waves=1 --emit=isa | FileCheck %s --check-prefix=ODD
// RUN: wavetile-compile %t/odd.mlir --target gfx950 --config n=1024,rows=1,waves=1 --emit=isa | FileCheck %s --check-prefix=FIRST
// RUN: wavetile-compile %t/odd.mlir --target gfx1150 --config n=256,rows=1,waves=1 --emit=isa | FileCheck %s --check-prefix=ODD11
// RUN: wavetile-compile %t/wide.mlir --target gfx942 --config n=512,rows=1,waves=1 --emit=isa | FileCheck %s --check-prefix=WIDE --implicit-check-not=buffer_

// The row's length is a multiple of a vector: lanes are kept out by an offset beyond the descriptor's
// range, without a branch.
// EVEN-LABEL: even_
// EVEN: v_cmp_gt_i32
// EVEN: v_cndmask_b32
// EVEN: buffer_load_dwordx4
// EVEN: buffer_load_dwordx4
// EVEN: buffer_store_dwordx4
// EVEN: buffer_store_dwordx4
// EVEN: s_endpgm

// The row may end within a vector: whole vectors as before, and the rest in halves, behind a branch
// that most waves jump over.
// ODD-LABEL: odd_
// ODD: buffer_load_dwordx4
// ODD: s_cbranch_execz
// ODD: buffer_load_dwordx2
// ODD: buffer_load_dword
// ODD: buffer_load_ushort
// ODD: buffer_store_dwordx4
// ODD: s_cbranch_execz
// ODD: buffer_store_dwordx2
// ODD: buffer_store_dword
// ODD: buffer_store_short

// All whole vectors are on their way before a lane branches to load the last.
// FIRST-LABEL: odd_
// FIRST: buffer_load_dwordx4
// FIRST-NOT: s_cbranch
// FIRST-NOT: vmcnt
// FIRST: buffer_load_dwordx4
// FIRST: s_cbranch_execz

// ODD11-LABEL: odd_
// ODD11: buffer_load_b128
// ODD11: s_cbranch_execz
// ODD11: buffer_load_b64
// ODD11: buffer_store_b128
// ODD11: buffer_store_b64

// Offsets beyond 2^31 bytes: 64-bit addresses, and lanes kept out by branches.
// WIDE-LABEL: wide_
// WIDE: s_cbranch_execz
// WIDE: global_load_dwordx4
// WIDE: global_store_dwordx4

//--- even.mlir
tile.kernel @even(%xp: !tile.pointer<bf16> {tile.align = 16 : i64, tile.binding = 0 : i64},
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
    %r = arith.addf %a, %a : tensor<?x?xbf16, #tile.dims<[rows, n]>>
    tile.store %r, %o[%i, %c0] dims [0, 1] extents(%ie, %n) : tensor<?x?xbf16, #tile.dims<[rows, n]>>, !tile.view<2 x bf16>
  }
  tile.return
}
//--- odd.mlir
tile.kernel @odd(%xp: !tile.pointer<bf16> {tile.align = 16 : i64, tile.binding = 0 : i64},
               %op: !tile.pointer<bf16> {tile.align = 16 : i64, tile.binding = 1 : i64},
               %m: index {tile.binding = 0 : i64, tile.hint = 64 : i64},
               %n: index {tile.binding = 1 : i64, tile.hint = 1024 : i64}) attributes {disjoint} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x = tile.view %xp sizes(%m, %n) strides(%n, %c1) : !tile.pointer<bf16> -> !tile.view<2 x bf16>
  %o = tile.view %op sizes(%m, %n) strides(%n, %c1) : !tile.pointer<bf16> -> !tile.view<2 x bf16>
  tile.parallel (%c0) to (%m) dims ["rows"] {
  ^bb0(%i: index, %ie: index):
    %a = tile.load %x[%i, %c0] dims [0, 1] extents(%ie, %n) : !tile.view<2 x bf16> -> tensor<?x?xbf16, #tile.dims<[rows, n]>>
    %r = arith.addf %a, %a : tensor<?x?xbf16, #tile.dims<[rows, n]>>
    tile.store %r, %o[%i, %c0] dims [0, 1] extents(%ie, %n) : tensor<?x?xbf16, #tile.dims<[rows, n]>>, !tile.view<2 x bf16>
  }
  tile.return
}
//--- wide.mlir
tile.kernel @wide(%xp: !tile.pointer<bf16> {tile.align = 16 : i64, tile.binding = 0 : i64},
               %op: !tile.pointer<bf16> {tile.align = 16 : i64, tile.binding = 1 : i64},
               %m: index {tile.binding = 0 : i64, tile.hint = 64 : i64},
               %n: index {tile.binding = 1 : i64, tile.hint = 1024 : i64}) attributes {disjoint, wide_offsets} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x = tile.view %xp sizes(%m, %n) strides(%n, %c1) : !tile.pointer<bf16> -> !tile.view<2 x bf16>
  %o = tile.view %op sizes(%m, %n) strides(%n, %c1) : !tile.pointer<bf16> -> !tile.view<2 x bf16>
  tile.parallel (%c0) to (%m) dims ["rows"] {
  ^bb0(%i: index, %ie: index):
    %a = tile.load %x[%i, %c0] dims [0, 1] extents(%ie, %n) : !tile.view<2 x bf16> -> tensor<?x?xbf16, #tile.dims<[rows, n]>>
    %r = arith.addf %a, %a : tensor<?x?xbf16, #tile.dims<[rows, n]>>
    tile.store %r, %o[%i, %c0] dims [0, 1] extents(%ie, %n) : tensor<?x?xbf16, #tile.dims<[rows, n]>>, !tile.view<2 x bf16>
  }
  tile.return
}
