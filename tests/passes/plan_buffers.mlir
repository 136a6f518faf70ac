// ARGS[ledger]: --pto-plan-buffers=emit=ledger --verify-each %s
// ARGS[map]: --pto-plan-buffers="emit=map tight=true" --verify-each %s
!t = !pto.tile_buf<vec, 64x128xf32>
!c = !pto.tile_buf<vec, 64x1xf32, blayout=col_major>
!v = !pto.partition_tensor_view<64x128xf32>
module attributes {"pto.target_arch" = "a3", "ptl.machine" = "a3"} {
  // Slots turn through the loop; what the body makes is live from its first to its last use.
  func.func @softmax(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>, %n: index) attributes {pto.entry, pto.kernel_kind = #pto.kernel_kind<vector>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %xv = pto.make_tensor_view %x, shape = [%n, %c128], strides = [%c128, %c1] : !pto.tensor_view<?x128xf32> loc("x"("softmax.ptl":1:14))
    %yv = pto.make_tensor_view %y, shape = [%n, %c128], strides = [%c128, %c1] : !pto.tensor_view<?x128xf32> loc("y"("softmax.ptl":1:30))
    %in = pto.alloc_multi_tile : !pto.multi_tile_buf<!t, count = 2> loc("s"("softmax.ptl":3:9))
    scf.for %i = %c0 to %n step %c64 {
      %k = arith.divui %i, %c64 : index
      %from = pto.partition_view %xv, offsets = [%i, %c0], sizes = [%c64, %c128] : !pto.tensor_view<?x128xf32> -> !v
      %to = pto.partition_view %yv, offsets = [%i, %c0], sizes = [%c64, %c128] : !pto.tensor_view<?x128xf32> -> !v
      %s = pto.multi_tile_get %in[%k] : !pto.multi_tile_buf<!t, count = 2> -> !t
      %m = pto.alloc_tile : !c loc("m"("softmax.ptl":4:9))
      %scratch = pto.alloc_tile : !t loc("softmax.ptl":4:13)
      %d = pto.alloc_tile : !t loc("d"("softmax.ptl":5:9))
      %e = pto.alloc_tile : !t loc("e"("softmax.ptl":6:9))
      %l = pto.alloc_tile : !c loc("l"("softmax.ptl":7:9))
      %scratch2 = pto.alloc_tile : !t loc("softmax.ptl":7:13)
      %o = pto.alloc_tile : !t loc("softmax.ptl":8:3)
      pto.tload ins(%from : !v) outs(%s : !t) loc("softmax.ptl":3:13)
      pto.trowmax ins(%s, %scratch : !t, !t) outs(%m : !c) loc("softmax.ptl":4:13)
      pto.trowexpandsub ins(%s, %m : !t, !c) outs(%d : !t) loc("softmax.ptl":5:13)
      pto.texp ins(%d : !t) outs(%e : !t) loc("softmax.ptl":6:13)
      pto.trowsum ins(%e, %scratch2 : !t, !t) outs(%l : !c) loc("softmax.ptl":7:13)
      pto.trowexpanddiv ins(%e, %l : !t, !c) outs(%o : !t) loc("softmax.ptl":8:12)
      pto.tstore ins(%o : !t) outs(%to : !v) loc("softmax.ptl":8:3)
    } loc("softmax.ptl":2:3)
    return
  }
  // What a loop carries is live through it; two loops that follow each other share.
  func.func @loops(%x: !pto.ptr<f32>, %n: index) attributes {pto.entry, pto.kernel_kind = #pto.kernel_kind<vector>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f32
    %big = pto.alloc_tile : !pto.tile_buf<vec, 128x256xf32> loc("big"("loops.ptl":2:5))
    %acc = pto.alloc_tile : !t loc("acc"("loops.ptl":3:5))
    %never = pto.alloc_tile : !c loc("never"("loops.ptl":4:5))
    pto.texpands ins(%zero : f32) outs(%acc : !t) loc("loops.ptl":3:5)
    scf.for %i = %c0 to %n step %c1 {
      %a = pto.alloc_tile : !t loc("a"("loops.ptl":6:7))
      %b = pto.alloc_tile : !t loc("b"("loops.ptl":7:7))
      pto.texpands ins(%zero : f32) outs(%a : !t) loc("loops.ptl":6:7)
      %first = arith.cmpi eq, %i, %c0 : index
      scf.if %first {
        pto.tadd ins(%a, %a : !t, !t) outs(%b : !t) loc("loops.ptl":9:9)
        pto.tadd ins(%acc, %b : !t, !t) outs(%acc : !t) loc("loops.ptl":10:9)
      } else {
        pto.tadd ins(%acc, %a : !t, !t) outs(%acc : !t) loc("loops.ptl":12:9)
      } loc("loops.ptl":8:7)
    } loc("loops.ptl":5:3)
    scf.for %i = %c0 to %n step %c1 {
      pto.tmuls ins(%big, %zero : !pto.tile_buf<vec, 128x256xf32>, f32) outs(%big : !pto.tile_buf<vec, 128x256xf32>) loc("loops.ptl":14:7)
    } loc("loops.ptl":13:3)
    return
  }
}
