// RUN: wavetile-opt --tile-interpret %s -split-input-file -verify-diagnostics -o /dev/null | FileCheck %s

// Lines have no order: blocks run in a random one. Extents end the last block.
// CHECK-DAG: x [0]: 0.100000001, 3
// CHECK-DAG: x [1]: -2, 3
// CHECK-DAG: x [2]: 1.00000002e+20, 3
// CHECK-NOT: x [3]
module attributes {tile.config = {rows = 2}, tile.inputs = {
    x = dense<[0.1, -2.0, 1.0e+20]> : tensor<3xf32>}} {
  tile.kernel @print(%x: !tile.pointer<f32> {tile.name = "x"}) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %three = arith.constant 3 : i64
    %v = tile.view %x sizes(%c3) strides(%c1) : !tile.pointer<f32> -> !tile.view<1 x f32>
    tile.parallel (%c0) to (%c3) dims ["rows"] {
    ^bb0(%row: index, %rows: index):
      %a = tile.load %v[%row] dims [0] extents(%rows)
          : !tile.view<1 x f32> -> tensor<?xf32, #tile.dims<[rows]>>
      %b = tile.full %three : i64 -> tensor<?xi64, #tile.dims<[rows]>>
      tile.print "x" (%a, %b : tensor<?xf32, #tile.dims<[rows]>>,
          tensor<?xi64, #tile.dims<[rows]>>) offsets(%row) extents(%rows)
    }
    tile.return
  }
}

// -----

// CHECK: once
// CHECK: n: 5
module attributes {tile.inputs = {}} {
  tile.kernel @scalars() {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %five = arith.constant 5 : i64
    tile.parallel (%c0) to (%c1) dims ["_"] {
    ^bb0(%row: index, %rows: index):
      tile.print "once"
      %n = tile.full %five : i64 -> tensor<i64>
      tile.print "n" (%n : tensor<i64>)
    }
    tile.return
  }
}

// -----

module attributes {tile.config = {rows = 4}, tile.inputs = {}} {
  tile.kernel @assert() {
    %c0 = arith.constant 0 : index
    %c3 = arith.constant 3 : index
    %two = arith.constant 2 : i64
    tile.parallel (%c0) to (%c3) dims ["rows"] {
    ^bb0(%row: index, %rows: index):
      %i = tile.iota : tensor<?xi64, #tile.dims<[rows]>>
      %t = tile.full %two : i64 -> tensor<?xi64, #tile.dims<[rows]>>
      %c = arith.cmpi slt, %i, %t : tensor<?xi64, #tile.dims<[rows]>>
      // expected-error@+1 {{does not hold [2]: below two}}
      tile.assert %c, "below two" offsets(%row) extents(%rows) : tensor<?xi1, #tile.dims<[rows]>>
    }
    tile.return
  }
}
