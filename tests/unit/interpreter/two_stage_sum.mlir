// The sum of all elements: of each block to scratch, then of those.
!chunk = tensor<?xf32, #tile.dims<[i]>>
!parts = tensor<?xf32, #tile.dims<[blocks]>>
!one = tensor<f32>

tile.kernel @two_stage_sum(%x: !tile.pointer<f32> {tile.name = "x"},
                           %out: !tile.pointer<f32> {tile.name = "out"},
                           %n: index {tile.name = "n"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %size = tile.block_size "i"
  %count = arith.ceildivsi %n, %size : index
  %partial = tile.scratch (%count) : !tile.pointer<f32>
  %xv = tile.view %x sizes(%n) strides(%c1) : !tile.pointer<f32> -> !tile.view<1 x f32>
  %pv = tile.view %partial sizes(%count) strides(%c1) : !tile.pointer<f32> -> !tile.view<1 x f32>
  %ov = tile.view %out sizes(%c1) strides(%c1) : !tile.pointer<f32> -> !tile.view<1 x f32>
  tile.parallel (%c0) to (%n) dims ["i"] {
  ^bb0(%begin: index, %extent: index):
    %v = tile.load %xv[%begin] dims [0] extents(%extent) : !tile.view<1 x f32> -> !chunk
    %s = tile.reduce sum %v axis 0 extent(%extent) reassociate : !chunk -> !one
    %number = arith.divui %begin, %size : index
    tile.store %s, %pv[%number] dims [-1] : !one, !tile.view<1 x f32>
  }
  tile.parallel (%c0) to (%c1) dims ["single"] {
  ^bb0(%begin: index, %extent: index):
    %v = tile.load %pv[%c0] dims [0] extents(%count) : !tile.view<1 x f32> -> !parts
    %s = tile.reduce sum %v axis 0 extent(%count) reassociate : !parts -> !one
    tile.store %s, %ov[%c0] dims [-1] : !one, !tile.view<1 x f32>
  }
  tile.return
}
