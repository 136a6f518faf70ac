// ARGS: --ptl-partition --canonicalize --cse --verify-each %s
// The same array over different axes: the grid keeps the axes along which every member is independent; none left, two grids.
func.func @centred(%x: !ptl.array<f32[M, N], gm>, %y: !ptl.ref<f32[M, N], gm>, %m: index, %n: index) {
  %c0 = arith.constant 0 : index
  %0 = ptl.reduce_mean %x {axes = array<i64: 1>} : (!ptl.array<f32[M, N], gm>) -> !ptl.array<f32[M, 1]>
  %1 = ptl.sub %x, %0 : (!ptl.array<f32[M, N], gm>, !ptl.array<f32[M, 1]>) -> !ptl.array<f32[M, N]>
  ptl.store %1, %y[%c0, %c0] [%m, %n] drop [] : !ptl.array<f32[M, N]>, <f32[M, N], gm>
  return
}
func.func @both_ways(%x: !ptl.array<f32[M, N], gm>, %y: !ptl.ref<f32[M, N], gm>, %m: index, %n: index) {
  %c0 = arith.constant 0 : index
  %0 = ptl.reduce_max %x {axes = array<i64: 1>} : (!ptl.array<f32[M, N], gm>) -> !ptl.array<f32[M, 1]>
  %1 = ptl.reduce_max %x {axes = array<i64: 0>} : (!ptl.array<f32[M, N], gm>) -> !ptl.array<f32[1, N]>
  %2 = ptl.add %0, %1 : (!ptl.array<f32[M, 1]>, !ptl.array<f32[1, N]>) -> !ptl.array<f32[M, N]>
  ptl.store %2, %y[%c0, %c0] [%m, %n] drop [] : !ptl.array<f32[M, N]>, <f32[M, N], gm>
  return
}
