// What the verifiers of memory accesses, shapes, reductions and staging refuse.
// RUN: wavetile-opt %s -split-input-file -verify-diagnostics

tile.program @view(%x: !tile.pointer<f32>, %n: index) attributes {waves = 1 : i64} {
  // expected-error @+1 {{pointer and view differ in element type}}
  %v = tile.view %x sizes(%n) strides(%n) : !tile.pointer<f32> -> !tile.view<1 x f16>
  tile.return
}

// -----

tile.program @view(%x: !tile.pointer<f32>, %n: index) attributes {waves = 1 : i64} {
  // expected-error @+1 {{needs one size and one stride for each dimension of the view}}
  %v = tile.view %x sizes(%n) strides(%n) : !tile.pointer<f32> -> !tile.view<2 x f32>
  tile.return
}

// -----

tile.program @load(%x: !tile.pointer<f32>, %n: index) attributes {waves = 1 : i64} {
  %v = tile.view %x sizes(%n, %n) strides(%n, %n) : !tile.pointer<f32> -> !tile.view<2 x f32>
  // expected-error @+1 {{tile of 'f16' in a view of 'f32'}}
  %a = tile.load %v[%n, %n] dims [0, 1] extents(%n, %n) : !tile.view<2 x f32> -> tensor<4x8xf16>
  tile.return
}

// -----

tile.program @load(%x: !tile.pointer<f32>, %n: index) attributes {waves = 1 : i64} {
  %v = tile.view %x sizes(%n, %n) strides(%n, %n) : !tile.pointer<f32> -> !tile.view<2 x f32>
  // expected-error @+1 {{needs one offset and one entry of dims for each of the 2 dimensions of the view}}
  %a = tile.load %v[%n] dims [0, 1] extents(%n, %n) : !tile.view<2 x f32> -> tensor<4x8xf32>
  tile.return
}

// -----

tile.program @load(%x: !tile.pointer<f32>, %n: index) attributes {waves = 1 : i64} {
  %v = tile.view %x sizes(%n, %n) strides(%n, %n) : !tile.pointer<f32> -> !tile.view<2 x f32>
  // expected-error @+1 {{needs one extent for each of the 2 dimensions of the tile}}
  %a = tile.load %v[%n, %n] dims [0, 1] extents(%n) : !tile.view<2 x f32> -> tensor<4x8xf32>
  tile.return
}

// -----

tile.program @load(%x: !tile.pointer<f32>, %n: index) attributes {waves = 1 : i64} {
  %v = tile.view %x sizes(%n, %n) strides(%n, %n) : !tile.pointer<f32> -> !tile.view<2 x f32>
  // expected-error @+1 {{dims must name each dimension of the tile once, in order}}
  %a = tile.load %v[%n, %n] dims [1, 0] extents(%n, %n) : !tile.view<2 x f32> -> tensor<4x8xf32>
  tile.return
}

// -----

tile.program @load(%x: !tile.pointer<f32>, %n: index) attributes {waves = 1 : i64} {
  %v = tile.view %x sizes(%n, %n) strides(%n, %n) : !tile.pointer<f32> -> !tile.view<2 x f32>
  // expected-error @+1 {{dims must name each dimension of the tile once, in order}}
  %a = tile.load %v[%n, %n] dims [0, -1] extents(%n, %n) : !tile.view<2 x f32> -> tensor<4x8xf32>
  tile.return
}

// -----

tile.program @load(%x: !tile.pointer<f32>, %n: index) attributes {waves = 1 : i64} {
  %v = tile.view %x sizes(%n) strides(%n) : !tile.pointer<f32> -> !tile.view<1 x f32>
  // expected-error @+1 {{in_bounds needs one entry for each dimension of the tile}}
  %a = tile.load %v[%n] dims [0] extents(%n) {in_bounds = array<i1: true, true>} : !tile.view<1 x f32> -> tensor<4xf32>
  tile.return
}

// -----

tile.program @load(%x: !tile.pointer<f32>, %n: index) attributes {waves = 1 : i64} {
  %v = tile.view %x sizes(%n) strides(%n) : !tile.pointer<f32> -> !tile.view<1 x f32>
  // expected-error @+1 {{value 0 : i32 for a tile of 'f32'}}
  %a = tile.load %v[%n] dims [0] extents(%n) {pad = 0 : i32} : !tile.view<1 x f32> -> tensor<4xf32>
  tile.return
}

// -----

tile.program @load(%x: !tile.pointer<f32>, %n: index) attributes {waves = 1 : i64} {
  %v = tile.view %x sizes(%n) strides(%n) : !tile.pointer<f32> -> !tile.view<1 x f32>
  // expected-error @+1 {{value 0.000000e+00 : f16 for a tile of 'f32'}}
  %a = tile.load %v[%n] dims [0] extents(%n) {beyond = 0.0 : f16} : !tile.view<1 x f32> -> tensor<4xf32>
  tile.return
}

