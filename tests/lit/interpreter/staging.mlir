// RUN: wavetile-opt --tile-interpret %s -split-input-file -verify-diagnostics -o /dev/null \
// RUN:   | FileCheck %s

// Buffers are apart; a barrier orders what waves do.
// CHECK: out = [1, 2]
module attributes {tile.inputs = {out = dense<0> : tensor<2xi32>}} {
  tile.program @work(%out: !tile.pointer<i32>) attributes {waves = 4 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %o = tile.view %out sizes(%c2) strides(%c1) : !tile.pointer<i32> -> !tile.view<1 x i32>
    %s = tile.stage_alloc : !tile.staging<2 x [1] x i32, unit>
    %one = arith.constant dense<1> : tensor<1xi32>
    %two = arith.constant dense<2> : tensor<1xi32>
    tile.stage_store %one, %s[%c0] : tensor<1xi32>, !tile.staging<2 x [1] x i32, unit>
    tile.stage_store %two, %s[%c1] : tensor<1xi32>, !tile.staging<2 x [1] x i32, unit>
    tile.barrier
    %a = tile.stage_load %s[%c0] : !tile.staging<2 x [1] x i32, unit> -> tensor<1xi32>
    %b = tile.stage_load %s[%c1] : !tile.staging<2 x [1] x i32, unit> -> tensor<1xi32>
    tile.barrier
    tile.stage_store %two, %s[%c0] : tensor<1xi32>, !tile.staging<2 x [1] x i32, unit>
    tile.store %a, %o[%c0] dims [0] extents(%c1) : tensor<1xi32>, !tile.view<1 x i32>
    tile.store %b, %o[%c1] dims [0] extents(%c1) : tensor<1xi32>, !tile.view<1 x i32>
    tile.return
  }
  tile.kernel @barriers(%out: !tile.pointer<i32> {tile.name = "out"}) {
    %c1 = arith.constant 1 : index
    tile.launch @work grid(%c1) arguments(%out) : !tile.pointer<i32>
    tile.return
  }
}

// -----

// One wave needs no barrier.
module attributes {tile.inputs = {n = 1 : index}} {
  tile.program @work(%n: index) attributes {waves = 1 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %s = tile.stage_alloc : !tile.staging<1 x [1] x i32, unit>
    %one = arith.constant dense<1> : tensor<1xi32>
    tile.stage_store %one, %s[%c0] : tensor<1xi32>, !tile.staging<1 x [1] x i32, unit>
    %a = tile.stage_load %s[%c0] : !tile.staging<1 x [1] x i32, unit> -> tensor<1xi32>
    tile.stage_store %one, %s[%c0] : tensor<1xi32>, !tile.staging<1 x [1] x i32, unit>
    tile.return
  }
  tile.kernel @one_wave(%n: index {tile.name = "n"}) {
    tile.launch @work grid(%n) arguments(%n) : index
    tile.return
  }
}

// -----

module attributes {tile.inputs = {n = 1 : index}} {
  tile.program @work(%n: index) attributes {waves = 2 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %s = tile.stage_alloc : !tile.staging<1 x [1] x i32, unit>
    %one = arith.constant dense<1> : tensor<1xi32>
    // expected-note @+1 {{written here, with no tile.barrier in between}}
    tile.stage_store %one, %s[%c0] : tensor<1xi32>, !tile.staging<1 x [1] x i32, unit>
    // expected-error @+1 {{reads what other waves may not have written yet}}
    %a = tile.stage_load %s[%c0] : !tile.staging<1 x [1] x i32, unit> -> tensor<1xi32>
    tile.return
  }
  tile.kernel @read_after_write(%n: index {tile.name = "n"}) {
    tile.launch @work grid(%n) arguments(%n) : index
    tile.return
  }
}

// -----

module attributes {tile.inputs = {n = 1 : index}} {
  tile.program @work(%n: index) attributes {waves = 2 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %s = tile.stage_alloc : !tile.staging<1 x [1] x i32, unit>
    %one = arith.constant dense<1> : tensor<1xi32>
    tile.stage_store %one, %s[%c0] : tensor<1xi32>, !tile.staging<1 x [1] x i32, unit>
    tile.barrier
    // expected-note @+1 {{read here, with no tile.barrier in between}}
    %a = tile.stage_load %s[%c0] : !tile.staging<1 x [1] x i32, unit> -> tensor<1xi32>
    // expected-error @+1 {{overwrites what other waves may not have read yet}}
    tile.stage_store %one, %s[%c0] : tensor<1xi32>, !tile.staging<1 x [1] x i32, unit>
    tile.return
  }
  tile.kernel @write_after_read(%n: index {tile.name = "n"}) {
    tile.launch @work grid(%n) arguments(%n) : index
    tile.return
  }
}

// -----

module attributes {tile.inputs = {n = 1 : index}} {
  tile.program @work(%n: index) attributes {waves = 2 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %s = tile.stage_alloc : !tile.staging<1 x [1] x i32, unit>
    %one = arith.constant dense<1> : tensor<1xi32>
    // expected-note @+1 {{written here, with no tile.barrier in between}}
    tile.stage_store %one, %s[%c0] : tensor<1xi32>, !tile.staging<1 x [1] x i32, unit>
    // expected-error @+1 {{overwrites what other waves may not have written yet}}
    tile.stage_store %one, %s[%c0] : tensor<1xi32>, !tile.staging<1 x [1] x i32, unit>
    tile.return
  }
  tile.kernel @write_after_write(%n: index {tile.name = "n"}) {
    tile.launch @work grid(%n) arguments(%n) : index
    tile.return
  }
}

// -----

module attributes {tile.inputs = {n = 1 : index}} {
  tile.program @work(%n: index) attributes {waves = 2 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %s = tile.stage_alloc : !tile.staging<1 x [1] x i32, unit>
    %one = arith.constant dense<1> : tensor<1xi32>
    // expected-error @+1 {{names buffer 1 of 1}}
    tile.stage_store %one, %s[%c1] : tensor<1xi32>, !tile.staging<1 x [1] x i32, unit>
    tile.return
  }
  tile.kernel @number(%n: index {tile.name = "n"}) {
    tile.launch @work grid(%n) arguments(%n) : index
    tile.return
  }
}

// -----

// LDS that was never written has no value.
module attributes {tile.inputs = {n = 1 : index}} {
  tile.program @work(%n: index) attributes {waves = 1 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %s = tile.stage_alloc : !tile.staging<1 x [1] x i32, unit>
    %one = arith.constant dense<1> : tensor<1xi32>
    // expected-note @+1 {{'tile.stage_load' made some elements without a value}}
    %a = tile.stage_load %s[%c0] : !tile.staging<1 x [1] x i32, unit> -> tensor<1xi32>
    %sum = tile.reduce sum %a axis 0 extent(%c0) : tensor<1xi32> -> tensor<i32>
    // expected-error @+1 {{reduces an element that has no value, [0]}}
    %use = tile.reduce sum %a axis 0 extent(%c1) : tensor<1xi32> -> tensor<i32>
    tile.return
  }
  tile.kernel @unwritten(%n: index {tile.name = "n"}) {
    tile.launch @work grid(%n) arguments(%n) : index
    tile.return
  }
}
