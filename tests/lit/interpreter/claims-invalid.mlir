// Claims of passes and of the launch are checked; so are inputs.
// RUN: wavetile-opt --tile-interpret %s -split-input-file -verify-diagnostics -o /dev/null

module attributes {tile.inputs = {x = dense<1.0> : tensor<8xf32>}} {
  tile.kernel @extent(%x: !tile.pointer<f32> {tile.name = "x"}) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %c5 = arith.constant 5 : index
    %v = tile.view %x sizes(%c5) strides(%c1) : !tile.pointer<f32> -> !tile.view<1 x f32>
    tile.parallel (%c0) to (%c1) dims ["one"] block_sizes [1] {
    ^bb0(%begin: index, %extent: index):
      // expected-error @+1 {{has the extent 5 in a dimension of size 4}}
      %a = tile.load %v[%c0] dims [0] extents(%c5) : !tile.view<1 x f32> -> tensor<4xf32>
    }
    tile.return
  }
}

// -----

module attributes {tile.inputs = {x = dense<1.0> : tensor<8xf32>}} {
  tile.kernel @in_bounds_extent(%x: !tile.pointer<f32> {tile.name = "x"}) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %c5 = arith.constant 5 : index
    %v = tile.view %x sizes(%c5) strides(%c1) : !tile.pointer<f32> -> !tile.view<1 x f32>
    tile.parallel (%c0) to (%c1) dims ["one"] block_sizes [1] {
    ^bb0(%begin: index, %extent: index):
      // expected-error @+1 {{says that dimension 0 is in bounds, and its extent 3 is less than its size 4}}
      %a = tile.load %v[%c0] dims [0] extents(%c3) {in_bounds = array<i1: true>} : !tile.view<1 x f32> -> tensor<4xf32>
    }
    tile.return
  }
}

// -----

module attributes {tile.inputs = {x = dense<1.0> : tensor<8xf32>}} {
  tile.kernel @in_bounds_view(%x: !tile.pointer<f32> {tile.name = "x"}) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %c5 = arith.constant 5 : index
    %v = tile.view %x sizes(%c5) strides(%c1) : !tile.pointer<f32> -> !tile.view<1 x f32>
    tile.parallel (%c0) to (%c1) dims ["one"] block_sizes [1] {
    ^bb0(%begin: index, %extent: index):
      // expected-error @+1 {{says that dimension 0 is in bounds, and its 4 elements from 3 are not in a view of 5}}
      %a = tile.load %v[%c3] dims [0] extents(%c4) {in_bounds = array<i1: true>} : !tile.view<1 x f32> -> tensor<4xf32>
    }
    tile.return
  }
}

// -----

module attributes {tile.inputs = {x = dense<1.0> : tensor<8xf32>}} {
  tile.kernel @alignment(%x: !tile.pointer<f32> {tile.name = "x", tile.align = 16 : i64}) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %c5 = arith.constant 5 : index
    %v = tile.view %x sizes(%c5) strides(%c1) : !tile.pointer<f32> -> !tile.view<1 x f32>
    tile.parallel (%c0) to (%c1) dims ["one"] block_sizes [1] {
    ^bb0(%begin: index, %extent: index):
      // expected-error @+1 {{says that 16 bytes divide the address of each row, and one begins at byte 4 of a tensor aligned to 16}}
      %a = tile.load %v[%c1] dims [0] extents(%c4) {alignment = 16 : i64} : !tile.view<1 x f32> -> tensor<4xf32>
    }
    tile.return
  }
}

// -----

module attributes {tile.inputs = {x = dense<1.0> : tensor<8xf32>}} {
  tile.kernel @base_alignment(%x: !tile.pointer<f32> {tile.name = "x"}) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %c5 = arith.constant 5 : index
    %v = tile.view %x sizes(%c5) strides(%c1) : !tile.pointer<f32> -> !tile.view<1 x f32>
    tile.parallel (%c0) to (%c1) dims ["one"] block_sizes [1] {
    ^bb0(%begin: index, %extent: index):
      // expected-error @+1 {{one begins at byte 0 of a tensor aligned to 4}}
      %a = tile.load %v[%c0] dims [0] extents(%c4) {alignment = 16 : i64} : !tile.view<1 x f32> -> tensor<4xf32>
    }
    tile.return
  }
}

