// RUN: wavetile-opt %s --tile-bind-config --split-input-file --verify-diagnostics

// expected-error @below {{has no 'tile.config' to bind}}
module {
}

// -----

// expected-error @below {{unknown Config key 'rows.stratgy'; did you mean 'rows.strategy'?}}
module attributes {tile.config = {rows.stratgy = "resident"}} {
}

// -----

// expected-error @below {{Config key 'cols.strategy' takes resident | looped | grid, not 'loopd'; did you mean 'looped'?}}
module attributes {tile.config = {cols.strategy = "loopd"}} {
}

// -----

// expected-error @below {{Config key 'rows' takes a positive integer, not '0'}}
module attributes {tile.config = {rows = 0 : i64}} {
}

// -----

// expected-error @below {{Config key 'matrix' takes 16 | 32, not '64'}}
module attributes {tile.config = {matrix = 64 : i64}} {
}

// -----

module attributes {tile.config = {rows = 4 : i64, waves = 1 : i64}} {
tile.kernel @missing(%n: index {tile.binding = 0 : i64}) {
  %c0 = arith.constant 0 : index
  // expected-error @below {{has dimension 'i', for which the Config (rows=4,waves=1) has no size}}
  tile.parallel (%c0) to (%n) dims ["i"] {
  ^bb0(%begin: index, %extent: index):
    %size = tile.block_size "rows"
  }
  tile.return
}
}

// -----

module attributes {tile.config = {i = 4 : i64, wave = 1 : i64, waves = 1 : i64}} {
// expected-error @below {{has no dimension 'wave', which the Config names; did you mean 'waves'?}}
tile.kernel @misspelt(%n: index {tile.binding = 0 : i64}) {
  %c0 = arith.constant 0 : index
  tile.parallel (%c0) to (%n) dims ["i"] {
  ^bb0(%begin: index, %extent: index):
  }
  tile.return
}
}

// -----

module attributes {tile.config = {i = 4 : i64, waves = 3 : i64}} {
tile.kernel @three_waves(%n: index {tile.binding = 0 : i64}) {
  %c0 = arith.constant 0 : index
  // expected-error @below {{cannot have 3 waves: a workgroup of gfx950 has a power of two of them, at most 16}}
  tile.parallel (%c0) to (%n) dims ["i"] {
  ^bb0(%begin: index, %extent: index):
  }
  tile.return
}
}

// -----

module attributes {tile.config = {rows = 1 : i64, cols = 4097 : i64, waves = 1 : i64}} {
tile.kernel @odd(%x: !tile.pointer<f32> {tile.binding = 0 : i64}, %n: index {tile.binding = 0 : i64}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %v = tile.view %x sizes(%n) strides(%c1) : !tile.pointer<f32> -> !tile.view<1 x f32>
  // expected-error @below {{no layout spreads rows of 4097 elements ('cols') over lanes; use a multiple of 8, such as 4104}}
  tile.parallel (%c0) to (%n) dims ["rows"] {
  ^bb0(%begin: index, %extent: index):
    %a = tile.load %v[%c0] dims [0] extents(%n) : !tile.view<1 x f32> -> tensor<?xf32, #tile.dims<[cols]>>
  }
  tile.return
}
}

// -----

module attributes {tile.config = {rows = 1 : i64, cols = 65536 : i64, waves = 1 : i64}} {
tile.kernel @too_big(%x: !tile.pointer<f32> {tile.binding = 0 : i64}, %n: index {tile.binding = 0 : i64}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %v = tile.view %x sizes(%n) strides(%c1) : !tile.pointer<f32> -> !tile.view<1 x f32>
  tile.parallel (%c0) to (%n) dims ["rows"] {
  ^bb0(%begin: index, %extent: index):
    // expected-error @below {{does not fit in registers: 65536 elements / (1 waves * 64 lanes) * 32 bits = 1024 registers a lane, and gfx950 has 512}}
    %a = tile.load %v[%c0] dims [0] extents(%n) : !tile.view<1 x f32> -> tensor<?xf32, #tile.dims<[cols]>>
  }
  tile.return
}
}

// -----

module attributes {tile.config = {i = 4 : i64, waves = 1 : i64, waves_per_simd = 9 : i64}} {
tile.kernel @too_many_on_a_simd(%n: index {tile.binding = 0 : i64}) {
  %c0 = arith.constant 0 : index
  // expected-error @below {{cannot have 9 waves on a SIMD: gfx950 holds at most 8}}
  tile.parallel (%c0) to (%n) dims ["i"] {
  ^bb0(%begin: index, %extent: index):
  }
  tile.return
}
}

// -----

// The budget of registers is that of the waves that shall share a SIMD.
module attributes {tile.config = {rows = 1 : i64, cols = 16384 : i64, waves = 1 : i64, waves_per_simd = 4 : i64}} {
tile.kernel @too_big_for_four(%x: !tile.pointer<f32> {tile.binding = 0 : i64}, %n: index {tile.binding = 0 : i64}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %v = tile.view %x sizes(%n) strides(%c1) : !tile.pointer<f32> -> !tile.view<1 x f32>
  tile.parallel (%c0) to (%n) dims ["rows"] {
  ^bb0(%begin: index, %extent: index):
    // expected-error @below {{= 256 registers a lane, and gfx950 has 128}}
    %a = tile.load %v[%c0] dims [0] extents(%n) : !tile.view<1 x f32> -> tensor<?xf32, #tile.dims<[cols]>>
  }
  tile.return
}
}
