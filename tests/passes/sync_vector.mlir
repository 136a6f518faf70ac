// ARGS: --pto-derive-sync --canonicalize --cse %s
// Elementwise kernels on a vector core: one buffer; two that are used in turn.
!t = !pto.tile_buf<vec, 8x64xf32>
!v = !pto.tensor_view<?x64xf32>
!p = !pto.partition_tensor_view<8x64xf32>
module attributes {"pto.target_arch" = "a3", ptl.machine = "a3"} {
  func.func @straight(%x: !pto.ptr<f32> {ptl.name = "x"}, %y: !pto.ptr<f32> {ptl.name = "y"}, %n: index) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c64 = arith.constant 64 : index
    %a0 = arith.constant 0 : i64
    %a1 = arith.constant 2048 : i64
    %k = arith.constant 2.0 : f32
    %xv = pto.make_tensor_view %x, shape = [%n, %c64], strides = [%c64, %c1] : !v
    %yv = pto.make_tensor_view %y, shape = [%n, %c64], strides = [%c64, %c1] : !v
    %xp = pto.partition_view %xv, offsets = [%c0, %c0], sizes = [%c8, %c64] : !v -> !p
    %yp = pto.partition_view %yv, offsets = [%c0, %c0], sizes = [%c8, %c64] : !v -> !p
    %a = pto.alloc_tile addr = %a0 : !t loc("a"("k.ptl":3:9))
    %b = pto.alloc_tile addr = %a1 : !t loc("b"("k.ptl":4:9))
    pto.tload ins(%xp : !p) outs(%a : !t) loc("k.ptl":3:13)
    pto.tmuls ins(%a, %k : !t, f32) outs(%b : !t) loc("k.ptl":4:13)
    pto.tadd ins(%b, %a : !t, !t) outs(%b : !t) loc("k.ptl":5:13)
    pto.tstore ins(%b : !t) outs(%yp : !p) loc("k.ptl":6:5)
    return
  }
  func.func @single(%x: !pto.ptr<f32> {ptl.name = "x"}, %y: !pto.ptr<f32> {ptl.name = "y"}, %n: index) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c64 = arith.constant 64 : index
    %a0 = arith.constant 0 : i64
    %k = arith.constant 2.0 : f32
    %xv = pto.make_tensor_view %x, shape = [%n, %c64], strides = [%c64, %c1] : !v
    %yv = pto.make_tensor_view %y, shape = [%n, %c64], strides = [%c64, %c1] : !v
    scf.for %i = %c0 to %n step %c8 {
      %xp = pto.partition_view %xv, offsets = [%i, %c0], sizes = [%c8, %c64] : !v -> !p
      %yp = pto.partition_view %yv, offsets = [%i, %c0], sizes = [%c8, %c64] : !v -> !p
      %a = pto.alloc_tile addr = %a0 : !t loc("a"("k.ptl":3:9))
      pto.tload ins(%xp : !p) outs(%a : !t) loc("k.ptl":3:13)
      pto.tmuls ins(%a, %k : !t, f32) outs(%a : !t) loc("k.ptl":4:13)
      pto.tstore ins(%a : !t) outs(%yp : !p) loc("k.ptl":5:5)
    }
    return
  }
  func.func @double(%x: !pto.ptr<f32> {ptl.name = "x"}, %y: !pto.ptr<f32> {ptl.name = "y"}, %n: index) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c8 = arith.constant 8 : index
    %c64 = arith.constant 64 : index
    %a0 = arith.constant 0 : i64
    %a1 = arith.constant 4096 : i64
    %k = arith.constant 2.0 : f32
    %xv = pto.make_tensor_view %x, shape = [%n, %c64], strides = [%c64, %c1] : !v
    %yv = pto.make_tensor_view %y, shape = [%n, %c64], strides = [%c64, %c1] : !v
    %am = pto.alloc_multi_tile addr = %a0 : !pto.multi_tile_buf<!t, count = 2> loc("a"("k.ptl":3:9))
    %bm = pto.alloc_multi_tile addr = %a1 : !pto.multi_tile_buf<!t, count = 2> loc("b"("k.ptl":4:9))
    scf.for %i = %c0 to %n step %c8 {
      %xp = pto.partition_view %xv, offsets = [%i, %c0], sizes = [%c8, %c64] : !v -> !p
      %yp = pto.partition_view %yv, offsets = [%i, %c0], sizes = [%c8, %c64] : !v -> !p
      %round = arith.divui %i, %c8 : index
      %slot = arith.remui %round, %c2 : index
      %a = pto.multi_tile_get %am[%slot] : !pto.multi_tile_buf<!t, count = 2> -> !t loc("a"("k.ptl":3:9))
      %b = pto.multi_tile_get %bm[%slot] : !pto.multi_tile_buf<!t, count = 2> -> !t loc("b"("k.ptl":4:9))
      pto.tload ins(%xp : !p) outs(%a : !t) loc("k.ptl":3:13)
      pto.tmuls ins(%a, %k : !t, f32) outs(%b : !t) loc("k.ptl":4:13)
      pto.tadd ins(%a, %b : !t, !t) outs(%b : !t) loc("k.ptl":5:13)
      pto.tstore ins(%b : !t) outs(%yp : !p) loc("k.ptl":6:5)
    }
    return
  }
}
