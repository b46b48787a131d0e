// The index of the largest element of each row, and that element.
!indices = tensor<?xi64, #tile.dims<[rows]>>
!numbers = tensor<?xi64, #tile.dims<[cols]>>
!numbers1 = tensor<1x?xi64, #tile.dims<[_, cols]>>
!numbers2 = tensor<?x?xi64, #tile.dims<[rows, cols]>>
!row = tensor<?xf32, #tile.dims<[rows]>>
!column = tensor<?x1xf32, #tile.dims<[rows, _]>>
!tile = tensor<?x?xf32, #tile.dims<[rows, cols]>>
!line = tensor<?xf32, #tile.dims<[cols]>>
!line1 = tensor<1x?xf32, #tile.dims<[_, cols]>>

tile.kernel @argmax(%x: !tile.pointer<f32> {tile.name = "x"},
                    %values: !tile.pointer<f32> {tile.name = "values"},
                    %out: !tile.pointer<i64> {tile.name = "out"},
                    %m: index {tile.name = "m"}, %n: index {tile.name = "n"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %xv = tile.view %x sizes(%m, %n) strides(%n, %c1) : !tile.pointer<f32> -> !tile.view<2 x f32>
  %vv = tile.view %values sizes(%m) strides(%c1) : !tile.pointer<f32> -> !tile.view<1 x f32>
  %ov = tile.view %out sizes(%m) strides(%c1) : !tile.pointer<i64> -> !tile.view<1 x i64>
  tile.parallel (%c0) to (%m) dims ["rows"] {
  ^bb0(%row: index, %rows: index):
    %v = tile.load %xv[%row, %c0] dims [0, 1] extents(%rows, %n) : !tile.view<2 x f32> -> !tile
    %i = tile.iota : !numbers
    %i1 = tile.expand_dims %i axis 0 : !numbers -> !numbers1
    %is = tile.broadcast %i1 : !numbers1 -> !numbers2
    %max, %where = tile.arg_reduce maximum %v, %is axis 1 extent(%n) : !tile, !numbers2 -> !row, !indices
    tile.store %max, %vv[%row] dims [0] extents(%rows) : !row, !tile.view<1 x f32>
    tile.store %where, %ov[%row] dims [0] extents(%rows) : !indices, !tile.view<1 x i64>
  }
  tile.return
}