// -----

tile.program @store(%x: !tile.pointer<f32>, %n: index) attributes {waves = 1 : i64} {
  %v = tile.view %x sizes(%n) strides(%n) : !tile.pointer<f32> -> !tile.view<1 x f32>
  %a = arith.constant dense<0> : tensor<4xi32>
  // expected-error @+1 {{tile of 'i32' in a view of 'f32'}}
  tile.store %a, %v[%n] dims [0] extents(%n) : tensor<4xi32>, !tile.view<1 x f32>
  tile.return
}

// -----

tile.program @full(%x: f32) attributes {waves = 1 : i64} {
  // expected-error @+1 {{value and element type differ}}
  %a = tile.full %x : f32 -> tensor<4xf64>
  tile.return
}

// -----

tile.program @iota() attributes {waves = 1 : i64} {
  // expected-error @+1 {{result must be a one-dimensional tile of integers}}
  %a = tile.iota : tensor<4xf32>
  tile.return
}

// -----

tile.program @iota() attributes {waves = 1 : i64} {
  // expected-error @+1 {{result must be a one-dimensional tile of integers}}
  %a = tile.iota : tensor<4x4xi32>
  tile.return
}

// -----

tile.program @expand_dims() attributes {waves = 1 : i64} {
  %a = arith.constant dense<0.0> : tensor<4xf32>
  // expected-error @+1 {{axis 2 is not in [0, 2)}}
  %b = tile.expand_dims %a axis 2 : tensor<4xf32> -> tensor<4x1xf32>
  tile.return
}

// -----

tile.program @expand_dims() attributes {waves = 1 : i64} {
  %a = arith.constant dense<0.0> : tensor<4xf32>
  // expected-error @+1 {{source and result differ in element type}}
  %b = tile.expand_dims %a axis 1 : tensor<4xf32> -> tensor<4x1xf64>
  tile.return
}

// -----

tile.program @expand_dims() attributes {waves = 1 : i64} {
  %a = arith.constant dense<0.0> : tensor<4xf32>
  // expected-error @+1 {{result must have the shape of 'tensor<1x4xf32>', not 'tensor<4x1xf32>'}}
  %b = tile.expand_dims %a axis 0 : tensor<4xf32> -> tensor<4x1xf32>
  tile.return
}

// -----

tile.program @names(%x: f32) attributes {waves = 1 : i64} {
  %a = tile.full %x : f32 -> tensor<?xf32, #tile.dims<[rows]>>
  // expected-error @+1 {{result must have the shape of}}
  %b = tile.expand_dims %a axis 1 : tensor<?xf32, #tile.dims<[rows]>> -> tensor<?x1xf32, #tile.dims<[cols, _]>>
  tile.return
}

// -----

tile.program @squeeze_dims() attributes {waves = 1 : i64} {
  %a = arith.constant dense<0.0> : tensor<4x2xf32>
  // expected-error @+1 {{dimension 1 of 'tensor<4x2xf32>' has not size one}}
  %b = tile.squeeze_dims %a axis 1 : tensor<4x2xf32> -> tensor<4xf32>
  tile.return
}

// -----

tile.program @squeeze_dims() attributes {waves = 1 : i64} {
  %a = arith.constant dense<0.0> : tensor<4x1xf32>
  // expected-error @+1 {{axis -1 is not in [0, 2)}}
  %b = tile.squeeze_dims %a axis -1 : tensor<4x1xf32> -> tensor<4xf32>
  tile.return
}

// -----

tile.program @broadcast() attributes {waves = 1 : i64} {
  %a = arith.constant dense<0.0> : tensor<4xf32>
  // expected-error @+1 {{source and result must have the same rank; use tile.expand_dims}}
  %b = tile.broadcast %a : tensor<4xf32> -> tensor<4x4xf32>
  tile.return
}

// -----

tile.program @broadcast() attributes {waves = 1 : i64} {
  %a = arith.constant dense<0.0> : tensor<4x2xf32>
  // expected-error @+1 {{dimension 1 is neither of size one nor that of the result}}
  %b = tile.broadcast %a : tensor<4x2xf32> -> tensor<4x4xf32>
  tile.return
}

// -----

tile.program @broadcast() attributes {waves = 1 : i64} {
  %a = arith.constant dense<0.0> : tensor<4x1xf32>
  // expected-error @+1 {{source and result differ in element type}}
  %b = tile.broadcast %a : tensor<4x1xf32> -> tensor<4x4xf16>
  tile.return
}

// -----

