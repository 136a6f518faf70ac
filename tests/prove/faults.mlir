// ARGS: --pto-prove --split-input-file -o %t/out %s
// One fault each; the places are those of the operations' locations.
!t = !pto.tile_buf<vec, 8x64xf32>
!v = !pto.partition_tensor_view<8x64xf32>
module attributes {ptl.machine = "a2"} {
  // No event between the load and the sum, none between the sum and the store, none back.
  func.func @no_events(%x: !pto.ptr<f32> {ptl.name = "x"}, %n: index {ptl.name = "n"}) attributes {pto.entry, pto.kernel_kind = #pto.kernel_kind<vector>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c64 = arith.constant 64 : index
    %z = arith.constant 0 : i64
    %xv = pto.make_tensor_view %x, shape = [%n, %c64], strides = [%c64, %c1] : !pto.tensor_view<?x64xf32>
    %a = pto.alloc_tile addr = %z : !t loc("a"("k.ptl":3:9))
    scf.for %i = %c0 to %n step %c8 {
      %xb = pto.partition_view %xv, offsets = [%i, %c0], sizes = [%c8, %c64] : !pto.tensor_view<?x64xf32> -> !v
      pto.tload ins(%xb : !v) outs(%a : !t) loc("k.ptl":4:5)
      pto.tadd ins(%a, %a : !t, !t) outs(%a : !t) loc("k.ptl":5:5)
      pto.tstore ins(%a : !t) outs(%xb : !v) loc("k.ptl":6:5)
    }
    return
  }
}

// -----
!t = !pto.tile_buf<vec, 8x64xf32>
!v = !pto.partition_tensor_view<8x64xf32>
module attributes {ptl.machine = "a2"} {
  // `b` lies on the second half of `a`, which is read after `b` was written; `c` is never written, and lies at the end.
  func.func @places(%x: !pto.ptr<f32> {ptl.name = "x"}) attributes {pto.entry, pto.kernel_kind = #pto.kernel_kind<vector>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c64 = arith.constant 64 : index
    %z = arith.constant 0 : i64
    %a1 = arith.constant 1024 : i64
    %a2 = arith.constant 188400 : i64
    %xv = pto.make_tensor_view %x, shape = [%c8, %c64], strides = [%c64, %c1] : !pto.tensor_view<8x64xf32>
    %xb = pto.partition_view %xv, offsets = [%c0, %c0], sizes = [%c8, %c64] : !pto.tensor_view<8x64xf32> -> !v
    %a = pto.alloc_tile addr = %z : !t loc("a"("k.ptl":3:9))
    %b = pto.alloc_tile addr = %a1 : !t loc("b"("k.ptl":4:9))
    %c = pto.alloc_tile addr = %a2 : !t loc("c"("k.ptl":5:9))
    pto.tload ins(%xb : !v) outs(%a : !t) loc("k.ptl":6:5)
    pto.tload ins(%xb : !v) outs(%b : !t) loc("k.ptl":7:5)
    pto.set_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]
    pto.wait_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]
    pto.tadd ins(%a, %c : !t, !t) outs(%a : !t) loc("k.ptl":8:5)
    return
  }
}

// -----
module attributes {ptl.machine = "a2"} {
  // An event without a wait, a wait without an event, one set twice, one that the chip has not.
  func.func @events(%n: index {ptl.name = "n"}) attributes {pto.entry, pto.kernel_kind = #pto.kernel_kind<vector>} {
    %c9 = arith.constant 9 : index
    pto.set_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>] loc("k.ptl":3:5)
    pto.set_flag[<PIPE_V>, <PIPE_MTE3>, <EVENT_ID1>] loc("k.ptl":4:5)
    pto.wait_flag[<PIPE_V>, <PIPE_MTE3>, <EVENT_ID1>] loc("k.ptl":5:5)
    pto.set_flag[<PIPE_V>, <PIPE_MTE3>, <EVENT_ID1>] loc("k.ptl":6:5)
    pto.wait_flag[<PIPE_V>, <PIPE_MTE3>, <EVENT_ID1>] loc("k.ptl":7:5)
    pto.set_flag_dyn[<PIPE_V>, <PIPE_MTE2>, %c9] loc("k.ptl":8:5)
    pto.wait_flag_dyn[<PIPE_V>, <PIPE_MTE2>, %c9] loc("k.ptl":9:5)
    %many = arith.cmpi sgt, %n, %c9 : index
    scf.if %many {
      pto.wait_flag[<PIPE_MTE3>, <PIPE_V>, <EVENT_ID2>] loc("k.ptl":11:5)
    }
    return
  }
}

// -----
!t = !pto.tile_buf<vec, 8x64xf32>
module attributes {ptl.machine = "a2"} {
  // A slot that data chooses, and a tile that only some turns of the loop write.
  func.func @undecided(%x: !pto.ptr<i32> {ptl.name = "x"}, %n: index {ptl.name = "n"}) attributes {pto.entry, pto.kernel_kind = #pto.kernel_kind<vector>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %z = arith.constant 0 : i64
    %one = arith.constant 1.0 : f32
    %b = pto.alloc_multi_tile addr = %z : !pto.multi_tile_buf<!pto.tile_buf<vec, 8x64xf32>, count = 2> loc("b"("k.ptl":3:9))
    %read = pto.load_scalar %x[%c0] : !pto.ptr<i32> -> i32
    %slot = arith.index_cast %read : i32 to index
    %t = pto.multi_tile_get %b[%slot] : !pto.multi_tile_buf<!pto.tile_buf<vec, 8x64xf32>, count = 2> -> !t loc("t"("k.ptl":4:9))
    %first = pto.multi_tile_get %b[%c0] : !pto.multi_tile_buf<!pto.tile_buf<vec, 8x64xf32>, count = 2> -> !t loc("first"("k.ptl":5:9))
    scf.for %i = %c0 to %n step %c1 {
      pto.texpands ins(%one : f32) outs(%first : !t) loc("k.ptl":6:5)
    }
    pto.barrier <PIPE_V>
    pto.tabs ins(%first : !t) outs(%first : !t) loc("k.ptl":7:5)
    return
  }
}

