// ARGS: --pto-derive-sync --canonicalize --cse %s
// Branches, loops that may not run, scalars read from tiles, queues.
!t = !pto.tile_buf<vec, 8x64xf32>
!v = !pto.tensor_view<?x64xf32>
!p = !pto.partition_tensor_view<8x64xf32>
module attributes {"pto.target_arch" = "a5", ptl.machine = "a5"} {
  func.func @branch(%x: !pto.ptr<f32> {ptl.name = "x"}, %n: index, %flag: i1) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c64 = arith.constant 64 : index
    %a0 = arith.constant 0 : i64
    %k = arith.constant 2.0 : f32
    %xv = pto.make_tensor_view %x, shape = [%n, %c64], strides = [%c64, %c1] : !v
    %xp = pto.partition_view %xv, offsets = [%c0, %c0], sizes = [%c8, %c64] : !v -> !p
    %a = pto.alloc_tile addr = %a0 : !t loc("a"("k.ptl":3:9))
    pto.tload ins(%xp : !p) outs(%a : !t) loc("k.ptl":3:13)
    scf.if %flag {
      pto.tmuls ins(%a, %k : !t, f32) outs(%a : !t) loc("k.ptl":5:13)
    } else {
      pto.tadd ins(%a, %a : !t, !t) outs(%a : !t) loc("k.ptl":7:13)
    }
    pto.tstore ins(%a : !t) outs(%xp : !p) loc("k.ptl":9:5)
    return
  }
  func.func @between(%x: !pto.ptr<f32> {ptl.name = "x"}, %n: index) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c64 = arith.constant 64 : index
    %a0 = arith.constant 0 : i64
    %k = arith.constant 2.0 : f32
    %xv = pto.make_tensor_view %x, shape = [%n, %c64], strides = [%c64, %c1] : !v
    %xp = pto.partition_view %xv, offsets = [%c0, %c0], sizes = [%c8, %c64] : !v -> !p
    %a = pto.alloc_tile addr = %a0 : !t loc("a"("k.ptl":3:9))
    pto.tload ins(%xp : !p) outs(%a : !t) loc("k.ptl":3:13)
    scf.for %i = %c0 to %n step %c1 {
      pto.tmuls ins(%a, %k : !t, f32) outs(%a : !t) loc("k.ptl":5:13)
    }
    pto.tstore ins(%a : !t) outs(%xp : !p) loc("k.ptl":7:5)
    return
  }
  func.func @scalar(%x: !pto.ptr<f32> {ptl.name = "x"}, %n: index) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c64 = arith.constant 64 : index
    %a0 = arith.constant 0 : i64
    %xv = pto.make_tensor_view %x, shape = [%n, %c64], strides = [%c64, %c1] : !v
    %xp = pto.partition_view %xv, offsets = [%c0, %c0], sizes = [%c8, %c64] : !v -> !p
    %a = pto.alloc_tile addr = %a0 : !t loc("a"("k.ptl":3:9))
    pto.tload ins(%xp : !p) outs(%a : !t) loc("k.ptl":3:13)
    %s = pto.tgetval ins(%a, %c0 : !t, index) outs : f32 loc("k.ptl":4:13)
    pto.tmuls ins(%a, %s : !t, f32) outs(%a : !t) loc("k.ptl":5:13)
    return
  }
  func.func @queue(%w: !pto.ptr<f32> {ptl.name = "w"}, %y: !pto.ptr<f32> {ptl.name = "y"}, %n: index) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c64 = arith.constant 64 : index
    %a0 = arith.constant 4096 : i64
    %k = arith.constant 2.0 : f32
    %base = pto.reserve_buffer {name = "q", size = 4096, location = <vec>, auto = true, base = 0} -> i32
    %q = pto.initialize_l2g2l_pipe {dir_mask = 1, slot_size = 2048, slot_num = 8, local_slot_num = 2} (%w : !pto.ptr<f32>, %base : i32) -> !pto.pipe
    %yv = pto.make_tensor_view %y, shape = [%n, %c64], strides = [%c64, %c1] : !v
    scf.for %i = %c0 to %n step %c1 {
      %s = pto.declare_tile -> !t loc("s"("k.ptl":3:9))
      pto.tpop(%s, %q : !t, !pto.pipe) {split = 0} loc("k.ptl":3:13)
      %b = pto.alloc_tile addr = %a0 : !t loc("b"("k.ptl":4:9))
      pto.tmuls ins(%s, %k : !t, f32) outs(%b : !t) loc("k.ptl":4:13)
      pto.tfree(%q : !pto.pipe) {split = 0} loc("k.ptl":4:20)
      %off = arith.muli %i, %c8 : index
      %yp = pto.partition_view %yv, offsets = [%off, %c0], sizes = [%c8, %c64] : !v -> !p
      pto.tstore ins(%b : !t) outs(%yp : !p) loc("k.ptl":5:5)
    }
    return
  }
  func.func @queue_here(%y: !pto.ptr<f32> {ptl.name = "y"}, %n: index) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c64 = arith.constant 64 : index
    %base = pto.reserve_buffer {name = "q", size = 4096, location = <vec>, auto = true, base = 0} -> i32
    %q = pto.initialize_l2l_pipe {dir_mask = 1, slot_size = 2048, slot_num = 2} (%base : i32) -> !pto.pipe
    %yv = pto.make_tensor_view %y, shape = [%n, %c64], strides = [%c64, %c1] : !v
    scf.for %i = %c0 to %n step %c1 {
      %s = pto.declare_tile -> !t loc("s"("k.ptl":3:9))
      pto.tpop(%s, %q : !t, !pto.pipe) {split = 0} loc("k.ptl":3:13)
      %off = arith.muli %i, %c8 : index
      %yp = pto.partition_view %yv, offsets = [%off, %c0], sizes = [%c8, %c64] : !v -> !p
      pto.tstore ins(%s : !t) outs(%yp : !p) loc("k.ptl":5:5)
      pto.tfree(%q : !pto.pipe) {split = 0} loc("k.ptl":5:20)
    }
    return
  }
}