tile.program @transpose() attributes {waves = 1 : i64} {
  %a = arith.constant dense<0.0> : tensor<4x2xf32>
  // expected-error @+1 {{needs a permutation of the source's dimensions}}
  %b = tile.transpose %a [1, 1] : tensor<4x2xf32> -> tensor<2x4xf32>
  tile.return
}

// -----

tile.program @transpose() attributes {waves = 1 : i64} {
  %a = arith.constant dense<0.0> : tensor<4x2xf32>
  // expected-error @+1 {{result must have the shape of 'tensor<2x4xf32>', not 'tensor<4x2xf32>'}}
  %b = tile.transpose %a [1, 0] : tensor<4x2xf32> -> tensor<4x2xf32>
  tile.return
}

// -----

tile.program @reduce(%n: index) attributes {waves = 1 : i64} {
  %a = arith.constant dense<0.0> : tensor<4x2xf32>
  // expected-error @+1 {{axis 2 is not in [0, 2)}}
  %b = tile.reduce sum %a axis 2 extent(%n) : tensor<4x2xf32> -> tensor<4xf32>
  tile.return
}

// -----

tile.program @reduce(%n: index) attributes {waves = 1 : i64} {
  %a = arith.constant dense<0.0> : tensor<4x2xf32>
  // expected-error @+1 {{of kind and/or needs integers, not 'f32'}}
  %b = tile.reduce and %a axis 1 extent(%n) : tensor<4x2xf32> -> tensor<4xf32>
  tile.return
}

// -----

tile.program @reduce_bits(%n: index) attributes {waves = 1 : i64} {
  %a = arith.constant dense<true> : tensor<4x2xi1>
  // expected-error @+1 {{compares numbers, not i1; use and/or}}
  %b = tile.reduce maximum %a axis 1 extent(%n) : tensor<4x2xi1> -> tensor<4xi1>
  tile.return
}

// -----

tile.program @reduce(%n: index) attributes {waves = 1 : i64} {
  %a = arith.constant dense<0.0> : tensor<4x2xf32>
  // expected-error @+1 {{result must have the shape of 'tensor<2xf32>', not 'tensor<4xf32>'}}
  %b = tile.reduce sum %a axis 0 extent(%n) : tensor<4x2xf32> -> tensor<4xf32>
  tile.return
}

// -----

tile.program @reduce(%n: index) attributes {waves = 1 : i64} {
  %a = arith.constant dense<0.0> : tensor<4x2xf32>
  // expected-error @+1 {{source and result differ in element type}}
  %b = tile.reduce sum %a axis 1 extent(%n) : tensor<4x2xf32> -> tensor<4xf64>
  tile.return
}

// -----

tile.program @arg_reduce(%n: index) attributes {waves = 1 : i64} {
  %a = arith.constant dense<0.0> : tensor<4x2xf32>
  %j = arith.constant dense<0> : tensor<2xi64>
  // expected-error @+1 {{indices must have the shape of}}
  %b, %i = tile.arg_reduce maximum %a, %j axis 1 extent(%n) : tensor<4x2xf32>, tensor<2xi64> -> tensor<4xf32>, tensor<4xi64>
  tile.return
}

// -----

tile.program @arg_reduce(%n: index) attributes {waves = 1 : i64} {
  %a = arith.constant dense<0.0> : tensor<4x2xf32>
  // expected-error @+1 {{indices must be integers}}
  %b, %i = tile.arg_reduce maximum %a, %a axis 1 extent(%n) : tensor<4x2xf32>, tensor<4x2xf32> -> tensor<4xf32>, tensor<4xf32>
  tile.return
}

// -----

tile.program @arg_reduce(%n: index) attributes {waves = 1 : i64} {
  %a = arith.constant dense<0.0> : tensor<4x2xf32>
  %j = arith.constant dense<0> : tensor<4x2xi64>
  // expected-error @+1 {{results must have the element types of the operands}}
  %b, %i = tile.arg_reduce maximum %a, %j axis 1 extent(%n) : tensor<4x2xf32>, tensor<4x2xi64> -> tensor<4xf32>, tensor<4xi32>
  tile.return
}

// -----

tile.program @dot(%n: index) attributes {waves = 1 : i64} {
  %a = arith.constant dense<0.0> : tensor<4x2xf32>
  %c = arith.constant dense<0.0> : tensor<4x4xf32>
  // expected-error @+1 {{K differs between 'tensor<4x2xf32>' and 'tensor<4x2xf32>'}}
  %d = tile.dot %a, %a, %c extent(%n) : tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x4xf32>
  tile.return
}

// -----

