// Elements without a value go through operations on elements; their use is an error.
// RUN: wavetile-opt --tile-interpret %s -split-input-file -verify-diagnostics -o /dev/null

// Moving them is no error: the reduction and the store look below the extent, and of the
// selects one takes the other side and one has sides that are alike.
module attributes {tile.inputs = {x = dense<1.0> : tensor<3xf32>}} {
  tile.kernel @moved(%x: !tile.pointer<f32> {tile.name = "x"}) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %v = tile.view %x sizes(%c3) strides(%c1) : !tile.pointer<f32> -> !tile.view<1 x f32>
    tile.parallel (%c0) to (%c1) dims ["one"] block_sizes [1] {
    ^bb0(%begin: index, %extent: index):
      %a = tile.load %v[%c0] dims [0] extents(%c3) : !tile.view<1 x f32> -> tensor<4xf32>
      %b = math.exp %a : tensor<4xf32>
      %sum = tile.reduce sum %b axis 0 extent(%c3) : tensor<4xf32> -> tensor<f32>
      tile.store %b, %v[%c0] dims [0] extents(%c3) : tensor<4xf32>, !tile.view<1 x f32>
      %zero = arith.constant dense<0.0> : tensor<4xf32>
      %first = arith.constant dense<[true, true, true, false]> : tensor<4xi1>
      %c = arith.select %first, %b, %zero : tensor<4xi1>, tensor<4xf32>
      %all = tile.reduce sum %c axis 0 extent(%c4) : tensor<4xf32> -> tensor<f32>
      %unknown = arith.cmpf ogt, %a, %zero : tensor<4xf32>
      %alike = arith.select %unknown, %zero, %zero : tensor<4xi1>, tensor<4xf32>
      %none = tile.reduce sum %alike axis 0 extent(%c4) : tensor<4xf32> -> tensor<f32>
      %filled = tile.fill_beyond %b axis 0 extent(%c3) with 0.0 : f32 : tensor<4xf32>
      %same = tile.reduce sum %filled axis 0 extent(%c4) : tensor<4xf32> -> tensor<f32>
    }
    tile.return
  }
}

// -----

module attributes {tile.inputs = {x = dense<1.0> : tensor<4xf32>}} {
  tile.kernel @store(%x: !tile.pointer<f32> {tile.name = "x"}) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %v = tile.view %x sizes(%c4) strides(%c1) : !tile.pointer<f32> -> !tile.view<1 x f32>
    tile.parallel (%c0) to (%c1) dims ["one"] block_sizes [1] {
    ^bb0(%begin: index, %extent: index):
      %a = tile.load %v[%c0] dims [0] extents(%c3) : !tile.view<1 x f32> -> tensor<4xf32>
      %b = arith.negf %a : tensor<4xf32>
      // expected-error @+1 {{'tile.store' op stores an element that has no value, [3]}}
      tile.store %b, %v[%c0] dims [0] extents(%c4) : tensor<4xf32>, !tile.view<1 x f32>
    }
    tile.return
  }
}

// -----

module attributes {tile.inputs = {x = dense<1.0> : tensor<4xf32>}} {
  tile.kernel @reduce(%x: !tile.pointer<f32> {tile.name = "x"}) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %v = tile.view %x sizes(%c4) strides(%c1) : !tile.pointer<f32> -> !tile.view<1 x f32>
    tile.parallel (%c0) to (%c1) dims ["one"] block_sizes [1] {
    ^bb0(%begin: index, %extent: index):
      %a = tile.load %v[%c0] dims [0] extents(%c3) : !tile.view<1 x f32> -> tensor<4xf32>
      // expected-error @+1 {{'tile.reduce' op reduces an element that has no value, [3]}}
      %sum = tile.reduce sum %a axis 0 extent(%c4) : tensor<4xf32> -> tensor<f32>
    }
    tile.return
  }
}

// -----

