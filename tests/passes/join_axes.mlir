// ARGS: --ptl-chunk=machine=a3 --canonicalize --cse %s
// The lines of an image are folded as one long one; what has a number for each channel is as before.
func.func @pooled(%n: index, %c: index, %h: index, %w: index, %x: !ptl.array<f32[N, C, H, W], gm>, %y: !ptl.ref<f32[N, C, 1, 1], gm>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s = ptl.reduce_sum %x {axes = array<i64: 2, 3>} : (!ptl.array<f32[N, C, H, W], gm>) -> !ptl.array<f32[N, C, 1, 1]>
  ptl.store %s, %y[%c0, %c0, %c0, %c0] [%n, %c, %c1, %c1] drop [] : !ptl.array<f32[N, C, 1, 1]>, <f32[N, C, 1, 1], gm>
  return
}

// A row is added to each line, which stay apart; images and channels are joined.
func.func @lines(%x: !ptl.array<f32[4, 6, 300, 50], gm>, %row: !ptl.array<f32[50], gm>, %y: !ptl.ref<f32[4, 6, 300, 50], gm>) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c6 = arith.constant 6 : index
  %c300 = arith.constant 300 : index
  %c50 = arith.constant 50 : index
  %s = ptl.add %x, %row : (!ptl.array<f32[4, 6, 300, 50], gm>, !ptl.array<f32[50], gm>) -> !ptl.array<f32[4, 6, 300, 50]>
  ptl.store %s, %y[%c0, %c0, %c0, %c0] [%c4, %c6, %c300, %c50] drop [] : !ptl.array<f32[4, 6, 300, 50]>, <f32[4, 6, 300, 50], gm>
  return
}
