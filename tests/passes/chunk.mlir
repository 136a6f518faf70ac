// ARGS: --ptl-chunk --canonicalize --cse %s
// Rows without a bound: a loop for the maximum, one for the sum, one that writes.
func.func @softmax(%x: !ptl.array<f32[R, C], gm>, %y: !ptl.ref<f32[R, C], gm>, %r: index, %c: index) {
  %m = ptl.reduce_max %x {axes = array<i64: 1>} : (!ptl.array<f32[R, C], gm>) -> !ptl.array<f32[R, 1]>
  %d = ptl.sub %x, %m : (!ptl.array<f32[R, C], gm>, !ptl.array<f32[R, 1]>) -> !ptl.array<f32[R, C]>
  %e = ptl.exp %d : (!ptl.array<f32[R, C]>) -> !ptl.array<f32[R, C]>
  %s = ptl.reduce_sum %e {axes = array<i64: 1>} : (!ptl.array<f32[R, C]>) -> !ptl.array<f32[R, 1]>
  %p = ptl.div %e, %s : (!ptl.array<f32[R, C]>, !ptl.array<f32[R, 1]>) -> !ptl.array<f32[R, C]>
  %c0 = arith.constant 0 : index
  ptl.store %p, %y[%c0, %c0] [%r, %c] drop [] : !ptl.array<f32[R, C]>, <f32[R, C], gm>
  return
}

// Rows that fit are read once.
func.func @short_rows(%x: !ptl.array<f32[R, 64], gm>, %y: !ptl.ref<f32[R, 64], gm>, %r: index) {
  %m = ptl.reduce_max %x {axes = array<i64: 1>} : (!ptl.array<f32[R, 64], gm>) -> !ptl.array<f32[R, 1]>
  %d = ptl.sub %x, %m : (!ptl.array<f32[R, 64], gm>, !ptl.array<f32[R, 1]>) -> !ptl.array<f32[R, 64]>
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  ptl.store %d, %y[%c0, %c0] [%r, %c64] drop [] : !ptl.array<f32[R, 64]>, <f32[R, 64], gm>
  return
}

// A variable of a loop becomes storage; parts that are joined are stored where they go.
func.func @doubled(%x: !ptl.array<f32[N], gm>, %y: !ptl.ref<f32["2*N"], gm>, %n: index, %times: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %in = ptl.cast %x : !ptl.array<f32[N], gm> -> !ptl.array<f32[N]>
  %out = scf.for %i = %c0 to %times step %c1 iter_args(%a = %in) -> (!ptl.array<f32[N]>) {
    %b = ptl.add %a, %a : (!ptl.array<f32[N]>, !ptl.array<f32[N]>) -> !ptl.array<f32[N]>
    scf.yield %b : !ptl.array<f32[N]>
  }
  %two = ptl.concat %out, %x {axis = 0 : i64} : (!ptl.array<f32[N]>, !ptl.array<f32[N], gm>) -> !ptl.array<f32["2*N"]>
  %all = arith.muli %n, %c2 : index
  ptl.store %two, %y[%c0] [%all] drop [] : !ptl.array<f32["2*N"]>, <f32["2*N"], gm>
  return
}
