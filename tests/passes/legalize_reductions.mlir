// ARGS: --ptl-legalize=machine=a2 --canonicalize --cse --verify-each %s
// Rows first, then columns; a scan moves whole rows.
func.func @mean(%x: !ptl.array<f16[R, C], gm>, %y: !ptl.ref<f16[1], gm>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = ptl.reduce_mean %x : (!ptl.array<f16[R, C], gm>) -> f16
  ptl.store %0, %y[%c0] [%c1] drop [] : f16, <f16[1], gm>
  return
}

func.func @scan(%x: !ptl.array<f32[R, 8], gm>, %y: !ptl.ref<f32[R, 8], gm>, %r: index) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %0 = ptl.cumsum %x {axis = 1} : (!ptl.array<f32[R, 8], gm>) -> !ptl.array<f32[R, 8]>
  ptl.store %0, %y[%c0, %c0] [%r, %c8] drop [] : !ptl.array<f32[R, 8]>, <f32[R, 8], gm>
  return
}
