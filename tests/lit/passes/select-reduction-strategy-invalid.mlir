// RUN: wavetile-opt %s --tile-select-reduction-strategy --split-input-file --verify-diagnostics

// The result may overlap x, which the second phase reads again after the first
// chunk of it is stored.
module attributes {tile.config = {rows = 1 : i64, cols = 1024 : i64, cols.strategy = "looped", waves = 2 : i64}} {
tile.kernel @overlap(%x: !tile.pointer<f32> {tile.binding = 0 : i64}, %y: !tile.pointer<f32> {tile.binding = 1 : i64},
                     %m: index {tile.binding = 0 : i64}, %n: index {tile.binding = 1 : i64}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %v = tile.view %x sizes(%m, %n) strides(%n, %c1) : !tile.pointer<f32> -> !tile.view<2 x f32>
  %w = tile.view %y sizes(%m, %n) strides(%n, %c1) : !tile.pointer<f32> -> !tile.view<2 x f32>
  tile.parallel (%c0) to (%m) dims ["rows"] {
  ^bb0(%row: index, %rows: index):
    %a = tile.load %v[%row, %c0] dims [0, 1] extents(%rows, %n) : !tile.view<2 x f32> -> tensor<?x?xf32, #tile.dims<[rows, cols]>>
    // expected-error @below {{row 'cols' cannot be walked in chunks: that would change the order of two accesses that may touch the same bytes, because tensors may overlap}}
    tile.store %a, %w[%row, %c0] dims [0, 1] extents(%rows, %n) : tensor<?x?xf32, #tile.dims<[rows, cols]>>, !tile.view<2 x f32>
  }
  tile.return
}
}

// -----

// In place, but one element further: an element meets another one's.
module attributes {tile.config = {rows = 1 : i64, cols = 1024 : i64, cols.strategy = "looped", waves = 2 : i64}} {
tile.kernel @shifted(%x: !tile.pointer<f32> {tile.binding = 0 : i64}, %n: index {tile.binding = 0 : i64}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %v = tile.view %x sizes(%n) strides(%c1) : !tile.pointer<f32> -> !tile.view<1 x f32>
  tile.parallel (%c0) to (%c1) dims ["rows"] {
  ^bb0(%row: index, %rows: index):
    %a = tile.load %v[%c0] dims [0] extents(%n) : !tile.view<1 x f32> -> tensor<?xf32, #tile.dims<[cols]>>
    // expected-error @below {{tensors may overlap}}
    tile.store %a, %v[%c1] dims [0] extents(%n) : tensor<?xf32, #tile.dims<[cols]>>, !tile.view<1 x f32>
  }
  tile.return
}
}

// -----

// In place, element for element, but x is read again in a later phase.
module attributes {tile.config = {rows = 1 : i64, cols = 1024 : i64, cols.strategy = "looped", waves = 2 : i64}} {
tile.kernel @early_store(%x: !tile.pointer<f32> {tile.binding = 0 : i64}, %y: !tile.pointer<f32> {tile.binding = 1 : i64},
                         %n: index {tile.binding = 0 : i64}) attributes {disjoint} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %v = tile.view %x sizes(%n) strides(%c1) : !tile.pointer<f32> -> !tile.view<1 x f32>
  %w = tile.view %y sizes(%n) strides(%c1) : !tile.pointer<f32> -> !tile.view<1 x f32>
  tile.parallel (%c0) to (%c1) dims ["rows"] {
  ^bb0(%row: index, %rows: index):
    %a = tile.load %v[%c0] dims [0] extents(%n) : !tile.view<1 x f32> -> tensor<?xf32, #tile.dims<[cols]>>
    %d = arith.addf %a, %a : tensor<?xf32, #tile.dims<[cols]>>
    // expected-error @below {{tensors may overlap}}
    tile.store %d, %v[%c0] dims [0] extents(%n) : tensor<?xf32, #tile.dims<[cols]>>, !tile.view<1 x f32>
    %s = tile.reduce sum %a axis 0 extent(%n) : tensor<?xf32, #tile.dims<[cols]>> -> tensor<f32>
    %s1 = tile.expand_dims %s axis 0 : tensor<f32> -> tensor<1xf32>
    %sb = tile.broadcast %s1 : tensor<1xf32> -> tensor<?xf32, #tile.dims<[cols]>>
    %q = arith.divf %a, %sb : tensor<?xf32, #tile.dims<[cols]>>
    tile.store %q, %w[%c0] dims [0] extents(%n) : tensor<?xf32, #tile.dims<[cols]>>, !tile.view<1 x f32>
  }
  tile.return
}
}

// -----

