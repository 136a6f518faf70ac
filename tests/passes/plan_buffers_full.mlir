// ARGS: --pto-plan-buffers %s
// More than the machine has is live at once: what, largest first.
!t = !pto.tile_buf<vec, 64x256xf32>
!s = !pto.tile_buf<vec, 32x256xf32>
!r = !pto.tile_buf<vec, 8x128xf32>
!v = !pto.partition_tensor_view<32x256xf32>
module attributes {"pto.target_arch" = "a3", "ptl.machine" = "a3"} {
  func.func @attention(%x: !pto.ptr<f32>, %n: index) attributes {pto.entry, pto.kernel_kind = #pto.kernel_kind<vector>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %c256 = arith.constant 256 : index
    %one = arith.constant 1.0 : f32
    %xv = pto.make_tensor_view %x, shape = [%n, %c256], strides = [%c256, %c1] : !pto.tensor_view<?x256xf32>
    %o = pto.alloc_multi_tile : !pto.multi_tile_buf<!s, count = 2> loc("o"("attention.ptl":18:7))
    scf.for %i = %c0 to %n step %c1 {
      %part = pto.partition_view %xv, offsets = [%i, %c0], sizes = [%c32, %c256] : !pto.tensor_view<?x256xf32> -> !v
      %os = pto.multi_tile_get %o[%i] : !pto.multi_tile_buf<!s, count = 2> -> !s
      %s = pto.alloc_tile : !t loc("s"("attention.ptl":27:7))
      %p = pto.alloc_tile : !t loc("p"("attention.ptl":30:7))
      %r0 = pto.alloc_tile : !r loc("m"("attention.ptl":31:7))
      %r1 = pto.alloc_tile : !r loc("l"("attention.ptl":32:7))
      %r2 = pto.alloc_tile : !r loc("alpha"("attention.ptl":33:7))
      pto.tload ins(%part : !v) outs(%os : !s) loc("attention.ptl":18:11)
      pto.texpands ins(%one : f32) outs(%s : !t) loc("attention.ptl":27:11)
      pto.texpands ins(%one : f32) outs(%p : !t) loc("attention.ptl":30:11)
      pto.texpands ins(%one : f32) outs(%r0 : !r) loc("attention.ptl":31:11)
      pto.texpands ins(%one : f32) outs(%r1 : !r) loc("attention.ptl":32:11)
      pto.tadd ins(%r0, %r1 : !r, !r) outs(%r2 : !r) loc("attention.ptl":33:11)
      pto.tadd ins(%r2, %r0 : !r, !r) outs(%r1 : !r) loc("attention.ptl":34:11)
      pto.tadd ins(%s, %p : !t, !t) outs(%s : !t) loc("attention.ptl":35:11)
      pto.tstore ins(%os : !s) outs(%part : !v) loc("attention.ptl":36:3)
    } loc("attention.ptl":17:3)
    return
  }
}