// -----

module attributes {tile.inputs = {x = dense<1.0> : tensor<8xf32>}} {
  tile.kernel @divisor(%x: !tile.pointer<f32> {tile.name = "x"}) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %c5 = arith.constant 5 : index
    %v = tile.view %x sizes(%c5) strides(%c1) : !tile.pointer<f32> -> !tile.view<1 x f32>
    tile.parallel (%c0) to (%c1) dims ["one"] block_sizes [1] {
    ^bb0(%begin: index, %extent: index):
      // expected-error @+1 {{says that 2 divides where its innermost dimension ends, 3}}
      %a = tile.load %v[%c0] dims [0] extents(%c3) {divisor = 2 : i64} : !tile.view<1 x f32> -> tensor<4xf32>
    }
    tile.return
  }
}

// -----

module attributes {tile.inputs = {x = dense<1.0> : tensor<4xf32>}} {
  tile.kernel @tensor(%x: !tile.pointer<f32> {tile.name = "x"}) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %c5 = arith.constant 5 : index
    %v = tile.view %x sizes(%c5) strides(%c1) : !tile.pointer<f32> -> !tile.view<1 x f32>
    tile.parallel (%c0) to (%c1) dims ["one"] block_sizes [1] {
    ^bb0(%begin: index, %extent: index):
      // expected-error @+1 {{reaches element [4] of its view, at byte 16 of a tensor of 16}}
      %a = tile.load %v[%c4] dims [0] extents(%c4) : !tile.view<1 x f32> -> tensor<4xf32>
    }
    tile.return
  }
}

// -----

module attributes {tile.inputs = {x = dense<1.0> : tensor<8xf32>}} {
  tile.kernel @neutral(%x: !tile.pointer<f32> {tile.name = "x"}) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %c5 = arith.constant 5 : index
    %v = tile.view %x sizes(%c5) strides(%c1) : !tile.pointer<f32> -> !tile.view<1 x f32>
    tile.parallel (%c0) to (%c1) dims ["one"] block_sizes [1] {
    ^bb0(%begin: index, %extent: index):
      %a = arith.constant dense<1.0> : tensor<4xf32>
      // expected-error @+1 {{is 'beyond_neutral', but with the elements beyond its extent its result is 4, not 3}}
      %s = tile.reduce sum %a axis 0 extent(%c3) beyond_neutral : tensor<4xf32> -> tensor<f32>
    }
    tile.return
  }
}

// -----

module attributes {tile.inputs = {x = dense<1.0> : tensor<8xf32>}} {
  tile.kernel @neutral_undefined(%x: !tile.pointer<f32> {tile.name = "x"}) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %c5 = arith.constant 5 : index
    %v = tile.view %x sizes(%c5) strides(%c1) : !tile.pointer<f32> -> !tile.view<1 x f32>
    tile.parallel (%c0) to (%c1) dims ["one"] block_sizes [1] {
    ^bb0(%begin: index, %extent: index):
      %a = tile.load %v[%c0] dims [0] extents(%c3) : !tile.view<1 x f32> -> tensor<4xf32>
      // expected-error @+1 {{is no value, not 3}}
      %s = tile.reduce sum %a axis 0 extent(%c3) beyond_neutral : tensor<4xf32> -> tensor<f32>
    }
    tile.return
  }
}

// -----

module attributes {tile.inputs = {x = dense<1.0> : tensor<8xf32>}} {
  tile.kernel @full(%x: !tile.pointer<f32> {tile.name = "x"}) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %c5 = arith.constant 5 : index
    %v = tile.view %x sizes(%c5) strides(%c1) : !tile.pointer<f32> -> !tile.view<1 x f32>
    tile.parallel (%c0) to (%c1) dims ["one"] block_sizes [1] {
    ^bb0(%begin: index, %extent: index):
      // expected-error @+1 {{is 'full', but its last step from 0 to 5 is not a whole 4}}
      tile.for (%c0) to (%c5) dim "k" block_size 4 full {
      ^bb0(%k: index, %ks: index):
      }
    }
    tile.return
  }
}