// Rows beyond the extent reduce to nothing, which is no error; a column beyond its extent
// makes every row nothing, which the store finds.
module attributes {tile.inputs = {x = dense<1.0> : tensor<2x4xf32>}} {
  tile.kernel @rows(%x: !tile.pointer<f32> {tile.name = "x"}) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %v = tile.view %x sizes(%c2, %c4) strides(%c4, %c1) : !tile.pointer<f32> -> !tile.view<2 x f32>
    tile.parallel (%c0) to (%c1) dims ["one"] block_sizes [1] {
    ^bb0(%begin: index, %extent: index):
      %a = tile.load %v[%c0, %c0] dims [0, 1] extents(%c1, %c3) : !tile.view<2 x f32> -> tensor<2x4xf32>
      %good = tile.reduce sum %a axis 1 extent(%c3) : tensor<2x4xf32> -> tensor<2xf32>
      tile.store %good, %v[%c0, %c0] dims [0, -1] extents(%c1) : tensor<2xf32>, !tile.view<2 x f32>
      // expected-note @+1 {{'tile.reduce' made some elements without a value of others}}
      %bad = tile.reduce sum %a axis 1 extent(%c4) : tensor<2x4xf32> -> tensor<2xf32>
      // expected-error @+1 {{stores an element that has no value, [0]}}
      tile.store %bad, %v[%c0, %c0] dims [0, -1] extents(%c1) : tensor<2xf32>, !tile.view<2 x f32>
    }
    tile.return
  }
}

// -----

// A dot looks below its extent in K only.
module attributes {tile.inputs = {x = dense<1.0> : tensor<2x2xf32>}} {
  tile.kernel @dot(%x: !tile.pointer<f32> {tile.name = "x"}) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %v = tile.view %x sizes(%c2, %c2) strides(%c2, %c1) : !tile.pointer<f32> -> !tile.view<2 x f32>
    tile.parallel (%c0) to (%c1) dims ["one"] block_sizes [1] {
    ^bb0(%begin: index, %extent: index):
      %a = tile.load %v[%c0, %c0] dims [0, 1] extents(%c2, %c1) : !tile.view<2 x f32> -> tensor<2x2xf32>
      %b = tile.load %v[%c0, %c0] dims [0, 1] extents(%c1, %c2) : !tile.view<2 x f32> -> tensor<2x2xf32>
      %acc = arith.constant dense<0.0> : tensor<2x2xf32>
      %good = tile.dot %a, %b, %acc extent(%c1) : tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>
      tile.store %good, %v[%c0, %c0] dims [0, 1] extents(%c2, %c2) : tensor<2x2xf32>, !tile.view<2 x f32>
      // expected-note @+1 {{'tile.dot' made some elements}}
      %bad = tile.dot %a, %b, %acc extent(%c2) : tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>
      // expected-error @+1 {{stores an element that has no value, [0, 0]}}
      tile.store %bad, %v[%c0, %c0] dims [0, 1] extents(%c2, %c2) : tensor<2x2xf32>, !tile.view<2 x f32>
    }
    tile.return
  }
}

// -----

// Scratch that was never written.
module attributes {tile.inputs = {x = dense<1.0> : tensor<4xf32>}} {
  tile.kernel @scratch(%x: !tile.pointer<f32> {tile.name = "x"}) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %s = tile.scratch (%c4) : !tile.pointer<f32>
    %v = tile.view %s sizes(%c4) strides(%c1) : !tile.pointer<f32> -> !tile.view<1 x f32>
    tile.parallel (%c0) to (%c1) dims ["one"] block_sizes [1] {
    ^bb0(%begin: index, %extent: index):
      // expected-note @+1 {{'tile.load' made some elements}}
      %a = tile.load %v[%c0] dims [0] extents(%c4) : !tile.view<1 x f32> -> tensor<4xf32>
      // expected-error @+1 {{stores an element that has no value, [0]}}
      tile.store %a, %v[%c0] dims [0] extents(%c4) : tensor<4xf32>, !tile.view<1 x f32>
    }
    tile.return
  }
}

// -----

