// ARGS: --ptl-chunk=machine=a3 --canonicalize --cse %s
// Two long rows are summed in pieces, by all cores.
func.func @few(%x: !ptl.array<f32[2, 65536], gm>, %y: !ptl.ref<f32[2, 1], gm>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %s = ptl.reduce_sum %x {axes = array<i64: 1>} : (!ptl.array<f32[2, 65536], gm>) -> !ptl.array<f32[2, 1]>
  ptl.store %s, %y[%c0, %c0] [%c2, %c1] drop [] : !ptl.array<f32[2, 1]>, <f32[2, 1], gm>
  return
}

// Many rows keep all cores busy.
func.func @many(%x: !ptl.array<f32[400, 65536], gm>, %y: !ptl.ref<f32[400, 1], gm>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c400 = arith.constant 400 : index
  %s = ptl.reduce_sum %x {axes = array<i64: 1>} : (!ptl.array<f32[400, 65536], gm>) -> !ptl.array<f32[400, 1]>
  ptl.store %s, %y[%c0, %c0] [%c400, %c1] drop [] : !ptl.array<f32[400, 1]>, <f32[400, 1], gm>
  return
}

// Other axes than the last are folded as they lie.
func.func @leading(%x: !ptl.array<f32[65536, 2], gm>, %y: !ptl.ref<f32[1, 2], gm>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %s = ptl.reduce_sum %x {axes = array<i64: 0>} : (!ptl.array<f32[65536, 2], gm>) -> !ptl.array<f32[1, 2]>
  ptl.store %s, %y[%c0, %c0] [%c1, %c2] drop [] : !ptl.array<f32[1, 2]>, <f32[1, 2], gm>
  return
}
