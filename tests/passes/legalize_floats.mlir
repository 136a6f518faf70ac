// ARGS: --ptl-legalize=machine=a2 --canonicalize --cse --verify-each %s
// A chain of short floats is computed in f32 and rounded once, where it is stored; what the author converts stays.
func.func @chain(%x: !ptl.array<bf16[M, N], gm>, %y: !ptl.array<bf16[M, N], gm>, %z: !ptl.ref<bf16[M, N], gm>, %m: index, %n: index) {
  %c0 = arith.constant 0 : index
  %0 = ptl.sigmoid %x : (!ptl.array<bf16[M, N], gm>) -> !ptl.array<bf16[M, N]>
  %1 = ptl.mul %0, %x : (!ptl.array<bf16[M, N]>, !ptl.array<bf16[M, N], gm>) -> !ptl.array<bf16[M, N]>
  %2 = ptl.add %1, %y : (!ptl.array<bf16[M, N]>, !ptl.array<bf16[M, N], gm>) -> !ptl.array<bf16[M, N]>
  ptl.store %2, %z[%c0, %c0] [%m, %n] drop [] : !ptl.array<bf16[M, N]>, <bf16[M, N], gm>
  return
}

// The difference of a scalar and a tile, a clamp that keeps NaN.
func.func @scalars(%x: !ptl.array<f32[N], gm>, %s: f32, %z: !ptl.ref<f32[N], gm>, %n: index) {
  %c0 = arith.constant 0 : index
  %0 = ptl.sub %s, %x : (f32, !ptl.array<f32[N], gm>) -> !ptl.array<f32[N]>
  %1 = arith.constant 0.0 : f32
  %2 = ptl.clamp %0, %1, %s : (!ptl.array<f32[N]>, f32, f32) -> !ptl.array<f32[N]>
  ptl.store %2, %z[%c0] [%n] drop [] : !ptl.array<f32[N]>, <f32[N], gm>
  return
}
