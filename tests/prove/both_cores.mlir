// ARGS: --pto-prove -o %t/out %s
!t = !pto.tile_buf<vec, 8x64xf32>
!v = !pto.partition_tensor_view<8x64xf32>
module attributes {ptl.machine = "a2"} {
  // Each vector core adds rows of its own; both store the same elsewhere; the first prints.
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
    %x0 = pto.partition_view %xv, offsets = [%c0, %c0], sizes = [%c8, %c64] : !pto.tensor_view<16x64xf32> -> !v
    %y1 = pto.partition_view %yv, offsets = [%c8, %c0], sizes = [%c8, %c64] : !pto.tensor_view<16x64xf32> -> !v
    pto.tload ins(%xb : !v) outs(%a : !t) loc("k.ptl":4:5)
    pto.set_flag[<PIPE_MTE2>, <PIPE_MTE3>, <EVENT_ID0>]
    pto.wait_flag[<PIPE_MTE2>, <PIPE_MTE3>, <EVENT_ID0>]
    pto.tstore ins(%a : !t) outs(%yb : !v) {atomicType = #pto<atomic_type atomic_add>} loc("k.ptl":6:5)
    pto.set_flag[<PIPE_MTE3>, <PIPE_MTE2>, <EVENT_ID1>]
    pto.wait_flag[<PIPE_MTE3>, <PIPE_MTE2>, <EVENT_ID1>]
    pto.tload ins(%x0 : !v) outs(%a : !t)
    pto.set_flag[<PIPE_MTE2>, <PIPE_MTE3>, <EVENT_ID0>]
    pto.wait_flag[<PIPE_MTE2>, <PIPE_MTE3>, <EVENT_ID0>]
    pto.tstore ins(%a : !t) outs(%y1 : !v) loc("k.ptl":6:5)
    pto.set_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]
    pto.wait_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]
    %first = arith.cmpi eq, %s, %c0 : index
    scf.if %first {
      pto.tprint ins(%a : !t)
    }
    return
  }
}
