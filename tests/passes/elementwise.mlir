// ARGS: --ptl-partition --canonicalize --cse --verify-each %s
// A chain is one grid; what is used twice is computed once per tile; scalars and vectors broadcast into it.
func.func @chain(%x: !ptl.array<f32[M, N], gm>, %v: !ptl.array<f32[N], gm>, %s: f32, %y: !ptl.ref<f32[M, N], gm>, %m: index, %n: index) {
  %c0 = arith.constant 0 : index
  %0 = ptl.add %x, %v : (!ptl.array<f32[M, N], gm>, !ptl.array<f32[N], gm>) -> !ptl.array<f32[M, N]>
  %1 = ptl.exp %0 : (!ptl.array<f32[M, N]>) -> !ptl.array<f32[M, N]>
  %2 = ptl.mul %1, %s : (!ptl.array<f32[M, N]>, f32) -> !ptl.array<f32[M, N]>
  %3 = ptl.add %2, %1 : (!ptl.array<f32[M, N]>, !ptl.array<f32[M, N]>) -> !ptl.array<f32[M, N]>
  ptl.store %3, %y[%c0, %c0] [%m, %n] drop [] : !ptl.array<f32[M, N]>, <f32[M, N], gm>
  return
}