// -----
!acc = !pto.tile_buf<acc, 64x64xf32, blayout=col_major, slayout=row_major, fractal=1024>
!half = !pto.tile_buf<vec, 32x64xf32>
module attributes {ptl.machine = "a2"} {
  // The vector cores pop once less than the cube core pushes, keep a slot, and see slots of another size.
  func.func @q_aic(%w: !pto.ptr<f32> {ptl.name = "w"}) attributes {pto.entry, ptl.kernel = "q", pto.kernel_kind = #pto.kernel_kind<cube>} {
    %z = arith.constant 0 : i64
    %base = pto.import_reserved_buffer {name = "in", peer_func = @q_aiv} -> i32
    %q = pto.initialize_l2g2l_pipe {dir_mask = 1, slot_size = 16384, slot_num = 2, local_slot_num = 2, flag_base = 11}(%w : !pto.ptr<f32>, %base : i32) -> !pto.pipe loc("q"("k.ptl":2:5))
    %acc = pto.alloc_tile addr = %z : !acc loc("acc"("k.ptl":3:5))
    %l = pto.alloc_tile addr = %z : !pto.tile_buf<left, 64x64xf16, slayout=row_major>
    pto.tpush(%acc, %q : !acc, !pto.pipe) {split = 1} loc("k.ptl":4:5)
    pto.tpush(%acc, %q : !acc, !pto.pipe) {split = 1} loc("k.ptl":5:5)
    return
  }
  func.func @q_aiv(%w: !pto.ptr<f32> {ptl.name = "w"}) attributes {pto.entry, ptl.kernel = "q", pto.kernel_kind = #pto.kernel_kind<vector>} {
    %base = pto.reserve_buffer {name = "in", size = 8192, location = <vec>, auto = false, base = 16} -> i32
    %q = pto.initialize_l2g2l_pipe {dir_mask = 1, slot_size = 8192, slot_num = 2, local_slot_num = 2, flag_base = 11}(%w : !pto.ptr<f32>, %base : i32) -> !pto.pipe loc("q"("k.ptl":7:5))
    %s = pto.declare_tile -> !half loc("s"("k.ptl":8:5))
    pto.tpop(%s, %q : !half, !pto.pipe) {split = 1} loc("k.ptl":9:5)
    return
  }
}

// -----
!acc = !pto.tile_buf<acc, 64x64xf32, blayout=col_major, slayout=row_major, fractal=1024>
!half = !pto.tile_buf<vec, 32x64xf32>
module attributes {pto.target_arch = "a5", ptl.machine = "a5"} {
  // The slot is given back before the tile in it is read: the next push may write there.
  func.func @early_aic() attributes {pto.entry, ptl.kernel = "early", pto.kernel_kind = #pto.kernel_kind<cube>} {
    %z = arith.constant 0 : i64
    %base = pto.import_reserved_buffer {name = "in", peer_func = @early_aiv} -> i32
    %q = pto.initialize_l2l_pipe {dir_mask = 1, slot_size = 16384, slot_num = 1, flag_base = 0}(%base : i32) -> !pto.pipe loc("q"("k.ptl":2:5))
    %acc = pto.alloc_tile addr = %z : !acc loc("acc"("k.ptl":3:5))
    pto.tpush(%acc, %q : !acc, !pto.pipe) {split = 1} loc("k.ptl":4:5)
    pto.tpush(%acc, %q : !acc, !pto.pipe) {split = 1} loc("k.ptl":5:5)
    return
  }
  func.func @early_aiv() attributes {pto.entry, ptl.kernel = "early", pto.kernel_kind = #pto.kernel_kind<vector>} {
    %to = arith.constant 65536 : i64
    %core = pto.get_subblock_idx -> i64
    %base = pto.reserve_buffer {name = "in", size = 8192, location = <vec>, auto = false, base = 0} -> i32
    %q = pto.initialize_l2l_pipe {dir_mask = 1, slot_size = 16384, slot_num = 1, flag_base = 0}(%base : i32) -> !pto.pipe loc("q"("k.ptl":2:5))
    %y = pto.alloc_tile addr = %to : !half loc("y"("k.ptl":7:5))
    %s = pto.declare_tile -> !half loc("s"("k.ptl":8:5))
    pto.tpop(%s, %q : !half, !pto.pipe) {split = 1} loc("k.ptl":9:5)
    pto.tfree(%q : !pto.pipe) {split = 1} loc("k.ptl":10:5)
    pto.tabs ins(%s : !half) outs(%y : !half) loc("k.ptl":11:5)
    %t = pto.declare_tile -> !half loc("t"("k.ptl":12:5))
    pto.tpop(%t, %q : !half, !pto.pipe) {split = 1} loc("k.ptl":13:5)
    pto.tfree(%q : !pto.pipe) {split = 1} loc("k.ptl":14:5)
    return
  }
}