module attributes {tile.config = {rows = 1 : i64, cols = 1024 : i64, k = 8 : i64, cols.strategy = "looped", waves = 2 : i64}} {
tile.kernel @inner_loop(%x: !tile.pointer<f32> {tile.binding = 0 : i64}, %n: index {tile.binding = 0 : i64}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %v = tile.view %x sizes(%n) strides(%c1) : !tile.pointer<f32> -> !tile.view<1 x f32>
  tile.parallel (%c0) to (%c1) dims ["rows"] {
  ^bb0(%row: index, %rows: index):
    // expected-error @below {{row 'cols' cannot be walked in chunks: a loop inside it uses the whole row}}
    tile.for (%c0) to (%n) dim "k" {
    ^bb0(%begin: index, %extent: index):
      %a = tile.load %v[%c0] dims [0] extents(%n) : !tile.view<1 x f32> -> tensor<?xf32, #tile.dims<[cols]>>
    }
  }
  tile.return
}
}

// -----

module attributes {tile.config = {rows = 1 : i64, cols = 64 : i64, waves = 1 : i64}} {
tile.kernel @longer_than_capacity(%x: !tile.pointer<f32> {tile.binding = 0 : i64}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c65 = arith.constant 65 : index
  %v = tile.view %x sizes(%c65) strides(%c1) : !tile.pointer<f32> -> !tile.view<1 x f32>
  // expected-error @below {{row 'cols' has 65 elements, more than its capacity of 64}}
  tile.parallel (%c0) to (%c1) dims ["rows"] {
  ^bb0(%row: index, %rows: index):
    %a = tile.load %v[%c0] dims [0] extents(%c65) : !tile.view<1 x f32> -> tensor<?xf32, #tile.dims<[cols]>>
  }
  tile.return
}
}

// -----

module attributes {tile.config = {rows = 1 : i64, cols = 64 : i64, cols.strategy = "grid", waves = 1 : i64}} {
tile.kernel @no_blocks(%x: !tile.pointer<f32> {tile.binding = 0 : i64}, %n: index {tile.binding = 0 : i64}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %v = tile.view %x sizes(%n) strides(%c1) : !tile.pointer<f32> -> !tile.view<1 x f32>
  // expected-error @below {{strategy grid needs 'cols.blocks'}}
  tile.parallel (%c0) to (%c1) dims ["rows"] {
  ^bb0(%row: index, %rows: index):
    %a = tile.load %v[%c0] dims [0] extents(%n) : !tile.view<1 x f32> -> tensor<?xf32, #tile.dims<[cols]>>
    tile.store %a, %v[%c0] dims [0] extents(%n) : tensor<?xf32, #tile.dims<[cols]>>, !tile.view<1 x f32>
  }
  tile.return
}
}

// -----

// 'k' is walked by a loop of the kernel.
module attributes {tile.config = {rows = 1 : i64, k = 64 : i64, k.strategy = "looped", waves = 1 : i64}} {
// expected-error @below {{has a loop over 'k', so that the Config's 'k.strategy' does not apply; only rows, such as x[i, :], have strategies}}
tile.kernel @loop(%n: index {tile.binding = 0 : i64}) {
  %c0 = arith.constant 0 : index
  tile.parallel (%c0) to (%n) dims ["rows"] {
  ^bb0(%row: index, %rows: index):
    tile.for (%c0) to (%n) dim "k" {
    ^bb0(%begin: index, %extent: index):
    }
  }
  tile.return
}
}

// -----

module attributes {tile.config = {rows = 1 : i64, rows.blocks = 4 : i64, waves = 1 : i64}} {
// expected-error @below {{has a loop over 'rows', so that the Config's 'rows.blocks' does not apply}}
tile.kernel @parallel(%n: index {tile.binding = 0 : i64}) {
  %c0 = arith.constant 0 : index
  tile.parallel (%c0) to (%n) dims ["rows"] {
  ^bb0(%row: index, %rows: index):
  }
  tile.return
}
}

// -----

// No strategy is named: rows are resident.
module attributes {tile.config = {rows = 1 : i64, cols = 1024 : i64, cols.blocks = 4 : i64, waves = 1 : i64}} {
// expected-error @below {{does not share rows of 'cols' between blocks, so that the Config's 'cols.blocks' does not apply; remove it or set cols.strategy=grid}}
tile.kernel @resident(%x: !tile.pointer<f32> {tile.binding = 0 : i64}, %n: index {tile.binding = 0 : i64}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %v = tile.view %x sizes(%n) strides(%c1) : !tile.pointer<f32> -> !tile.view<1 x f32>
  tile.parallel (%c0) to (%c1) dims ["rows"] {
  ^bb0(%row: index, %rows: index):
    %a = tile.load %v[%c0] dims [0] extents(%n) : !tile.view<1 x f32> -> tensor<?xf32, #tile.dims<[cols]>>
    tile.store %a, %v[%c0] dims [0] extents(%n) : tensor<?xf32, #tile.dims<[cols]>>, !tile.view<1 x f32>
  }
  tile.return
}
}
