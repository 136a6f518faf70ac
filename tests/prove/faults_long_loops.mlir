// ARGS: --pto-prove -o %t/out %s
// Loops of many turns with queues: what repeats is left out, alike on both sides; in the second kernel one side has a turn less,
// in the third one it has twice as many, and so leaves out more.
!tl = !pto.tile_buf<left, 64x64xf16, slayout=row_major>
!tr = !pto.tile_buf<right, 64x64xf16, slayout=col_major>
!ma = !pto.tile_buf<mat, 64x64xf16, blayout=col_major, slayout=row_major>
!acc = !pto.tile_buf<acc, 64x64xf32, blayout=col_major, slayout=row_major, fractal=1024>
!half = !pto.tile_buf<vec, 32x64xf32>
!v = !pto.partition_tensor_view<64x64xf16>
!h = !pto.partition_tensor_view<32x64xf32>
module attributes {pto.target_arch = "a3", ptl.machine = "a2"} {
  func.func @long_aic(%a: !pto.ptr<f16> {ptl.name = "a"}, %y: !pto.ptr<f32> {ptl.name = "y"}, %w: !pto.ptr<f32> {ptl.name = "slots", ptl.role = "workspace"},
                        %n: index {ptl.name = "n"})
      attributes {pto.entry, ptl.kernel = "long", pto.kernel_kind = #pto.kernel_kind<cube>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %z = arith.constant 0 : i64
    %a1 = arith.constant 8192 : i64
    %base = pto.import_reserved_buffer {name = "in", peer_func = @long_aiv} -> i32
    %q = pto.initialize_l2g2l_pipe {dir_mask = 1, slot_size = 16384, slot_num = 4, local_slot_num = 2, flag_base = 0}(%w : !pto.ptr<f32>, %base : i32) -> !pto.pipe loc("q")
    %turns = arith.constant 3000 : index
    %av = pto.make_tensor_view %a, shape = [%n, %c64], strides = [%c64, %c1] : !pto.tensor_view<?x64xf16>
    %m = pto.alloc_tile addr = %z : !ma loc("m")
    %l = pto.alloc_tile addr = %z : !tl loc("l")
    %r = pto.alloc_tile addr = %z : !tr loc("r")
    %acc = pto.alloc_tile addr = %z : !acc loc("acc")
    pto.set_flag[<PIPE_MTE1>, <PIPE_MTE2>, <EVENT_ID0>]
    pto.set_flag[<PIPE_M>, <PIPE_MTE1>, <EVENT_ID0>]
    pto.set_flag[<PIPE_FIX>, <PIPE_M>, <EVENT_ID0>]
    scf.for %i = %c0 to %turns step %c1 {
      %row = arith.muli %i, %c64 : index
      %ab = pto.partition_view %av, offsets = [%row, %c0], sizes = [%c64, %c64] : !pto.tensor_view<?x64xf16> -> !v
      pto.wait_flag[<PIPE_MTE1>, <PIPE_MTE2>, <EVENT_ID0>]
      pto.tload ins(%ab : !v) outs(%m : !ma)
      pto.set_flag[<PIPE_MTE2>, <PIPE_MTE1>, <EVENT_ID0>]
      pto.wait_flag[<PIPE_MTE2>, <PIPE_MTE1>, <EVENT_ID0>]
      pto.wait_flag[<PIPE_M>, <PIPE_MTE1>, <EVENT_ID0>]
      pto.tmov ins(%m : !ma) outs(%l : !tl)
      pto.tmov ins(%m : !ma) outs(%r : !tr)
      pto.set_flag[<PIPE_MTE1>, <PIPE_MTE2>, <EVENT_ID0>]
      pto.set_flag[<PIPE_MTE1>, <PIPE_M>, <EVENT_ID0>]
      pto.wait_flag[<PIPE_MTE1>, <PIPE_M>, <EVENT_ID0>]
      pto.wait_flag[<PIPE_FIX>, <PIPE_M>, <EVENT_ID0>]
      pto.tmatmul ins(%l, %r : !tl, !tr) outs(%acc : !acc)
      pto.set_flag[<PIPE_M>, <PIPE_MTE1>, <EVENT_ID0>]
      pto.set_flag[<PIPE_M>, <PIPE_FIX>, <EVENT_ID0>]
      pto.wait_flag[<PIPE_M>, <PIPE_FIX>, <EVENT_ID0>]
      pto.tpush(%acc, %q : !acc, !pto.pipe) {split = 1}
      pto.set_flag[<PIPE_FIX>, <PIPE_M>, <EVENT_ID0>]
    }
    pto.wait_flag[<PIPE_MTE1>, <PIPE_MTE2>, <EVENT_ID0>]
    pto.wait_flag[<PIPE_M>, <PIPE_MTE1>, <EVENT_ID0>]
    pto.wait_flag[<PIPE_FIX>, <PIPE_M>, <EVENT_ID0>]
    return
  }
  func.func @long_aiv(%a: !pto.ptr<f16> {ptl.name = "a"}, %y: !pto.ptr<f32> {ptl.name = "y"}, %w: !pto.ptr<f32> {ptl.name = "slots", ptl.role = "workspace"},
                        %n: index {ptl.name = "n"})
      attributes {pto.entry, ptl.kernel = "long", pto.kernel_kind = #pto.kernel_kind<vector>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %a1 = arith.constant 24576 : i64
    %base = pto.reserve_buffer {name = "in", size = 24576, location = <vec>, auto = false, base = 0} -> i32
    %q = pto.initialize_l2g2l_pipe {dir_mask = 1, slot_size = 16384, slot_num = 4, local_slot_num = 2, flag_base = 0}(%w : !pto.ptr<f32>, %base : i32) -> !pto.pipe loc("q")
    %turns = arith.constant 3000 : index
    %sub = pto.get_subblock_idx -> i64
    %half = arith.index_cast %sub : i64 to index
    %shift = arith.muli %half, %c32 : index
    %yv = pto.make_tensor_view %y, shape = [%n, %c64], strides = [%c64, %c1] : !pto.tensor_view<?x64xf32>
    %out = pto.alloc_tile addr = %a1 : !half loc("out")
    pto.set_flag[<PIPE_V>, <PIPE_MTE2>, <EVENT_ID0>]
    pto.set_flag[<PIPE_V>, <PIPE_MTE2>, <EVENT_ID1>]
    pto.set_flag[<PIPE_MTE3>, <PIPE_V>, <EVENT_ID0>]
    scf.for %i = %c0 to %turns step %c1 {
      %slot = arith.remui %i, %c2 : index
      %row = arith.muli %i, %c64 : index
      %at = arith.addi %row, %shift : index
      %yb = pto.partition_view %yv, offsets = [%at, %c0], sizes = [%c32, %c64] : !pto.tensor_view<?x64xf32> -> !h
      %s = pto.declare_tile -> !half loc("s")
      pto.wait_flag_dyn[<PIPE_V>, <PIPE_MTE2>, %slot]
      pto.tpop(%s, %q : !half, !pto.pipe) {split = 1}
      pto.tfree(%q : !pto.pipe) {split = 1}
      pto.set_flag_dyn[<PIPE_MTE2>, <PIPE_V>, %slot]
      pto.wait_flag_dyn[<PIPE_MTE2>, <PIPE_V>, %slot]
      pto.wait_flag[<PIPE_MTE3>, <PIPE_V>, <EVENT_ID0>]
      pto.texp ins(%s : !half) outs(%out : !half)
      pto.set_flag_dyn[<PIPE_V>, <PIPE_MTE2>, %slot]
      pto.set_flag[<PIPE_V>, <PIPE_MTE3>, <EVENT_ID0>]
      pto.wait_flag[<PIPE_V>, <PIPE_MTE3>, <EVENT_ID0>]
      pto.tstore ins(%out : !half) outs(%yb : !h)
      pto.set_flag[<PIPE_MTE3>, <PIPE_V>, <EVENT_ID0>]
    }
    pto.wait_flag[<PIPE_V>, <PIPE_MTE2>, <EVENT_ID0>]
    pto.wait_flag[<PIPE_V>, <PIPE_MTE2>, <EVENT_ID1>]
    pto.wait_flag[<PIPE_MTE3>, <PIPE_V>, <EVENT_ID0>]
    return
  }
  func.func @uneven_aic(%a: !pto.ptr<f16> {ptl.name = "a"}, %y: !pto.ptr<f32> {ptl.name = "y"}, %w: !pto.ptr<f32> {ptl.name = "slots", ptl.role = "workspace"},
                        %n: index {ptl.name = "n"})
      attributes {pto.entry, ptl.kernel = "uneven", pto.kernel_kind = #pto.kernel_kind<cube>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %z = arith.constant 0 : i64
    %a1 = arith.constant 8192 : i64
    %base = pto.import_reserved_buffer {name = "in", peer_func = @uneven_aiv} -> i32
    %q = pto.initialize_l2g2l_pipe {dir_mask = 1, slot_size = 16384, slot_num = 4, local_slot_num = 2, flag_base = 0}(%w : !pto.ptr<f32>, %base : i32) -> !pto.pipe loc("q")
    %turns = arith.constant 3000 : index
    %av = pto.make_tensor_view %a, shape = [%n, %c64], strides = [%c64, %c1] : !pto.tensor_view<?x64xf16>
    %m = pto.alloc_tile addr = %z : !ma loc("m")
    %l = pto.alloc_tile addr = %z : !tl loc("l")
    %r = pto.alloc_tile addr = %z : !tr loc("r")
    %acc = pto.alloc_tile addr = %z : !acc loc("acc")
    pto.set_flag[<PIPE_MTE1>, <PIPE_MTE2>, <EVENT_ID0>]
    pto.set_flag[<PIPE_M>, <PIPE_MTE1>, <EVENT_ID0>]
    pto.set_flag[<PIPE_FIX>, <PIPE_M>, <EVENT_ID0>]
    scf.for %i = %c0 to %turns step %c1 {
      %row = arith.muli %i, %c64 : index
      %ab = pto.partition_view %av, offsets = [%row, %c0], sizes = [%c64, %c64] : !pto.tensor_view<?x64xf16> -> !v
      pto.wait_flag[<PIPE_MTE1>, <PIPE_MTE2>, <EVENT_ID0>]
      pto.tload ins(%ab : !v) outs(%m : !ma)
      pto.set_flag[<PIPE_MTE2>, <PIPE_MTE1>, <EVENT_ID0>]
      pto.wait_flag[<PIPE_MTE2>, <PIPE_MTE1>, <EVENT_ID0>]
      pto.wait_flag[<PIPE_M>, <PIPE_MTE1>, <EVENT_ID0>]
      pto.tmov ins(%m : !ma) outs(%l : !tl)
      pto.tmov ins(%m : !ma) outs(%r : !tr)
      pto.set_flag[<PIPE_MTE1>, <PIPE_MTE2>, <EVENT_ID0>]
      pto.set_flag[<PIPE_MTE1>, <PIPE_M>, <EVENT_ID0>]
      pto.wait_flag[<PIPE_MTE1>, <PIPE_M>, <EVENT_ID0>]
      pto.wait_flag[<PIPE_FIX>, <PIPE_M>, <EVENT_ID0>]
      pto.tmatmul ins(%l, %r : !tl, !tr) outs(%acc : !acc)
      pto.set_flag[<PIPE_M>, <PIPE_MTE1>, <EVENT_ID0>]
      pto.set_flag[<PIPE_M>, <PIPE_FIX>, <EVENT_ID0>]
      pto.wait_flag[<PIPE_M>, <PIPE_FIX>, <EVENT_ID0>]
      pto.tpush(%acc, %q : !acc, !pto.pipe) {split = 1}
      pto.set_flag[<PIPE_FIX>, <PIPE_M>, <EVENT_ID0>]
    }
    pto.wait_flag[<PIPE_MTE1>, <PIPE_MTE2>, <EVENT_ID0>]
    pto.wait_flag[<PIPE_M>, <PIPE_MTE1>, <EVENT_ID0>]
    pto.wait_flag[<PIPE_FIX>, <PIPE_M>, <EVENT_ID0>]
    return
  }
  func.func @uneven_aiv(%a: !pto.ptr<f16> {ptl.name = "a"}, %y: !pto.ptr<f32> {ptl.name = "y"}, %w: !pto.ptr<f32> {ptl.name = "slots", ptl.role = "workspace"},
                        %n: index {ptl.name = "n"})
      attributes {pto.entry, ptl.kernel = "uneven", pto.kernel_kind = #pto.kernel_kind<vector>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %a1 = arith.constant 24576 : i64
    %base = pto.reserve_buffer {name = "in", size = 24576, location = <vec>, auto = false, base = 0} -> i32
    %q = pto.initialize_l2g2l_pipe {dir_mask = 1, slot_size = 16384, slot_num = 4, local_slot_num = 2, flag_base = 0}(%w : !pto.ptr<f32>, %base : i32) -> !pto.pipe loc("q")
    %turns = arith.constant 2999 : index
    %sub = pto.get_subblock_idx -> i64
    %half = arith.index_cast %sub : i64 to index
    %shift = arith.muli %half, %c32 : index
    %yv = pto.make_tensor_view %y, shape = [%n, %c64], strides = [%c64, %c1] : !pto.tensor_view<?x64xf32>
    %out = pto.alloc_tile addr = %a1 : !half loc("out")
    pto.set_flag[<PIPE_V>, <PIPE_MTE2>, <EVENT_ID0>]
    pto.set_flag[<PIPE_V>, <PIPE_MTE2>, <EVENT_ID1>]
    pto.set_flag[<PIPE_MTE3>, <PIPE_V>, <EVENT_ID0>]
    scf.for %i = %c0 to %turns step %c1 {
      %slot = arith.remui %i, %c2 : index
      %row = arith.muli %i, %c64 : index
      %at = arith.addi %row, %shift : index
      %yb = pto.partition_view %yv, offsets = [%at, %c0], sizes = [%c32, %c64] : !pto.tensor_view<?x64xf32> -> !h
      %s = pto.declare_tile -> !half loc("s")
      pto.wait_flag_dyn[<PIPE_V>, <PIPE_MTE2>, %slot]
      pto.tpop(%s, %q : !half, !pto.pipe) {split = 1}
      pto.tfree(%q : !pto.pipe) {split = 1}
      pto.set_flag_dyn[<PIPE_MTE2>, <PIPE_V>, %slot]
      pto.wait_flag_dyn[<PIPE_MTE2>, <PIPE_V>, %slot]
      pto.wait_flag[<PIPE_MTE3>, <PIPE_V>, <EVENT_ID0>]
      pto.texp ins(%s : !half) outs(%out : !half)
      pto.set_flag_dyn[<PIPE_V>, <PIPE_MTE2>, %slot]
      pto.set_flag[<PIPE_V>, <PIPE_MTE3>, <EVENT_ID0>]
      pto.wait_flag[<PIPE_V>, <PIPE_MTE3>, <EVENT_ID0>]
      pto.tstore ins(%out : !half) outs(%yb : !h)
      pto.set_flag[<PIPE_MTE3>, <PIPE_V>, <EVENT_ID0>]
    }
    pto.wait_flag[<PIPE_V>, <PIPE_MTE2>, <EVENT_ID0>]
    pto.wait_flag[<PIPE_V>, <PIPE_MTE2>, <EVENT_ID1>]
    pto.wait_flag[<PIPE_MTE3>, <PIPE_V>, <EVENT_ID0>]
    return
  }
  func.func @twice_aic(%a: !pto.ptr<f16> {ptl.name = "a"}, %y: !pto.ptr<f32> {ptl.name = "y"}, %w: !pto.ptr<f32> {ptl.name = "slots", ptl.role = "workspace"},
                        %n: index {ptl.name = "n"})
      attributes {pto.entry, ptl.kernel = "twice", pto.kernel_kind = #pto.kernel_kind<cube>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %z = arith.constant 0 : i64
    %a1 = arith.constant 8192 : i64
    %base = pto.import_reserved_buffer {name = "in", peer_func = @twice_aiv} -> i32
    %q = pto.initialize_l2g2l_pipe {dir_mask = 1, slot_size = 16384, slot_num = 4, local_slot_num = 2, flag_base = 0}(%w : !pto.ptr<f32>, %base : i32) -> !pto.pipe loc("q")
    %turns = arith.constant 3000 : index
    %av = pto.make_tensor_view %a, shape = [%n, %c64], strides = [%c64, %c1] : !pto.tensor_view<?x64xf16>
    %m = pto.alloc_tile addr = %z : !ma loc("m")
    %l = pto.alloc_tile addr = %z : !tl loc("l")
    %r = pto.alloc_tile addr = %z : !tr loc("r")
    %acc = pto.alloc_tile addr = %z : !acc loc("acc")
    pto.set_flag[<PIPE_MTE1>, <PIPE_MTE2>, <EVENT_ID0>]
    pto.set_flag[<PIPE_M>, <PIPE_MTE1>, <EVENT_ID0>]
    pto.set_flag[<PIPE_FIX>, <PIPE_M>, <EVENT_ID0>]
    scf.for %i = %c0 to %turns step %c1 {
      %row = arith.muli %i, %c64 : index
      %ab = pto.partition_view %av, offsets = [%row, %c0], sizes = [%c64, %c64] : !pto.tensor_view<?x64xf16> -> !v
      pto.wait_flag[<PIPE_MTE1>, <PIPE_MTE2>, <EVENT_ID0>]
      pto.tload ins(%ab : !v) outs(%m : !ma)
      pto.set_flag[<PIPE_MTE2>, <PIPE_MTE1>, <EVENT_ID0>]
      pto.wait_flag[<PIPE_MTE2>, <PIPE_MTE1>, <EVENT_ID0>]
      pto.wait_flag[<PIPE_M>, <PIPE_MTE1>, <EVENT_ID0>]
      pto.tmov ins(%m : !ma) outs(%l : !tl)
      pto.tmov ins(%m : !ma) outs(%r : !tr)
      pto.set_flag[<PIPE_MTE1>, <PIPE_MTE2>, <EVENT_ID0>]
      pto.set_flag[<PIPE_MTE1>, <PIPE_M>, <EVENT_ID0>]
      pto.wait_flag[<PIPE_MTE1>, <PIPE_M>, <EVENT_ID0>]
      pto.wait_flag[<PIPE_FIX>, <PIPE_M>, <EVENT_ID0>]
      pto.tmatmul ins(%l, %r : !tl, !tr) outs(%acc : !acc)
      pto.set_flag[<PIPE_M>, <PIPE_MTE1>, <EVENT_ID0>]
      pto.set_flag[<PIPE_M>, <PIPE_FIX>, <EVENT_ID0>]
      pto.wait_flag[<PIPE_M>, <PIPE_FIX>, <EVENT_ID0>]
      pto.tpush(%acc, %q : !acc, !pto.pipe) {split = 1}
      pto.set_flag[<PIPE_FIX>, <PIPE_M>, <EVENT_ID0>]
    }
    pto.wait_flag[<PIPE_MTE1>, <PIPE_MTE2>, <EVENT_ID0>]
    pto.wait_flag[<PIPE_M>, <PIPE_MTE1>, <EVENT_ID0>]
    pto.wait_flag[<PIPE_FIX>, <PIPE_M>, <EVENT_ID0>]
    return
  }
  func.func @twice_aiv(%a: !pto.ptr<f16> {ptl.name = "a"}, %y: !pto.ptr<f32> {ptl.name = "y"}, %w: !pto.ptr<f32> {ptl.name = "slots", ptl.role = "workspace"},
                        %n: index {ptl.name = "n"})
      attributes {pto.entry, ptl.kernel = "twice", pto.kernel_kind = #pto.kernel_kind<vector>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %a1 = arith.constant 24576 : i64
    %base = pto.reserve_buffer {name = "in", size = 24576, location = <vec>, auto = false, base = 0} -> i32
    %q = pto.initialize_l2g2l_pipe {dir_mask = 1, slot_size = 16384, slot_num = 4, local_slot_num = 2, flag_base = 0}(%w : !pto.ptr<f32>, %base : i32) -> !pto.pipe loc("q")
    %turns = arith.constant 6000 : index
    %sub = pto.get_subblock_idx -> i64
    %half = arith.index_cast %sub : i64 to index
    %shift = arith.muli %half, %c32 : index
    %yv = pto.make_tensor_view %y, shape = [%n, %c64], strides = [%c64, %c1] : !pto.tensor_view<?x64xf32>
    %out = pto.alloc_tile addr = %a1 : !half loc("out")
    pto.set_flag[<PIPE_V>, <PIPE_MTE2>, <EVENT_ID0>]
    pto.set_flag[<PIPE_V>, <PIPE_MTE2>, <EVENT_ID1>]
    pto.set_flag[<PIPE_MTE3>, <PIPE_V>, <EVENT_ID0>]
    scf.for %i = %c0 to %turns step %c1 {
      %slot = arith.remui %i, %c2 : index
      %row = arith.muli %i, %c64 : index
      %at = arith.addi %row, %shift : index
      %yb = pto.partition_view %yv, offsets = [%at, %c0], sizes = [%c32, %c64] : !pto.tensor_view<?x64xf32> -> !h
      %s = pto.declare_tile -> !half loc("s")
      pto.wait_flag_dyn[<PIPE_V>, <PIPE_MTE2>, %slot]
      pto.tpop(%s, %q : !half, !pto.pipe) {split = 1}
      pto.tfree(%q : !pto.pipe) {split = 1}
      pto.set_flag_dyn[<PIPE_MTE2>, <PIPE_V>, %slot]
      pto.wait_flag_dyn[<PIPE_MTE2>, <PIPE_V>, %slot]
      pto.wait_flag[<PIPE_MTE3>, <PIPE_V>, <EVENT_ID0>]
      pto.texp ins(%s : !half) outs(%out : !half)
      pto.set_flag_dyn[<PIPE_V>, <PIPE_MTE2>, %slot]
      pto.set_flag[<PIPE_V>, <PIPE_MTE3>, <EVENT_ID0>]
      pto.wait_flag[<PIPE_V>, <PIPE_MTE3>, <EVENT_ID0>]
      pto.tstore ins(%out : !half) outs(%yb : !h)
      pto.set_flag[<PIPE_MTE3>, <PIPE_V>, <EVENT_ID0>]
    }
    pto.wait_flag[<PIPE_V>, <PIPE_MTE2>, <EVENT_ID0>]
    pto.wait_flag[<PIPE_V>, <PIPE_MTE2>, <EVENT_ID1>]
    pto.wait_flag[<PIPE_MTE3>, <PIPE_V>, <EVENT_ID0>]
    return
  }
}
