// ARGS: --ptl-partition --canonicalize --cse --verify-each %s
// Both results of a choice come from one grid over the rows; what cannot stand beside it is stored first.
func.func @both(%x: !ptl.array<f32[R, N], gm>, %v: !ptl.ref<f32[R, 4], gm>, %i: !ptl.ref<i32[R, 4], gm>, %r: index) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %0, %1 = ptl.topk %x : (!ptl.array<f32[R, N], gm>) -> (!ptl.array<f32[R, 4]>, !ptl.array<i32[R, 4]>)
  ptl.store %0, %v[%c0, %c0] [%r, %c4] drop [] : !ptl.array<f32[R, 4]>, <f32[R, 4], gm>
  ptl.store %1, %i[%c0, %c0] [%r, %c4] drop [] : !ptl.array<i32[R, 4]>, <i32[R, 4], gm>
  return
}
func.func @one_later(%x: !ptl.array<f32[R, N], gm>, %v: !ptl.ref<f32[R, 4], gm>, %i: !ptl.ref<i32[R, 4], gm>, %r: index) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %0, %1 = ptl.topk %x : (!ptl.array<f32[R, N], gm>) -> (!ptl.array<f32[R, 4]>, !ptl.array<i32[R, 4]>)
  %2 = ptl.add %1, %1 : (!ptl.array<i32[R, 4]>, !ptl.array<i32[R, 4]>) -> !ptl.array<i32[R, 4]>
  ptl.store %0, %v[%c0, %c0] [%r, %c4] drop [] : !ptl.array<f32[R, 4]>, <f32[R, 4], gm>
  ptl.store %2, %i[%c0, %c0] [%r, %c4] drop [] : !ptl.array<i32[R, 4]>, <i32[R, 4], gm>
  return
}
// Rows are gathered tile by tile from what is stored before, in a grid of its own.
func.func @rows(%x: !ptl.array<f32[R, C], gm>, %p: !ptl.array<i32[K], gm>, %y: !ptl.ref<f32[K, C], gm>, %k: index, %c: index) {
  %c0 = arith.constant 0 : index
  %0 = ptl.exp %x : (!ptl.array<f32[R, C], gm>) -> !ptl.array<f32[R, C]>
  %1 = ptl.take %0[%p] along 0 : !ptl.array<f32[R, C]>, !ptl.array<i32[K], gm> -> !ptl.array<f32[K, C]>
  %2 = ptl.add %1, %1 : (!ptl.array<f32[K, C]>, !ptl.array<f32[K, C]>) -> !ptl.array<f32[K, C]>
  ptl.store %2, %y[%c0, %c0] [%k, %c] drop [] : !ptl.array<f32[K, C]>, <f32[K, C], gm>
  return
}
func.func @each(%x: !ptl.array<f32[R, C], gm>, %p: !ptl.array<i32[R, K], gm>, %y: !ptl.ref<f32[R, K], gm>, %r: index, %k: index) {
  %c0 = arith.constant 0 : index
  %0 = ptl.gather %x, %p {axis = 1 : i64} : (!ptl.array<f32[R, C], gm>, !ptl.array<i32[R, K], gm>) -> !ptl.array<f32[R, K]>
  ptl.store %0, %y[%c0, %c0] [%r, %k] drop [] : !ptl.array<f32[R, K]>, <f32[R, K], gm>
  return
}
