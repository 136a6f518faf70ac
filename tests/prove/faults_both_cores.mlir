// ARGS: --pto-prove --split-input-file -o %t/out %s
// What the two vector cores beside a cube core must not both do.
!t = !pto.tile_buf<vec, 8x64xf32>
!v = !pto.partition_tensor_view<8x64xf32>
module attributes {ptl.machine = "a2"} {
  // Each vector core adds the same to `y`: it gets it twice.
  func.func @k_aic(%x: !pto.ptr<f32> {ptl.name = "x"}, %y: !pto.ptr<f32> {ptl.name = "y"}) attributes {pto.entry, ptl.kernel = "k", pto.kernel_kind = #pto.kernel_kind<cube>} {
    return
  }
  func.func @k_aiv(%x: !pto.ptr<f32> {ptl.name = "x"}, %y: !pto.ptr<f32> {ptl.name = "y"}) attributes {pto.entry, ptl.kernel = "k", pto.kernel_kind = #pto.kernel_kind<vector>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %c64 = arith.constant 64 : index
    %z = arith.constant 0 : i64
    %xv = pto.make_tensor_view %x, shape = [%c16, %c64], strides = [%c64, %c1] : !pto.tensor_view<16x64xf32>
    %yv = pto.make_tensor_view %y, shape = [%c16, %c64], strides = [%c64, %c1] : !pto.tensor_view<16x64xf32>
    %a = pto.alloc_tile addr = %z : !t loc("a"("k.ptl":3:9))
    %xb = pto.partition_view %xv, offsets = [%c0, %c0], sizes = [%c8, %c64] : !pto.tensor_view<16x64xf32> -> !v
    %yb = pto.partition_view %yv, offsets = [%c0, %c0], sizes = [%c8, %c64] : !pto.tensor_view<16x64xf32> -> !v
    pto.tload ins(%xb : !v) outs(%a : !t) loc("k.ptl":4:5)
    pto.set_flag[<PIPE_MTE2>, <PIPE_MTE3>, <EVENT_ID0>]
    pto.wait_flag[<PIPE_MTE2>, <PIPE_MTE3>, <EVENT_ID0>]
    pto.tstore ins(%a : !t) outs(%yb : !v) {atomicType = #pto<atomic_type atomic_add>} loc("k.ptl":6:5)
    return
  }
}

// -----
!t = !pto.tile_buf<vec, 8x64xf32>
!v = !pto.partition_tensor_view<8x64xf32>
module attributes {ptl.machine = "a2"} {
  // Each vector core changes `y` in place: one may load what the other has stored.
  func.func @k_aic(%x: !pto.ptr<f32> {ptl.name = "x"}, %y: !pto.ptr<f32> {ptl.name = "y"}) attributes {pto.entry, ptl.kernel = "k", pto.kernel_kind = #pto.kernel_kind<cube>} {
    return
  }
  func.func @k_aiv(%x: !pto.ptr<f32> {ptl.name = "x"}, %y: !pto.ptr<f32> {ptl.name = "y"}) attributes {pto.entry, ptl.kernel = "k", pto.kernel_kind = #pto.kernel_kind<vector>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %c64 = arith.constant 64 : index
    %z = arith.constant 0 : i64
    %xv = pto.make_tensor_view %x, shape = [%c16, %c64], strides = [%c64, %c1] : !pto.tensor_view<16x64xf32>
    %yv = pto.make_tensor_view %y, shape = [%c16, %c64], strides = [%c64, %c1] : !pto.tensor_view<16x64xf32>
    %a = pto.alloc_tile addr = %z : !t loc("a"("k.ptl":3:9))
    %yb = pto.partition_view %yv, offsets = [%c0, %c0], sizes = [%c8, %c64] : !pto.tensor_view<16x64xf32> -> !v
    pto.tload ins(%yb : !v) outs(%a : !t) loc("k.ptl":4:5)
    pto.set_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]
    pto.wait_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]
    pto.tabs ins(%a : !t) outs(%a : !t) loc("k.ptl":5:5)
    pto.set_flag[<PIPE_V>, <PIPE_MTE3>, <EVENT_ID0>]
    pto.wait_flag[<PIPE_V>, <PIPE_MTE3>, <EVENT_ID0>]
    pto.tstore ins(%a : !t) outs(%yb : !v) loc("k.ptl":6:5)
    return
  }
}

