// x @ y, summed in f32.
!lhs = tensor<?x?xbf16, #tile.dims<[rows, inner]>>
!rhs = tensor<?x?xbf16, #tile.dims<[inner, cols]>>
!acc = tensor<?x?xf32, #tile.dims<[rows, cols]>>
!narrow = tensor<?x?xbf16, #tile.dims<[rows, cols]>>

tile.kernel @matmul(%x: !tile.pointer<bf16> {tile.name = "x"},
                    %y: !tile.pointer<bf16> {tile.name = "y"},
                    %out: !tile.pointer<bf16> {tile.name = "out"},
                    %m: index {tile.name = "m"}, %n: index {tile.name = "n"},
                    %k: index {tile.name = "k"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %xv = tile.view %x sizes(%m, %k) strides(%k, %c1) : !tile.pointer<bf16> -> !tile.view<2 x bf16>
  %yv = tile.view %y sizes(%k, %n) strides(%n, %c1) : !tile.pointer<bf16> -> !tile.view<2 x bf16>
  %ov = tile.view %out sizes(%m, %n) strides(%n, %c1) : !tile.pointer<bf16> -> !tile.view<2 x bf16>
  tile.parallel (%c0, %c0) to (%m, %n) dims ["rows", "cols"] {
  ^bb0(%row: index, %rows: index, %col: index, %cols: index):
    %zero = arith.constant 0.0 : f32
    %zeros = tile.full %zero : f32 -> !acc
    %sum = tile.for (%c0) to (%k) dim "inner" carries(%zeros) : !acc {
    ^bb0(%begin: index, %extent: index, %acc: !acc):
      %a = tile.load %xv[%row, %begin] dims [0, 1] extents(%rows, %extent) : !tile.view<2 x bf16> -> !lhs
      %b = tile.load %yv[%begin, %col] dims [0, 1] extents(%extent, %cols) : !tile.view<2 x bf16> -> !rhs
      %next = tile.dot %a, %b, %acc extent(%extent) : !lhs, !rhs, !acc
      tile.yield %next : !acc
    }
    %r = arith.truncf %sum : !acc to !narrow
    tile.store %r, %ov[%row, %col] dims [0, 1] extents(%rows, %cols) : !narrow, !tile.view<2 x bf16>
  }
  tile.return
}