// A quotient by zero has no value, and neither has an address computed from it.
module attributes {tile.inputs = {x = dense<1.0> : tensor<4xf32>, n = 0 : index}} {
  tile.kernel @address(%x: !tile.pointer<f32> {tile.name = "x"}, %n: index {tile.name = "n"}) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %v = tile.view %x sizes(%c4) strides(%c1) : !tile.pointer<f32> -> !tile.view<1 x f32>
    tile.parallel (%c0) to (%c1) dims ["one"] block_sizes [1] {
    ^bb0(%begin: index, %extent: index):
      // expected-note @+1 {{'arith.divsi' made some elements without a value}}
      %q = arith.divsi %c4, %n : index
      // expected-error @+1 {{'tile.load' op has as an offset an element that has no value}}
      %a = tile.load %v[%q] dims [0] extents(%c1) : !tile.view<1 x f32> -> tensor<1xf32>
    }
    tile.return
  }
}

// -----

// Neither has a bound of a loop.
module attributes {tile.inputs = {n = 0 : index}} {
  tile.kernel @branch(%n: index {tile.name = "n"}) {
    // expected-note @+1 {{'arith.remsi' made some elements without a value}}
    %q = arith.remsi %n, %n : index
    // expected-error @+1 {{'tile.parallel' op has as a bound an element that has no value}}
    tile.parallel (%n) to (%q) dims ["one"] block_sizes [1] {
    ^bb0(%begin: index, %extent: index):
    }
    tile.return
  }
}

// -----

module attributes {tile.inputs = {x = dense<1.0> : tensor<4xf32>}} {
  tile.kernel @arg_reduce(%x: !tile.pointer<f32> {tile.name = "x"}) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %v = tile.view %x sizes(%c4) strides(%c1) : !tile.pointer<f32> -> !tile.view<1 x f32>
    tile.parallel (%c0) to (%c1) dims ["one"] block_sizes [1] {
    ^bb0(%begin: index, %extent: index):
      %i = tile.iota : tensor<4xi32>
      %a = tile.load %v[%c0] dims [0] extents(%c3) : !tile.view<1 x f32> -> tensor<4xf32>
      %m, %j = tile.arg_reduce maximum %a, %i axis 0 extent(%c3) : tensor<4xf32>, tensor<4xi32> -> tensor<f32>, tensor<i32>
      // expected-error @+1 {{'tile.arg_reduce' op reduces an element that has no value}}
      %n, %k = tile.arg_reduce maximum %a, %i axis 0 extent(%c4) : tensor<4xf32>, tensor<4xi32> -> tensor<f32>, tensor<i32>
    }
    tile.return
  }
}

// -----

// A float that an integer cannot hold, an excessive shift and a broken promise.
module attributes {tile.inputs = {x = dense<1> : tensor<1xi32>}} {
  tile.kernel @poison(%x: !tile.pointer<i32> {tile.name = "x"}) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %v = tile.view %x sizes(%c1) strides(%c1) : !tile.pointer<i32> -> !tile.view<1 x i32>
    tile.parallel (%c0) to (%c1) dims ["one"] block_sizes [1] {
    ^bb0(%begin: index, %extent: index):
      %inf = arith.constant dense<0x7F800000> : tensor<1xf32>
      %big = arith.constant dense<0x7FFFFFFF> : tensor<1xi32>
      %width = arith.constant dense<32> : tensor<1xi32>
      %wraps = arith.addi %big, %big : tensor<1xi32>
      tile.store %wraps, %v[%c0] dims [0] extents(%c1) : tensor<1xi32>, !tile.view<1 x i32>
      %converted = arith.fptosi %inf : tensor<1xf32> to tensor<1xi32>
      %shifted = arith.shli %converted, %width : tensor<1xi32>
      // expected-note @+1 {{'arith.addi' made}}
      %promised = arith.addi %big, %big overflow<nsw> : tensor<1xi32>
      // expected-error @+1 {{stores an element that has no value, [0]}}
      tile.store %promised, %v[%c0] dims [0] extents(%c1) : tensor<1xi32>, !tile.view<1 x i32>
    }
    tile.return
  }
}
