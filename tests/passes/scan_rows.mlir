// ARGS: --ptl-chunk=machine=a3 --canonicalize --cse %s
// Each row would fit a tile, which has eight rows instead, and goes along them in chunks.
func.func @rows(%x: !ptl.array<f32[400, 4000], gm>, %y: !ptl.ref<f32[400, 4000], gm>) {
  %c0 = arith.constant 0 : index
  %c400 = arith.constant 400 : index
  %c4000 = arith.constant 4000 : index
  %s = ptl.cumsum %x {axis = 1 : i64} : (!ptl.array<f32[400, 4000], gm>) -> !ptl.array<f32[400, 4000]>
  ptl.store %s, %y[%c0, %c0] [%c400, %c4000] drop [] : !ptl.array<f32[400, 4000]>, <f32[400, 4000], gm>
  return
}
