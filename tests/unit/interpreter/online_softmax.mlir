// Softmax of columns `first` to `last`, with a running maximum and a sum that is rescaled when it grows.
!wide = tensor<?x?xf32, #tile.dims<[rows, part]>>
!narrow = tensor<?x?xf16, #tile.dims<[rows, part]>>
!row = tensor<?xf32, #tile.dims<[rows]>>
!column = tensor<?x1xf32, #tile.dims<[rows, _]>>

tile.kernel @online_softmax(%x: !tile.pointer<f16> {tile.name = "x"},
                            %out: !tile.pointer<f16> {tile.name = "out"},
                            %m: index {tile.name = "m"}, %n: index {tile.name = "n"},
                            %first: index {tile.name = "first"}, %last: index {tile.name = "last"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %xv = tile.view %x sizes(%m, %n) strides(%n, %c1) : !tile.pointer<f16> -> !tile.view<2 x f16>
  %ov = tile.view %out sizes(%m, %n) strides(%n, %c1) : !tile.pointer<f16> -> !tile.view<2 x f16>
  tile.parallel (%c0) to (%m) dims ["rows"] {
  ^bb0(%row: index, %rows: index):
    %lowest = arith.constant 0xFF800000 : f32
    %zero = arith.constant 0.0 : f32
    %lowests = tile.full %lowest : f32 -> !row
    %zeros = tile.full %zero : f32 -> !row
    %max, %sum = tile.for (%first) to (%last) dim "part" carries(%lowests, %zeros) : !row, !row {
    ^bb0(%begin: index, %extent: index, %before: !row, %acc: !row):
      %a = tile.load %xv[%row, %begin] dims [0, 1] extents(%rows, %extent) : !tile.view<2 x f16> -> !narrow
      %v = arith.extf %a : !narrow to !wide
      %here = tile.reduce maximum %v axis 1 extent(%extent) : !wide -> !row
      %now = arith.maximumf %before, %here : !row
      %now1 = tile.expand_dims %now axis 1 : !row -> !column
      %nows = tile.broadcast %now1 : !column -> !wide
      %d = arith.subf %v, %nows : !wide
      %e = math.exp %d : !wide
      %s = tile.reduce sum %e axis 1 extent(%extent) reassociate : !wide -> !row
      %shift = arith.subf %before, %now : !row
      %factor = math.exp %shift : !row
      %scaled = arith.mulf %acc, %factor : !row
      %next = arith.addf %scaled, %s : !row
      tile.yield %now, %next : !row, !row
    }
    tile.for (%first) to (%last) dim "part" {
    ^bb0(%begin: index, %extent: index):
      %a = tile.load %xv[%row, %begin] dims [0, 1] extents(%rows, %extent) : !tile.view<2 x f16> -> !narrow
      %v = arith.extf %a : !narrow to !wide
      %max1 = tile.expand_dims %max axis 1 : !row -> !column
      %maxs = tile.broadcast %max1 : !column -> !wide
      %d = arith.subf %v, %maxs : !wide
      %e = math.exp %d : !wide
      %sum1 = tile.expand_dims %sum axis 1 : !row -> !column
      %sums = tile.broadcast %sum1 : !column -> !wide
      %q = arith.divf %e, %sums : !wide
      %r = arith.truncf %q : !wide to !narrow
      tile.store %r, %ov[%row, %begin] dims [0, 1] extents(%rows, %extent) : !narrow, !tile.view<2 x f16>
    }
  }
  tile.return
}
