// RUN: sed 's/FACTS/disjoint/' %s | wavetile-compile - --target gfx950 --config i=1024,waves=4 --emit=isa | FileCheck %s --implicit-check-not=s_barrier --check-prefix=APART
// RUN: sed 's/FACTS/test.overlap/' %s | wavetile-compile - --target gfx950 --config i=1024,waves=4 --emit=isa | FileCheck %s --check-prefix=OVERLAP

// o may be x moved by some elements: what a wave stores is what another one has yet to load.
// APART: buffer_load
// APART: buffer_store
// OVERLAP: buffer_load
// OVERLAP: s_barrier
// OVERLAP: buffer_store

tile.kernel @copy(%xp: !tile.pointer<f32> {tile.align = 16 : i64, tile.binding = 0 : i64},
                  %op: !tile.pointer<f32> {tile.align = 16 : i64, tile.binding = 1 : i64},
                  %n: index {tile.binding = 0 : i64, tile.hint = 4096 : i64}) attributes {FACTS} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x = tile.view %xp sizes(%n) strides(%c1) : !tile.pointer<f32> -> !tile.view<1 x f32>
  %o = tile.view %op sizes(%n) strides(%c1) : !tile.pointer<f32> -> !tile.view<1 x f32>
  tile.parallel (%c0) to (%n) dims ["i"] {
  ^bb0(%i: index, %ie: index):
    %a = tile.load %x[%i] dims [0] extents(%ie) : !tile.view<1 x f32> -> tensor<?xf32, #tile.dims<[i]>>
    tile.store %a, %o[%i] dims [0] extents(%ie) : tensor<?xf32, #tile.dims<[i]>>, !tile.view<1 x f32>
  }
  tile.return
}
