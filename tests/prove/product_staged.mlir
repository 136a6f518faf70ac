// ARGS: --pto-prove -o %t/out %s
// A product: panels into `mat` in turn, pieces of them into `left` and `right` in turn, one accumulator.
!pa = !pto.multi_tile_buf<!pto.tile_buf<mat, 64x128xf16, blayout=col_major, slayout=row_major>, count = 2>
!pb = !pto.multi_tile_buf<!pto.tile_buf<mat, 128x64xf16, blayout=col_major, slayout=row_major>, count = 2>
!ta = !pto.tile_buf<mat, 64x128xf16, blayout=col_major, slayout=row_major>
!tb = !pto.tile_buf<mat, 128x64xf16, blayout=col_major, slayout=row_major>
!ml = !pto.multi_tile_buf<!pto.tile_buf<left, 64x64xf16, slayout=row_major>, count = 2>
!mr = !pto.multi_tile_buf<!pto.tile_buf<right, 64x64xf16, slayout=col_major>, count = 2>
!tl = !pto.tile_buf<left, 64x64xf16, slayout=row_major>
!tr = !pto.tile_buf<right, 64x64xf16, slayout=col_major>
!acc = !pto.tile_buf<acc, 64x64xf32, blayout=col_major, slayout=row_major, fractal=1024>
!va = !pto.partition_tensor_view<64x128xf16>
!vb = !pto.partition_tensor_view<128x64xf16>
module attributes {pto.target_arch = "a3", ptl.machine = "a2"} {
  func.func @product(%a: !pto.ptr<f16> {ptl.name = "a"}, %b: !pto.ptr<f16> {ptl.name = "b"}, %c: !pto.ptr<f32> {ptl.name = "c"},
                     %k: index {ptl.name = "k"})
      attributes {pto.entry, ptl.kernel = "product", pto.kernel_kind = #pto.kernel_kind<cube>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %z = arith.constant 0 : i64
    %a1 = arith.constant 32768 : i64
    %panels = arith.divsi %k, %c128 : index
    %av = pto.make_tensor_view %a, shape = [%c64, %k], strides = [%k, %c1] : !pto.tensor_view<64x?xf16>
    %bv = pto.make_tensor_view %b, shape = [%k, %c64], strides = [%c64, %c1] : !pto.tensor_view<?x64xf16>
    %cv = pto.make_tensor_view %c, shape = [%c64, %c64], strides = [%c64, %c1] : !pto.tensor_view<64x64xf32>
    %pa = pto.alloc_multi_tile addr = %z : !pa loc("pa")
    %pb = pto.alloc_multi_tile addr = %a1 : !pb loc("pb")
    %ml = pto.alloc_multi_tile addr = %z : !ml loc("l")
    %mr = pto.alloc_multi_tile addr = %z : !mr loc("r")
    %acc = pto.alloc_tile addr = %z : !acc loc("acc")
    pto.set_flag[<PIPE_MTE1>, <PIPE_MTE2>, <EVENT_ID0>]
    pto.set_flag[<PIPE_MTE1>, <PIPE_MTE2>, <EVENT_ID1>]
    pto.set_flag[<PIPE_M>, <PIPE_MTE1>, <EVENT_ID0>]
    pto.set_flag[<PIPE_M>, <PIPE_MTE1>, <EVENT_ID1>]
    scf.for %i = %c0 to %panels step %c1 {
      %slot = arith.remui %i, %c2 : index
      %at = arith.muli %i, %c128 : index
      %ab = pto.partition_view %av, offsets = [%c0, %at], sizes = [%c64, %c128] : !pto.tensor_view<64x?xf16> -> !va
      %bb = pto.partition_view %bv, offsets = [%at, %c0], sizes = [%c128, %c64] : !pto.tensor_view<?x64xf16> -> !vb
      %ta = pto.multi_tile_get %pa[%slot] : !pa -> !ta
      %tb = pto.multi_tile_get %pb[%slot] : !pb -> !tb
      pto.wait_flag_dyn[<PIPE_MTE1>, <PIPE_MTE2>, %slot]
      pto.tload ins(%ab : !va) outs(%ta : !ta)
      pto.tload ins(%bb : !vb) outs(%tb : !tb)
      pto.set_flag_dyn[<PIPE_MTE2>, <PIPE_MTE1>, %slot]
      pto.wait_flag_dyn[<PIPE_MTE2>, <PIPE_MTE1>, %slot]
      scf.for %j = %c0 to %c2 step %c1 {
        %d = arith.muli %j, %c64 : index
        %l = pto.multi_tile_get %ml[%j] : !ml -> !tl
        %r = pto.multi_tile_get %mr[%j] : !mr -> !tr
        pto.wait_flag_dyn[<PIPE_M>, <PIPE_MTE1>, %j]
        pto.textract ins(%ta, %c0, %d : !ta, index, index) outs(%l : !tl)
        pto.textract ins(%tb, %d, %c0 : !tb, index, index) outs(%r : !tr)
        pto.set_flag_dyn[<PIPE_MTE1>, <PIPE_M>, %j]
        pto.wait_flag_dyn[<PIPE_MTE1>, <PIPE_M>, %j]
        %sum = arith.addi %i, %j : index
        %first = arith.cmpi eq, %sum, %c0 : index
        scf.if %first {
          pto.tmatmul ins(%l, %r : !tl, !tr) outs(%acc : !acc)
        } else {
          pto.tmatmul.acc ins(%acc, %l, %r : !acc, !tl, !tr) outs(%acc : !acc)
        }
        pto.set_flag_dyn[<PIPE_M>, <PIPE_MTE1>, %j]
      }
      pto.set_flag_dyn[<PIPE_MTE1>, <PIPE_MTE2>, %slot]
    }
    pto.wait_flag[<PIPE_MTE1>, <PIPE_MTE2>, <EVENT_ID0>]
    pto.wait_flag[<PIPE_MTE1>, <PIPE_MTE2>, <EVENT_ID1>]
    pto.wait_flag[<PIPE_M>, <PIPE_MTE1>, <EVENT_ID0>]
    pto.wait_flag[<PIPE_M>, <PIPE_MTE1>, <EVENT_ID1>]
    %some = arith.cmpi sge, %panels, %c1 : index
    scf.if %some {
      %cb = pto.partition_view %cv, offsets = [%c0, %c0], sizes = [%c64, %c64] : !pto.tensor_view<64x64xf32> -> !pto.partition_tensor_view<64x64xf32>
      pto.set_flag[<PIPE_M>, <PIPE_FIX>, <EVENT_ID0>]
      pto.wait_flag[<PIPE_M>, <PIPE_FIX>, <EVENT_ID0>]
      pto.tstore ins(%acc : !acc) outs(%cb : !pto.partition_tensor_view<64x64xf32>)
    }
    return
  }
}
