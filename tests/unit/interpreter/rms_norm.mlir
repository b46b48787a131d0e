// x / sqrt(mean(x^2) + eps) * weight, in place: `out` may be `x`.
!row = tensor<?xf32, #tile.dims<[rows]>>
!column = tensor<?x1xf32, #tile.dims<[rows, _]>>
!tile = tensor<?x?xf32, #tile.dims<[rows, cols]>>
!line = tensor<?xf32, #tile.dims<[cols]>>
!line1 = tensor<1x?xf32, #tile.dims<[_, cols]>>

tile.kernel @rms_norm(%x: !tile.pointer<f32> {tile.name = "x"},
                      %weight: !tile.pointer<f32> {tile.name = "weight"},
                      %out: !tile.pointer<f32> {tile.name = "out"},
                      %m: index {tile.name = "m"}, %n: index {tile.name = "n"},
                      %eps: f32 {tile.name = "eps"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %xv = tile.view %x sizes(%m, %n) strides(%n, %c1) : !tile.pointer<f32> -> !tile.view<2 x f32>
  %wv = tile.view %weight sizes(%n) strides(%c1) : !tile.pointer<f32> -> !tile.view<1 x f32>
  %ov = tile.view %out sizes(%m, %n) strides(%n, %c1) : !tile.pointer<f32> -> !tile.view<2 x f32>
  tile.parallel (%c0) to (%m) dims ["rows"] {
  ^bb0(%row: index, %rows: index):
    %v = tile.load %xv[%row, %c0] dims [0, 1] extents(%rows, %n) : !tile.view<2 x f32> -> !tile
    %squares = arith.mulf %v, %v : !tile
    %sum = tile.reduce sum %squares axis 1 extent(%n) reassociate : !tile -> !row
    %n64 = arith.index_cast %n : index to i64
    %length = arith.sitofp %n64 : i64 to f32
    %lengths = tile.full %length : f32 -> !row
    %mean = arith.divf %sum, %lengths : !row
    %epss = tile.full %eps : f32 -> !row
    %shifted = arith.addf %mean, %epss : !row
    %scale = math.rsqrt %shifted : !row
    %scale1 = tile.expand_dims %scale axis 1 : !row -> !column
    %scales = tile.broadcast %scale1 : !column -> !tile
    %normal = arith.mulf %v, %scales : !tile
    %w = tile.load %wv[%c0] dims [0] extents(%n) : !tile.view<1 x f32> -> !line
    %w1 = tile.expand_dims %w axis 0 : !line -> !line1
    %ws = tile.broadcast %w1 : !line1 -> !tile
    %r = arith.mulf %normal, %ws : !tile
    tile.store %r, %ov[%row, %c0] dims [0, 1] extents(%rows, %n) : !tile, !tile.view<2 x f32>
  }
  tile.return
}