tile.program @dot(%n: index) attributes {waves = 1 : i64} {
  %a = arith.constant dense<0.0> : tensor<4x2xf32>
  %b = arith.constant dense<0.0> : tensor<2x8xf32>
  %c = arith.constant dense<0.0> : tensor<4x4xf32>
  // expected-error @+1 {{M or N differs between the operands and 'tensor<4x4xf32>'}}
  %d = tile.dot %a, %b, %c extent(%n) : tensor<4x2xf32>, tensor<2x8xf32>, tensor<4x4xf32>
  tile.return
}

// -----

tile.program @dot(%n: index) attributes {waves = 1 : i64} {
  %a = arith.constant dense<0.0> : tensor<4xf32>
  %c = arith.constant dense<0.0> : tensor<4x4xf32>
  // expected-error @+1 {{operands must have two dimensions}}
  %d = tile.dot %a, %a, %c extent(%n) : tensor<4xf32>, tensor<4xf32>, tensor<4x4xf32>
  tile.return
}

// -----

tile.program @fill_beyond(%n: index) attributes {waves = 1 : i64} {
  %a = arith.constant dense<0.0> : tensor<4xf32>
  // expected-error @+1 {{value 0 : i32 for a tile of 'f32'}}
  %b = tile.fill_beyond %a axis 0 extent(%n) with 0 : i32 : tensor<4xf32>
  tile.return
}

// -----

tile.program @fill_beyond(%n: index) attributes {waves = 1 : i64} {
  %a = arith.constant dense<0.0> : tensor<4xf32>
  // expected-error @+1 {{axis 1 is not in [0, 1)}}
  %b = tile.fill_beyond %a axis 1 extent(%n) with 0.0 : f32 : tensor<4xf32>
  tile.return
}

// -----

tile.program @stage_store(%n: index) attributes {waves = 1 : i64} {
  %a = arith.constant dense<0.0> : tensor<4x4xf32>
  %s = tile.stage_alloc : !tile.staging<1 x [4, 8] x f32, unit>
  // expected-error @+1 {{tile 'tensor<4x4xf32>' does not fit}}
  tile.stage_store %a, %s[%n] : tensor<4x4xf32>, !tile.staging<1 x [4, 8] x f32, unit>
  tile.return
}

// -----

tile.program @stage_load(%n: index) attributes {waves = 1 : i64} {
  %s = tile.stage_alloc : !tile.staging<1 x [4, 8] x f32, unit>
  // expected-error @+1 {{tile 'tensor<4x8xf16>' does not fit}}
  %a = tile.stage_load %s[%n] : !tile.staging<1 x [4, 8] x f32, unit> -> tensor<4x8xf16>
  tile.return
}

// -----

tile.program @convert_layout() attributes {waves = 1 : i64} {
  %a = arith.constant dense<0.0> : tensor<4xf32>
  // expected-error @+1 {{source and result differ in shape}}
  %b = tile.convert_layout %a : tensor<4xf32> -> tensor<8xf32>
  tile.return
}

// -----

tile.program @convert_layout() attributes {waves = 1 : i64} {
  %a = arith.constant dense<0.0> : tensor<4xf32>
  // expected-error @+1 {{source and result differ in element type}}
  %b = tile.convert_layout %a : tensor<4xf32> -> tensor<4xf64>
  tile.return
}

// -----

tile.program @block_id() attributes {waves = 1 : i64} {
  // expected-error @+1 {{attribute 'dim' failed to satisfy constraint}}
  %i = tile.block_id 3
  tile.return
}

// -----

tile.program @dot(%n: index) attributes {waves = 1 : i64} {
  %a = arith.constant dense<0.0> : tensor<16x16xf16>
  %b = arith.constant dense<0.0> : tensor<16x16xbf16>
  %c = arith.constant dense<0.0> : tensor<16x16xf32>
  // expected-error @+1 {{operands of 'f16' and 'bf16'}}
  %d = tile.dot %a, %b, %c extent(%n) : tensor<16x16xf16>, tensor<16x16xbf16>, tensor<16x16xf32>
  tile.return
}

// -----

tile.program @dot(%n: index) attributes {waves = 1 : i64} {
  %a = arith.constant dense<0> : tensor<16x16xi8>
  %c = arith.constant dense<0.0> : tensor<16x16xf32>
  // expected-error @+1 {{cannot sum products of 'i8' in 'f32'}}
  %d = tile.dot %a, %a, %c extent(%n) : tensor<16x16xi8>, tensor<16x16xi8>, tensor<16x16xf32>
  tile.return
}

// -----

tile.program @arg_reduce(%n: index) attributes {waves = 1 : i64} {
  %a = arith.constant dense<true> : tensor<4xi1>
  %i = tile.iota : tensor<4xi64>
  // expected-error @+1 {{compares numbers, not i1}}
  %v, %j = tile.arg_reduce maximum %a, %i axis 0 extent(%n) : tensor<4xi1>, tensor<4xi64> -> tensor<i1>, tensor<i64>
  tile.return
}