// -----

module attributes {tile.inputs = {n = 5 : index}} {
  tile.kernel @guard(%n: index {tile.name = "n"}) {
    // expected-error @+1 {{does not hold: 5 is more than 4, so another variant must serve this launch (cols <= capacity)}}
    tile.guard %n at_most 4 "cols <= capacity"
    tile.return
  }
}

// -----

module attributes {tile.inputs = {n = 6 : index}} {
  // expected-error @+1 {{'tile.kernel' op says that 4 divides n, which is 6}}
  tile.kernel @divided(%n: index {tile.name = "n", tile.divisor = 4 : i64}) {
    tile.return
  }
}

// -----

module attributes {tile.inputs = {x = dense<1.0> : tensor<4xf32>, y = "x[1]"}} {
  // expected-error @+1 {{is given memory for y that is not aligned to 16 bytes}}
  tile.kernel @aligned(%x: !tile.pointer<f32> {tile.name = "x"},
                       %y: !tile.pointer<f32> {tile.name = "y", tile.align = 16 : i64}) {
    tile.return
  }
}

// -----

module attributes {tile.inputs = {x = dense<1.0> : tensor<4xf32>, y = "x[3]"}} {
  // expected-error @+1 {{says that tensors are disjoint, and x overlaps y}}
  tile.kernel @disjoint(%x: !tile.pointer<f32> {tile.name = "x"},
                        %y: !tile.pointer<f32> {tile.name = "y"}) attributes {disjoint} {
    tile.return
  }
}

// -----

module attributes {tile.inputs = {x = dense<1.0> : tensor<4xf32>}} {
  // expected-error @+1 {{'tile.program' op says that argument 0 is aligned to 64 bytes, and it is to 4}}
  tile.program @work(%x: !tile.pointer<f32> {tile.align = 64 : i64}) attributes {waves = 1 : i64} {
    tile.return
  }
  tile.kernel @launched(%x: !tile.pointer<f32> {tile.name = "x"}) {
    %c1 = arith.constant 1 : index
    tile.launch @work grid(%c1) arguments(%x) : !tile.pointer<f32>
    tile.return
  }
}

// -----

module attributes {tile.inputs = {n = 6 : index}} {
  tile.kernel @unbound(%n: index {tile.name = "n"}) {
    // expected-error @+1 {{has dimension 'rows', whose size is not given}}
    tile.parallel (%n) to (%n) dims ["rows"] {
    ^bb0(%begin: index, %extent: index):
    }
    tile.return
  }
}

// -----

// expected-error @+1 {{has no 'tile.inputs' to run with}}
module {
  tile.kernel @inputs() {
    tile.return
  }
}

// -----

module attributes {tile.inputs = {arg0 = 1.0 : f32}} {
  // expected-error @+1 {{takes a number of type 'index' for 'arg0', not 1.000000e+00 : f32}}
  tile.kernel @kind(%n: index) {
    tile.return
  }
}

// -----

module attributes {tile.inputs = {arg0 = dense<1.0> : tensor<4xf32>}} {
  // expected-error @+1 {{takes elements of 'bf16' for 'arg0', not of 'f32'}}
  tile.kernel @element(%n: !tile.pointer<bf16>) {
    tile.return
  }
}

// -----

module attributes {tile.inputs = {arg0 = "y"}} {
  // expected-error @+1 {{has no tensor 'y' before 'arg0'}}
  tile.kernel @shared(%n: !tile.pointer<bf16>) {
    tile.return
  }
}

// -----

// What arith and math have but the language does not use.
module attributes {tile.inputs = {arg0 = 1.0 : f32}} {
  tile.kernel @unknown(%x: f32) {
    // expected-error @+1 {{'math.sincos' op has no interpretation}}
    %s, %c = math.sincos %x : f32
    tile.return
  }
}
