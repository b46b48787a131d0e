// What tiles of indices, masks and atomics may be.
// RUN: wavetile-opt %s -split-input-file -verify-diagnostics

tile.kernel @indexed_twice(%x: !tile.pointer<f32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %v = tile.view %x sizes(%n) strides(%c1) : !tile.pointer<f32> -> !tile.view<1 x f32>
  tile.parallel (%c0) to (%n) dims ["rows"] {
  ^bb0(%row: index, %rows: index):
    %i = tile.iota : tensor<?xi64, #tile.dims<[rows]>>
    // expected-error@+1 {{cannot index dimension 0}}
    %a = tile.load %v[%row] dims [0] at [0](%i : tensor<?xi64, #tile.dims<[rows]>>) extents(%rows)
        : !tile.view<1 x f32> -> tensor<?xf32, #tile.dims<[rows]>>
  }
  tile.return
}

// -----

tile.kernel @other_shape(%x: !tile.pointer<f32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %v = tile.view %x sizes(%n) strides(%c1) : !tile.pointer<f32> -> !tile.view<1 x f32>
  tile.parallel (%c0) to (%n) dims ["rows"] {
  ^bb0(%row: index, %rows: index):
    %i = tile.iota : tensor<?xi64, #tile.dims<[cols]>>
    // expected-error@+1 {{and in each dimension its size or size one}}
    %a = tile.load %v[%c0] dims [-1] at [0](%i : tensor<?xi64, #tile.dims<[cols]>>) extents(%rows)
        : !tile.view<1 x f32> -> tensor<?xf32, #tile.dims<[rows]>>
  }
  tile.return
}

// -----

tile.kernel @mask_of_numbers(%x: !tile.pointer<f32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %v = tile.view %x sizes(%n) strides(%c1) : !tile.pointer<f32> -> !tile.view<1 x f32>
  tile.parallel (%c0) to (%n) dims ["rows"] {
  ^bb0(%row: index, %rows: index):
    %i = tile.iota : tensor<?xi64, #tile.dims<[rows]>>
    // expected-error@+1 {{mask must be i1}}
    %a = tile.load %v[%row] dims [0] mask(%i : tensor<?xi64, #tile.dims<[rows]>>) extents(%rows)
        : !tile.view<1 x f32> -> tensor<?xf32, #tile.dims<[rows]>>
  }
  tile.return
}

// -----

tile.kernel @bits_of_floats(%x: !tile.pointer<f32>, %n: index, %s: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %v = tile.view %x sizes(%n) strides(%c1) : !tile.pointer<f32> -> !tile.view<1 x f32>
  tile.parallel (%c0) to (%n) dims ["rows"] {
  ^bb0(%row: index, %rows: index):
    %a = tile.full %s : f32 -> tensor<?xf32, #tile.dims<[rows]>>
    // expected-error@+1 {{xor needs integers}}
    %o = tile.atomic xor %a, %v[%row] dims [0] extents(%rows) order relaxed scope device
        : tensor<?xf32, #tile.dims<[rows]>>, !tile.view<1 x f32>
  }
  tile.return
}

// -----

tile.kernel @nothing_to_compare(%x: !tile.pointer<f32>, %n: index, %s: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %v = tile.view %x sizes(%n) strides(%c1) : !tile.pointer<f32> -> !tile.view<1 x f32>
  tile.parallel (%c0) to (%n) dims ["rows"] {
  ^bb0(%row: index, %rows: index):
    %a = tile.full %s : f32 -> tensor<?xf32, #tile.dims<[rows]>>
    // expected-error@+1 {{takes 'compare' if it is a compare_exchange}}
    %o = tile.atomic compare_exchange %a, %v[%row] dims [0] extents(%rows) order relaxed
        scope device : tensor<?xf32, #tile.dims<[rows]>>, !tile.view<1 x f32>
  }
  tile.return
}
