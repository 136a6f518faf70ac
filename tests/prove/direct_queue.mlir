// ARGS: --pto-prove -o %t/out %s
// On a5 the cube core writes into the memory of the vector cores; both halves of a tile at once. The last turn differs from the others.
!tl = !pto.tile_buf<left, 64x64xf16, blayout=col_major, slayout=row_major>
!tr = !pto.tile_buf<right, 64x64xf16, slayout=col_major>
!ma = !pto.tile_buf<mat, 64x64xf16, blayout=col_major, slayout=row_major>
!acc = !pto.tile_buf<acc, 64x64xf32, blayout=col_major, slayout=row_major, fractal=1024>
!half = !pto.tile_buf<vec, 32x64xf32>
!v = !pto.partition_tensor_view<64x64xf16>
!h = !pto.partition_tensor_view<32x64xf32>
module attributes {pto.target_arch = "a5", ptl.machine = "a5"} {
  func.func @direct_aic(%a: !pto.ptr<f16> {ptl.name = "a"}, %y: !pto.ptr<f32> {ptl.name = "y"}, %n: index {ptl.name = "n"})
      attributes {pto.entry, ptl.kernel = "direct", pto.kernel_kind = #pto.kernel_kind<cube>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %z = arith.constant 0 : i64
    %base = pto.import_reserved_buffer {name = "in", peer_func = @direct_aiv} -> i32
    %q = pto.initialize_l2l_pipe {dir_mask = 1, slot_size = 16384, slot_num = 2, local_slot_num = 2, flag_base = 0}(%base : i32) -> !pto.pipe loc("q")
    %turns = arith.divsi %n, %c64 : index
    %av = pto.make_tensor_view %a, shape = [%n, %c64], strides = [%c64, %c1] : !pto.tensor_view<?x64xf16>
    %m = pto.alloc_tile addr = %z : !ma loc("m")
    %l = pto.alloc_tile addr = %z : !tl loc("l")
    %r = pto.alloc_tile addr = %z : !tr loc("r")
    %acc = pto.alloc_tile addr = %z : !acc loc("acc")
    scf.for %i = %c0 to %turns step %c1 {
      %row = arith.muli %i, %c64 : index
      %ab = pto.partition_view %av, offsets = [%row, %c0], sizes = [%c64, %c64] : !pto.tensor_view<?x64xf16> -> !v
      %again = arith.cmpi sgt, %i, %c0 : index
      scf.if %again {
        pto.wait_flag[<PIPE_MTE1>, <PIPE_MTE2>, <EVENT_ID0>]
      }
      pto.tload ins(%ab : !v) outs(%m : !ma)
      pto.set_flag[<PIPE_MTE2>, <PIPE_MTE1>, <EVENT_ID0>]
      pto.wait_flag[<PIPE_MTE2>, <PIPE_MTE1>, <EVENT_ID0>]
      scf.if %again {
        pto.wait_flag[<PIPE_M>, <PIPE_MTE1>, <EVENT_ID0>]
      }
      pto.tmov ins(%m : !ma) outs(%l : !tl)
      pto.tmov ins(%m : !ma) outs(%r : !tr)
      %next = arith.addi %i, %c1 : index
      %more = arith.cmpi slt, %next, %turns : index
      scf.if %more {
        pto.set_flag[<PIPE_MTE1>, <PIPE_MTE2>, <EVENT_ID0>]
      }
      pto.set_flag[<PIPE_MTE1>, <PIPE_M>, <EVENT_ID0>]
      pto.wait_flag[<PIPE_MTE1>, <PIPE_M>, <EVENT_ID0>]
      scf.if %again {
        pto.wait_flag[<PIPE_FIX>, <PIPE_M>, <EVENT_ID0>]
      }
      pto.tmatmul ins(%l, %r : !tl, !tr) outs(%acc : !acc)
      scf.if %more {
        pto.set_flag[<PIPE_M>, <PIPE_MTE1>, <EVENT_ID0>]
      }
      pto.set_flag[<PIPE_M>, <PIPE_FIX>, <EVENT_ID0>]
      pto.wait_flag[<PIPE_M>, <PIPE_FIX>, <EVENT_ID0>]
      pto.tpush(%acc, %q : !acc, !pto.pipe) {split = 1}
      scf.if %more {
        pto.set_flag[<PIPE_FIX>, <PIPE_M>, <EVENT_ID0>]
      }
    }
    return
  }
  func.func @direct_aiv(%a: !pto.ptr<f16> {ptl.name = "a"}, %y: !pto.ptr<f32> {ptl.name = "y"}, %n: index {ptl.name = "n"})
      attributes {pto.entry, ptl.kernel = "direct", pto.kernel_kind = #pto.kernel_kind<vector>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %a1 = arith.constant 16384 : i64
    %base = pto.reserve_buffer {name = "in", size = 16384, location = <vec>, auto = false, base = 0} -> i32
    %q = pto.initialize_l2l_pipe {dir_mask = 1, slot_size = 16384, slot_num = 2, local_slot_num = 2, flag_base = 0}(%base : i32) -> !pto.pipe loc("q")
    %turns = arith.divsi %n, %c64 : index
    %sub = pto.get_subblock_idx -> i64
    %half = arith.index_cast %sub : i64 to index
    %shift = arith.muli %half, %c32 : index
    %yv = pto.make_tensor_view %y, shape = [%n, %c64], strides = [%c64, %c1] : !pto.tensor_view<?x64xf32>
    %out = pto.alloc_tile addr = %a1 : !half loc("out")
    pto.set_flag[<PIPE_MTE3>, <PIPE_V>, <EVENT_ID0>]
    scf.for %i = %c0 to %turns step %c1 {
      %row = arith.muli %i, %c64 : index
      %at = arith.addi %row, %shift : index
      %yb = pto.partition_view %yv, offsets = [%at, %c0], sizes = [%c32, %c64] : !pto.tensor_view<?x64xf32> -> !h
      %slot = arith.remui %i, %c2 : index
      %s = pto.declare_tile -> !half loc("s")
      pto.tpop(%s, %q : !half, !pto.pipe) {split = 1}
      pto.set_flag_dyn[<PIPE_MTE2>, <PIPE_V>, %slot]
      pto.wait_flag_dyn[<PIPE_MTE2>, <PIPE_V>, %slot]
      pto.wait_flag[<PIPE_MTE3>, <PIPE_V>, <EVENT_ID0>]
      pto.texp ins(%s : !half) outs(%out : !half)
      pto.tfree(%q : !pto.pipe) {split = 1}
      pto.set_flag[<PIPE_V>, <PIPE_MTE3>, <EVENT_ID0>]
      pto.wait_flag[<PIPE_V>, <PIPE_MTE3>, <EVENT_ID0>]
      pto.tstore ins(%out : !half) outs(%yb : !h)
      pto.set_flag[<PIPE_MTE3>, <PIPE_V>, <EVENT_ID0>]
    }
    pto.wait_flag[<PIPE_MTE3>, <PIPE_V>, <EVENT_ID0>]
    return
  }
}
