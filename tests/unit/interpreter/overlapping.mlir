// Stores between two uses of one load: where `out` is `x`, the second use must still
// see what the load read.
!row = tensor<?xf32, #tile.dims<[rows]>>
!column = tensor<?x1xf32, #tile.dims<[rows, _]>>
!tile = tensor<?x?xf32, #tile.dims<[rows, cols]>>
!line = tensor<?xf32, #tile.dims<[cols]>>
!line1 = tensor<1x?xf32, #tile.dims<[_, cols]>>

tile.kernel @overlapping(%x: !tile.pointer<f32> {tile.name = "x"},
                         %out: !tile.pointer<f32> {tile.name = "out"},
                         %shifted: !tile.pointer<f32> {tile.name = "shifted"},
                         %m: index {tile.name = "m"}, %n: index {tile.name = "n"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %xv = tile.view %x sizes(%m, %n) strides(%n, %c1) : !tile.pointer<f32> -> !tile.view<2 x f32>
  %ov = tile.view %out sizes(%m, %n) strides(%n, %c1) : !tile.pointer<f32> -> !tile.view<2 x f32>
  %sv = tile.view %shifted sizes(%m, %n) strides(%n, %c1) : !tile.pointer<f32> -> !tile.view<2 x f32>
  tile.parallel (%c0) to (%m) dims ["rows"] {
  ^bb0(%row: index, %rows: index):
    %v = tile.load %xv[%row, %c0] dims [0, 1] extents(%rows, %n) : !tile.view<2 x f32> -> !tile
    %double = arith.addf %v, %v : !tile
    tile.store %double, %ov[%row, %c0] dims [0, 1] extents(%rows, %n) : !tile, !tile.view<2 x f32>
    %sum = tile.reduce maximum %v axis 1 extent(%n) : !tile -> !row
    %sum1 = tile.expand_dims %sum axis 1 : !row -> !column
    %sums = tile.broadcast %sum1 : !column -> !tile
    %r = arith.addf %v, %sums : !tile
    tile.store %r, %sv[%row, %c0] dims [0, 1] extents(%rows, %n) : !tile, !tile.view<2 x f32>
  }
  tile.return
}