// -----
!t = !pto.tile_buf<vec, 8x64xf32>
!v = !pto.partition_tensor_view<8x64xf32>
module attributes {ptl.machine = "a2"} {
  // Both print the same tile.
  func.func @k_aic(%x: !pto.ptr<f32> {ptl.name = "x"}, %y: !pto.ptr<f32> {ptl.name = "y"}) attributes {pto.entry, ptl.kernel = "k", pto.kernel_kind = #pto.kernel_kind<cube>} {
    return
  }
  func.func @k_aiv(%x: !pto.ptr<f32> {ptl.name = "x"}, %y: !pto.ptr<f32> {ptl.name = "y"}) attributes {pto.entry, ptl.kernel = "k", pto.kernel_kind = #pto.kernel_kind<vector>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %c64 = arith.constant 64 : index
    %z = arith.constant 0 : i64
    %xv = pto.make_tensor_view %x, shape = [%c16, %c64], strides = [%c64, %c1] : !pto.tensor_view<16x64xf32>
    %yv = pto.make_tensor_view %y, shape = [%c16, %c64], strides = [%c64, %c1] : !pto.tensor_view<16x64xf32>
    %a = pto.alloc_tile addr = %z : !t loc("a"("k.ptl":3:9))
    %xb = pto.partition_view %xv, offsets = [%c0, %c0], sizes = [%c8, %c64] : !pto.tensor_view<16x64xf32> -> !v
    pto.tload ins(%xb : !v) outs(%a : !t) loc("k.ptl":4:5)
    pto.set_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]
    pto.wait_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]
    pto.tprint ins(%a : !t) loc("k.ptl":5:5)
    return
  }
}

// -----
!t = !pto.tile_buf<vec, 8x64xf32>
!v = !pto.partition_tensor_view<8x64xf32>
module attributes {ptl.machine = "a2"} {
  // Each stores rows of its own to the same place: which of them stay is left open.
  func.func @k_aic(%x: !pto.ptr<f32> {ptl.name = "x"}, %y: !pto.ptr<f32> {ptl.name = "y"}) attributes {pto.entry, ptl.kernel = "k", pto.kernel_kind = #pto.kernel_kind<cube>} {
    return
  }
  func.func @k_aiv(%x: !pto.ptr<f32> {ptl.name = "x"}, %y: !pto.ptr<f32> {ptl.name = "y"}) attributes {pto.entry, ptl.kernel = "k", pto.kernel_kind = #pto.kernel_kind<vector>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %c64 = arith.constant 64 : index
    %z = arith.constant 0 : i64
    %xv = pto.make_tensor_view %x, shape = [%c16, %c64], strides = [%c64, %c1] : !pto.tensor_view<16x64xf32>
    %yv = pto.make_tensor_view %y, shape = [%c16, %c64], strides = [%c64, %c1] : !pto.tensor_view<16x64xf32>
    %a = pto.alloc_tile addr = %z : !t loc("a"("k.ptl":3:9))
    %s64 = pto.get_subblock_idx -> i64
    %s = arith.index_cast %s64 : i64 to index
    %row = arith.muli %s, %c8 : index
    %xb = pto.partition_view %xv, offsets = [%row, %c0], sizes = [%c8, %c64] : !pto.tensor_view<16x64xf32> -> !v
    %yb = pto.partition_view %yv, offsets = [%c0, %c0], sizes = [%c8, %c64] : !pto.tensor_view<16x64xf32> -> !v
    pto.tload ins(%xb : !v) outs(%a : !t) loc("k.ptl":4:5)
    pto.set_flag[<PIPE_MTE2>, <PIPE_MTE3>, <EVENT_ID0>]
    pto.wait_flag[<PIPE_MTE2>, <PIPE_MTE3>, <EVENT_ID0>]
    pto.tstore ins(%a : !t) outs(%yb : !v) loc("k.ptl":6:5)
    return
  }
}
