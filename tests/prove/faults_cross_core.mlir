// ARGS: --pto-prove --split-input-file -o %t/out %s
// Global memory between the cube core and the vector cores of a group, without an order.
!t = !pto.tile_buf<vec, 8x64xf32>
!m = !pto.tile_buf<mat, 8x64xf32>
!k = !pto.tile_buf<vec, 8x64xui8>
!v = !pto.partition_tensor_view<8x64xf32>
module attributes {ptl.machine = "a2"} {
  // The cube core stores what the vector cores load, and nothing puts them in order.
  func.func @k_aic(%x: !pto.ptr<f32> {ptl.name = "x"}, %y: !pto.ptr<f32> {ptl.name = "y"}, %n: index {ptl.name = "n"}) attributes {pto.entry, ptl.kernel = "k", pto.kernel_kind = #pto.kernel_kind<cube>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c64 = arith.constant 64 : index
    %z = arith.constant 0 : i64
    %xv = pto.make_tensor_view %x, shape = [%n, %c64], strides = [%c64, %c1] : !pto.tensor_view<?x64xf32>
    %yv = pto.make_tensor_view %y, shape = [%n, %c64], strides = [%c64, %c1] : !pto.tensor_view<?x64xf32>
    %block = pto.get_block_idx -> i64
    %group = arith.index_cast %block : i64 to index
    %blocks = pto.get_block_num -> i64
    %groups = arith.index_cast %blocks : i64 to index
    %a = pto.alloc_tile addr = %z : !m loc("a"("k.ptl":3:9))
    scf.for %i = %group to %n step %groups {
      %xb = pto.partition_view %xv, offsets = [%i, %c0], sizes = [%c8, %c64] : !pto.tensor_view<?x64xf32> -> !v
      pto.tload ins(%xb : !v) outs(%a : !m) loc("k.ptl":4:5)
      pto.barrier <PIPE_ALL>
      %yb = pto.partition_view %yv, offsets = [%i, %c0], sizes = [%c8, %c64] : !pto.tensor_view<?x64xf32> -> !v
      pto.tstore ins(%a : !m) outs(%yb : !v) loc("k.ptl":5:5)
      pto.barrier <PIPE_ALL>
    }
    return
  }
  func.func @k_aiv(%x: !pto.ptr<f32> {ptl.name = "x"}, %y: !pto.ptr<f32> {ptl.name = "y"}, %n: index {ptl.name = "n"}) attributes {pto.entry, ptl.kernel = "k", pto.kernel_kind = #pto.kernel_kind<vector>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c64 = arith.constant 64 : index
    %z = arith.constant 0 : i64
    %xv = pto.make_tensor_view %x, shape = [%n, %c64], strides = [%c64, %c1] : !pto.tensor_view<?x64xf32>
    %yv = pto.make_tensor_view %y, shape = [%n, %c64], strides = [%c64, %c1] : !pto.tensor_view<?x64xf32>
    %block = pto.get_block_idx -> i64
    %group = arith.index_cast %block : i64 to index
    %blocks = pto.get_block_num -> i64
    %groups = arith.index_cast %blocks : i64 to index
    %a = pto.alloc_tile addr = %z : !t loc("a"("k.ptl":3:9))
    scf.for %i = %group to %n step %groups {
      %yb = pto.partition_view %yv, offsets = [%i, %c0], sizes = [%c8, %c64] : !pto.tensor_view<?x64xf32> -> !v
      pto.barrier <PIPE_ALL>
      pto.tload ins(%yb : !v) outs(%a : !t) loc("k.ptl":6:5)
      pto.barrier <PIPE_ALL>
    }
    return
  }
}

// -----
!t = !pto.tile_buf<vec, 8x64xf32>
!m = !pto.tile_buf<mat, 8x64xf32>
!k = !pto.tile_buf<vec, 8x64xui8>
!v = !pto.partition_tensor_view<8x64xf32>
module attributes {ptl.machine = "a2"} {
  // The vector cores store what the cube core loads.
  func.func @k_aic(%x: !pto.ptr<f32> {ptl.name = "x"}, %y: !pto.ptr<f32> {ptl.name = "y"}, %n: index {ptl.name = "n"}) attributes {pto.entry, ptl.kernel = "k", pto.kernel_kind = #pto.kernel_kind<cube>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c64 = arith.constant 64 : index
    %z = arith.constant 0 : i64
    %xv = pto.make_tensor_view %x, shape = [%n, %c64], strides = [%c64, %c1] : !pto.tensor_view<?x64xf32>
    %yv = pto.make_tensor_view %y, shape = [%n, %c64], strides = [%c64, %c1] : !pto.tensor_view<?x64xf32>
    %block = pto.get_block_idx -> i64
    %group = arith.index_cast %block : i64 to index
    %blocks = pto.get_block_num -> i64
    %groups = arith.index_cast %blocks : i64 to index
    %a = pto.alloc_tile addr = %z : !m loc("a"("k.ptl":3:9))
    scf.for %i = %group to %n step %groups {
      %yb = pto.partition_view %yv, offsets = [%i, %c0], sizes = [%c8, %c64] : !pto.tensor_view<?x64xf32> -> !v
      pto.barrier <PIPE_ALL>
      pto.tload ins(%yb : !v) outs(%a : !m) loc("k.ptl":6:5)
      pto.barrier <PIPE_ALL>
    }
    return
  }
  func.func @k_aiv(%x: !pto.ptr<f32> {ptl.name = "x"}, %y: !pto.ptr<f32> {ptl.name = "y"}, %n: index {ptl.name = "n"}) attributes {pto.entry, ptl.kernel = "k", pto.kernel_kind = #pto.kernel_kind<vector>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c64 = arith.constant 64 : index
    %z = arith.constant 0 : i64
    %xv = pto.make_tensor_view %x, shape = [%n, %c64], strides = [%c64, %c1] : !pto.tensor_view<?x64xf32>
    %yv = pto.make_tensor_view %y, shape = [%n, %c64], strides = [%c64, %c1] : !pto.tensor_view<?x64xf32>
    %block = pto.get_block_idx -> i64
    %group = arith.index_cast %block : i64 to index
    %blocks = pto.get_block_num -> i64
    %groups = arith.index_cast %blocks : i64 to index
    %a = pto.alloc_tile addr = %z : !t loc("a"("k.ptl":3:9))
    scf.for %i = %group to %n step %groups {
      %xb = pto.partition_view %xv, offsets = [%i, %c0], sizes = [%c8, %c64] : !pto.tensor_view<?x64xf32> -> !v
      pto.tload ins(%xb : !v) outs(%a : !t) loc("k.ptl":4:5)
      pto.barrier <PIPE_ALL>
      %yb = pto.partition_view %yv, offsets = [%i, %c0], sizes = [%c8, %c64] : !pto.tensor_view<?x64xf32> -> !v
      pto.tstore ins(%a : !t) outs(%yb : !v) loc("k.ptl":5:5)
      pto.barrier <PIPE_ALL>
    }
    return
  }
}

