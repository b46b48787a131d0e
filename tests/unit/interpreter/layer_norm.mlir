// (x - mean) / sqrt(variance + eps) * weight + bias.
!narrow = tensor<?x?xf16, #tile.dims<[rows, cols]>>
!row = tensor<?xf32, #tile.dims<[rows]>>
!column = tensor<?x1xf32, #tile.dims<[rows, _]>>
!tile = tensor<?x?xf32, #tile.dims<[rows, cols]>>
!line = tensor<?xf32, #tile.dims<[cols]>>
!line1 = tensor<1x?xf32, #tile.dims<[_, cols]>>

tile.kernel @layer_norm(%x: !tile.pointer<f16> {tile.name = "x"},
                        %weight: !tile.pointer<f32> {tile.name = "weight"},
                        %bias: !tile.pointer<f32> {tile.name = "bias"},
                        %out: !tile.pointer<f16> {tile.name = "out"},
                        %m: index {tile.name = "m"}, %n: index {tile.name = "n"},
                        %eps: f32 {tile.name = "eps"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %xv = tile.view %x sizes(%m, %n) strides(%n, %c1) : !tile.pointer<f16> -> !tile.view<2 x f16>
  %wv = tile.view %weight sizes(%n) strides(%c1) : !tile.pointer<f32> -> !tile.view<1 x f32>
  %bv = tile.view %bias sizes(%n) strides(%c1) : !tile.pointer<f32> -> !tile.view<1 x f32>
  %ov = tile.view %out sizes(%m, %n) strides(%n, %c1) : !tile.pointer<f16> -> !tile.view<2 x f16>
  tile.parallel (%c0) to (%m) dims ["rows"] {
  ^bb0(%row: index, %rows: index):
    %a = tile.load %xv[%row, %c0] dims [0, 1] extents(%rows, %n) : !tile.view<2 x f16> -> !narrow
    %v = arith.extf %a : !narrow to !tile
    %n64 = arith.index_cast %n : index to i64
    %length = arith.sitofp %n64 : i64 to f32
    %lengths = tile.full %length : f32 -> !row
    %sum = tile.reduce sum %v axis 1 extent(%n) reassociate : !tile -> !row
    %mean = arith.divf %sum, %lengths : !row
    %mean1 = tile.expand_dims %mean axis 1 : !row -> !column
    %means = tile.broadcast %mean1 : !column -> !tile
    %deviation = arith.subf %v, %means : !tile
    %squares = arith.mulf %deviation, %deviation : !tile
    %sum2 = tile.reduce sum %squares axis 1 extent(%n) reassociate : !tile -> !row
    %variance = arith.divf %sum2, %lengths : !row
    %epss = tile.full %eps : f32 -> !row
    %shifted = arith.addf %variance, %epss : !row
    %scale = math.rsqrt %shifted : !row
    %scale1 = tile.expand_dims %scale axis 1 : !row -> !column
    %scales = tile.broadcast %scale1 : !column -> !tile
    %normal = arith.mulf %deviation, %scales : !tile
    %w = tile.load %wv[%c0] dims [0] extents(%n) : !tile.view<1 x f32> -> !line
    %w1 = tile.expand_dims %w axis 0 : !line -> !line1
    %ws = tile.broadcast %w1 : !line1 -> !tile
    %b = tile.load %bv[%c0] dims [0] extents(%n) : !tile.view<1 x f32> -> !line
    %b1 = tile.expand_dims %b axis 0 : !line -> !line1
    %bs = tile.broadcast %b1 : !line1 -> !tile
    %r = math.fma %normal, %ws, %bs : !tile
    %narrow = arith.truncf %r : !tile to !narrow
    tile.store %narrow, %ov[%row, %c0] dims [0, 1] extents(%rows, %n) : !narrow, !tile.view<2 x f16>
  }
  tile.return
}
