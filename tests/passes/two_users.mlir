// ARGS: --ptl-partition --canonicalize --cse --verify-each %s
// A value that two kernels use is stored once; both load it.
func.func @two_users(%x: !ptl.array<f32[N], gm>, %y: !ptl.ref<f32[N], gm>, %z: !ptl.ref<f32[N], gm>, %n: index) {
  %c0 = arith.constant 0 : index
  %0 = ptl.exp %x : (!ptl.array<f32[N], gm>) -> !ptl.array<f32[N]>
  %1 = ptl.neg %0 : (!ptl.array<f32[N]>) -> !ptl.array<f32[N]>
  %2 = ptl.abs %0 : (!ptl.array<f32[N]>) -> !ptl.array<f32[N]>
  ptl.store %1, %y[%c0] [%n] drop [] : !ptl.array<f32[N]>, <f32[N], gm>
  ptl.store %2, %z[%c0] [%n] drop [] : !ptl.array<f32[N]>, <f32[N], gm>
  return
}
