// ARGS: --ptl-partition --canonicalize --cse --verify-each %s
// Nothing reads the product but a fold of all of it: each tile is folded where it is computed.
func.func @dot(%x: !ptl.array<f32[M, N], gm>, %y: !ptl.array<f32[M, N], gm>, %to: !ptl.ref<f32[], gm>) {
  %0 = ptl.mul %x, %y : (!ptl.array<f32[M, N], gm>, !ptl.array<f32[M, N], gm>) -> !ptl.array<f32[M, N]>
  %1 = ptl.reduce_sum %0 : (!ptl.array<f32[M, N]>) -> f32
  ptl.store %1, %to[] [] drop [] : f32, <f32[], gm>
  return
}
// A mean is a sum of the parts' sums, divided by the number of all elements.
func.func @mean(%x: !ptl.array<f32[N], gm>, %to: !ptl.ref<f32[1], gm>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = ptl.mul %x, %x : (!ptl.array<f32[N], gm>, !ptl.array<f32[N], gm>) -> !ptl.array<f32[N]>
  %1 = ptl.reduce_mean %0 {axes = array<i64: 0>} : (!ptl.array<f32[N]>) -> !ptl.array<f32[1]>
  ptl.store %1, %to[%c0] [%c1] drop [] : !ptl.array<f32[1]>, <f32[1], gm>
  return
}
// Both folds read what is stored.
func.func @both(%x: !ptl.array<f32[N], gm>, %to: !ptl.ref<f32[], gm>) {
  %0 = ptl.mul %x, %x : (!ptl.array<f32[N], gm>, !ptl.array<f32[N], gm>) -> !ptl.array<f32[N]>
  %1 = ptl.reduce_max %0 : (!ptl.array<f32[N]>) -> f32
  %2 = ptl.reduce_min %0 : (!ptl.array<f32[N]>) -> f32
  %3 = arith.subf %1, %2 : f32
  ptl.store %3, %to[] [] drop [] : f32, <f32[], gm>
  return
}
// Sums of halves would be rounded between.
func.func @halves(%x: !ptl.array<f16[N], gm>, %to: !ptl.ref<f16[], gm>) {
  %0 = ptl.mul %x, %x : (!ptl.array<f16[N], gm>, !ptl.array<f16[N], gm>) -> !ptl.array<f16[N]>
  %1 = ptl.reduce_sum %0 : (!ptl.array<f16[N]>) -> f16
  ptl.store %1, %to[] [] drop [] : f16, <f16[], gm>
  return
}
