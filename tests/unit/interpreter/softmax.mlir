// Softmax of rows `first` to `last`; rows are `stride` elements apart.
!narrow = tensor<?x?xbf16, #tile.dims<[rows, cols]>>
!row = tensor<?xf32, #tile.dims<[rows]>>
!column = tensor<?x1xf32, #tile.dims<[rows, _]>>
!tile = tensor<?x?xf32, #tile.dims<[rows, cols]>>
!line = tensor<?xf32, #tile.dims<[cols]>>
!line1 = tensor<1x?xf32, #tile.dims<[_, cols]>>

tile.kernel @softmax(%x: !tile.pointer<bf16> {tile.name = "x"},
                     %out: !tile.pointer<bf16> {tile.name = "out"},
                     %m: index {tile.name = "m"}, %n: index {tile.name = "n"},
                     %first: index {tile.name = "first"}, %last: index {tile.name = "last"},
                     %stride: index {tile.name = "stride"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %xv = tile.view %x sizes(%m, %n) strides(%stride, %c1) : !tile.pointer<bf16> -> !tile.view<2 x bf16>
  %ov = tile.view %out sizes(%m, %n) strides(%n, %c1) : !tile.pointer<bf16> -> !tile.view<2 x bf16>
  tile.parallel (%first) to (%last) dims ["rows"] {
  ^bb0(%row: index, %rows: index):
    %a = tile.load %xv[%row, %c0] dims [0, 1] extents(%rows, %n) : !tile.view<2 x bf16> -> !narrow
    %v = arith.extf %a : !narrow to !tile
    %max = tile.reduce maximum %v axis 1 extent(%n) : !tile -> !row
    %max1 = tile.expand_dims %max axis 1 : !row -> !column
    %maxs = tile.broadcast %max1 : !column -> !tile
    %d = arith.subf %v, %maxs : !tile
    %e = math.exp %d fastmath<contract,afn> : !tile
    %sum = tile.reduce sum %e axis 1 extent(%n) reassociate : !tile -> !row
    %sum1 = tile.expand_dims %sum axis 1 : !row -> !column
    %sums = tile.broadcast %sum1 : !column -> !tile
    %q = arith.divf %e, %sums fastmath<contract,arcp> : !tile
    %r = arith.truncf %q : !tile to !narrow
    tile.store %r, %ov[%row, %c0] dims [0, 1] extents(%rows, %n) : !narrow, !tile.view<2 x bf16>
  }
  tile.return
}
