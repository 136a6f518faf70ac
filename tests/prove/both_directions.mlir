// ARGS: --pto-prove -o %t/out %s
// Vector cores prepare, the cube core multiplies, vector cores finish: two queues, one each way. The vector cores push one tile ahead.
!tl = !pto.tile_buf<left, 64x64xf16, slayout=row_major>
!tr = !pto.tile_buf<right, 64x64xf16, slayout=col_major>
!ma = !pto.tile_buf<mat, 64x64xf16, blayout=col_major, slayout=row_major>
!acc = !pto.tile_buf<acc, 64x64xf32, blayout=col_major, slayout=row_major, fractal=1024>
!x = !pto.tile_buf<vec, 32x64xf16>
!y = !pto.tile_buf<vec, 32x64xf32>
!vx = !pto.partition_tensor_view<32x64xf16>
!vy = !pto.partition_tensor_view<32x64xf32>
module attributes {pto.target_arch = "a3", ptl.machine = "a2"} {
  func.func @both_aic(%a: !pto.ptr<f16> {ptl.name = "a"}, %y: !pto.ptr<f32> {ptl.name = "y"}, %w: !pto.ptr<f16> {ptl.name = "slots"},
                      %n: index {ptl.name = "n"})
      attributes {pto.entry, ptl.kernel = "both", pto.kernel_kind = #pto.kernel_kind<cube>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c64 = arith.constant 64 : index
    %z = arith.constant 0 : i64
    %far = arith.constant 16384 : index
    %w2 = pto.addptr %w, %far : !pto.ptr<f16> -> !pto.ptr<f16>
    %base = pto.reserve_buffer {name = "ahead", size = 16384, location = <mat>, auto = false, base = 0} -> i32
    %peer = pto.import_reserved_buffer {name = "done", peer_func = @both_aiv} -> i32
    %there = pto.initialize_l2g2l_pipe {dir_mask = 2, slot_size = 8192, slot_num = 4, local_slot_num = 2, flag_base = 0}(%w : !pto.ptr<f16>, %base : i32) -> !pto.pipe loc("there")
    %back = pto.initialize_l2g2l_pipe {dir_mask = 1, slot_size = 16384, slot_num = 4, local_slot_num = 1, flag_base = 2}(%w2 : !pto.ptr<f16>, %peer : i32) -> !pto.pipe loc("back")
    %turns = arith.ceildivsi %n, %c64 : index
    %l = pto.alloc_tile addr = %z : !tl loc("l")
    %r = pto.alloc_tile addr = %z : !tr loc("r")
    %acc = pto.alloc_tile addr = %z : !acc loc("acc")
    pto.set_flag[<PIPE_MTE1>, <PIPE_MTE2>, <EVENT_ID0>]
    pto.set_flag[<PIPE_MTE1>, <PIPE_MTE2>, <EVENT_ID1>]
    pto.set_flag[<PIPE_M>, <PIPE_MTE1>, <EVENT_ID0>]
    pto.set_flag[<PIPE_FIX>, <PIPE_M>, <EVENT_ID0>]
    scf.for %i = %c0 to %turns step %c1 {
      %slot = arith.remui %i, %c2 : index
      %m = pto.declare_tile -> !ma loc("m")
      pto.wait_flag_dyn[<PIPE_MTE1>, <PIPE_MTE2>, %slot]
      pto.tpop(%m, %there : !ma, !pto.pipe) {split = 1}
      pto.tfree(%there : !pto.pipe) {split = 1}
      pto.set_flag_dyn[<PIPE_MTE2>, <PIPE_MTE1>, %slot]
      pto.wait_flag_dyn[<PIPE_MTE2>, <PIPE_MTE1>, %slot]
      pto.wait_flag[<PIPE_M>, <PIPE_MTE1>, <EVENT_ID0>]
      pto.tmov ins(%m : !ma) outs(%l : !tl)
      pto.tmov ins(%m : !ma) outs(%r : !tr)
      pto.set_flag_dyn[<PIPE_MTE1>, <PIPE_MTE2>, %slot]
      pto.set_flag[<PIPE_MTE1>, <PIPE_M>, <EVENT_ID0>]
      pto.wait_flag[<PIPE_MTE1>, <PIPE_M>, <EVENT_ID0>]
      pto.wait_flag[<PIPE_FIX>, <PIPE_M>, <EVENT_ID0>]
      pto.tmatmul ins(%l, %r : !tl, !tr) outs(%acc : !acc)
      pto.set_flag[<PIPE_M>, <PIPE_MTE1>, <EVENT_ID0>]
      pto.set_flag[<PIPE_M>, <PIPE_FIX>, <EVENT_ID0>]
      pto.wait_flag[<PIPE_M>, <PIPE_FIX>, <EVENT_ID0>]
      pto.tpush(%acc, %back : !acc, !pto.pipe) {split = 1}
      pto.set_flag[<PIPE_FIX>, <PIPE_M>, <EVENT_ID0>]
    }
    pto.wait_flag[<PIPE_MTE1>, <PIPE_MTE2>, <EVENT_ID0>]
    pto.wait_flag[<PIPE_MTE1>, <PIPE_MTE2>, <EVENT_ID1>]
    pto.wait_flag[<PIPE_M>, <PIPE_MTE1>, <EVENT_ID0>]
    pto.wait_flag[<PIPE_FIX>, <PIPE_M>, <EVENT_ID0>]
    return
  }
  func.func @both_aiv(%a: !pto.ptr<f16> {ptl.name = "a"}, %y: !pto.ptr<f32> {ptl.name = "y"}, %w: !pto.ptr<f16> {ptl.name = "slots"},
                      %n: index {ptl.name = "n"})
      attributes {pto.entry, ptl.kernel = "both", pto.kernel_kind = #pto.kernel_kind<vector>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %a0 = arith.constant 8192 : i64
    %a1 = arith.constant 16384 : i64
    %a2 = arith.constant 24576 : i64
    %far = arith.constant 16384 : index
    %w2 = pto.addptr %w, %far : !pto.ptr<f16> -> !pto.ptr<f16>
    %peer = pto.import_reserved_buffer {name = "ahead", peer_func = @both_aic} -> i32
    %base = pto.reserve_buffer {name = "done", size = 8192, location = <vec>, auto = false, base = 0} -> i32
    %there = pto.initialize_l2g2l_pipe {dir_mask = 2, slot_size = 8192, slot_num = 4, local_slot_num = 2, flag_base = 0}(%w : !pto.ptr<f16>, %peer : i32) -> !pto.pipe loc("there")
    %back = pto.initialize_l2g2l_pipe {dir_mask = 1, slot_size = 16384, slot_num = 4, local_slot_num = 1, flag_base = 2}(%w2 : !pto.ptr<f16>, %base : i32) -> !pto.pipe loc("back")
    %turns = arith.ceildivsi %n, %c64 : index
    %more = arith.addi %turns, %c1 : index
    %sub = pto.get_subblock_idx -> i64
    %half = arith.index_cast %sub : i64 to index
    %shift = arith.muli %half, %c32 : index
    %xv = pto.make_tensor_view %a, shape = [%n, %c64], strides = [%c64, %c1] : !pto.tensor_view<?x64xf16>
    %yv = pto.make_tensor_view %y, shape = [%n, %c64], strides = [%c64, %c1] : !pto.tensor_view<?x64xf32>
    %x = pto.alloc_tile addr = %a0 : !x loc("x")
    %e = pto.alloc_tile addr = %a1 : !x loc("e")
    %out = pto.alloc_tile addr = %a2 : !y loc("out")
    scf.for %i = %c0 to %more step %c1 {
      %ahead = arith.cmpi slt, %i, %turns : index
      scf.if %ahead {
        %row = arith.muli %i, %c64 : index
        %at = arith.addi %row, %shift : index
        %xb = pto.partition_view %xv, offsets = [%at, %c0], sizes = [%c32, %c64] : !pto.tensor_view<?x64xf16> -> !vx
        pto.tload ins(%xb : !vx) outs(%x : !x)
        pto.set_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]
        pto.wait_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]
        pto.texp ins(%x : !x) outs(%e : !x)
        pto.set_flag[<PIPE_V>, <PIPE_MTE3>, <EVENT_ID0>]
        pto.wait_flag[<PIPE_V>, <PIPE_MTE3>, <EVENT_ID0>]
        pto.tpush(%e, %there : !x, !pto.pipe) {split = 1}
      }
      %behind = arith.cmpi sge, %i, %c1 : index
      scf.if %behind {
        %j = arith.subi %i, %c1 : index
        %row = arith.muli %j, %c64 : index
        %at = arith.addi %row, %shift : index
        %yb = pto.partition_view %yv, offsets = [%at, %c0], sizes = [%c32, %c64] : !pto.tensor_view<?x64xf32> -> !vy
        %s = pto.declare_tile -> !y loc("s")
        pto.tpop(%s, %back : !y, !pto.pipe) {split = 1}
        pto.tfree(%back : !pto.pipe) {split = 1}
        pto.set_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID1>]
        pto.wait_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID1>]
        pto.tabs ins(%s : !y) outs(%out : !y)
        pto.set_flag[<PIPE_V>, <PIPE_MTE3>, <EVENT_ID1>]
        pto.wait_flag[<PIPE_V>, <PIPE_MTE3>, <EVENT_ID1>]
        pto.tstore ins(%out : !y) outs(%yb : !vy)
      }
      pto.barrier <PIPE_ALL>
    }
    return
  }
}