// -----
!t = !pto.tile_buf<vec, 8x64xf32>
!m = !pto.tile_buf<mat, 8x64xf32>
!k = !pto.tile_buf<vec, 8x64xui8>
!v = !pto.partition_tensor_view<8x64xf32>
module attributes {ptl.machine = "a2"} {
  // The vector cores load what the cube core has stored for the point before, but within a point there is an order.
  func.func @k_aic(%x: !pto.ptr<f32> {ptl.name = "x"}, %y: !pto.ptr<f32> {ptl.name = "y"}, %n: index {ptl.name = "n"}) attributes {pto.entry, ptl.kernel = "k", pto.kernel_kind = #pto.kernel_kind<cube>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c64 = arith.constant 64 : index
    %z = arith.constant 0 : i64
    %xv = pto.make_tensor_view %x, shape = [%n, %c64], strides = [%c64, %c1] : !pto.tensor_view<?x64xf32>
    %yv = pto.make_tensor_view %y, shape = [%n, %c64], strides = [%c64, %c1] : !pto.tensor_view<?x64xf32>
    %block = pto.get_block_idx -> i64
    %group = arith.index_cast %block : i64 to index
    %blocks = pto.get_block_num -> i64
    %groups = arith.index_cast %blocks : i64 to index
    %a = pto.alloc_tile addr = %z : !m loc("a"("k.ptl":3:9))
    scf.for %i = %group to %n step %groups {
      %xb = pto.partition_view %xv, offsets = [%i, %c0], sizes = [%c8, %c64] : !pto.tensor_view<?x64xf32> -> !v
      pto.tload ins(%xb : !v) outs(%a : !m) loc("k.ptl":4:5)
      pto.barrier <PIPE_ALL>
      %yb = pto.partition_view %yv, offsets = [%i, %c0], sizes = [%c8, %c64] : !pto.tensor_view<?x64xf32> -> !v
      pto.tstore ins(%a : !m) outs(%yb : !v) loc("k.ptl":5:5)
      pto.barrier <PIPE_ALL>
      pto.sync.set <PIPE_MTE3>, %c1
      pto.barrier <PIPE_ALL>
    }
    return
  }
  func.func @k_aiv(%x: !pto.ptr<f32> {ptl.name = "x"}, %y: !pto.ptr<f32> {ptl.name = "y"}, %n: index {ptl.name = "n"}) attributes {pto.entry, ptl.kernel = "k", pto.kernel_kind = #pto.kernel_kind<vector>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c64 = arith.constant 64 : index
    %z = arith.constant 0 : i64
    %xv = pto.make_tensor_view %x, shape = [%n, %c64], strides = [%c64, %c1] : !pto.tensor_view<?x64xf32>
    %yv = pto.make_tensor_view %y, shape = [%n, %c64], strides = [%c64, %c1] : !pto.tensor_view<?x64xf32>
    %block = pto.get_block_idx -> i64
    %group = arith.index_cast %block : i64 to index
    %blocks = pto.get_block_num -> i64
    %groups = arith.index_cast %blocks : i64 to index
    %a = pto.alloc_tile addr = %z : !t loc("a"("k.ptl":3:9))
    scf.for %i = %group to %n step %groups {
      %after = arith.addi %i, %c1 : index
      %yb = pto.partition_view %yv, offsets = [%after, %c0], sizes = [%c8, %c64] : !pto.tensor_view<?x64xf32> -> !v
      pto.barrier <PIPE_ALL>
      pto.sync.wait <PIPE_MTE2>, %c1
      pto.tload ins(%yb : !v) outs(%a : !t) loc("k.ptl":6:5)
      pto.barrier <PIPE_ALL>
    }
    return
  }
}
