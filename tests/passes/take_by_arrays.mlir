// ARGS: --ptl-partition --canonicalize --cse --verify-each %s
// Do positions of two axes choose rows themselves, so that the sum of the rows is one grid?
func.func @bags(%t: !ptl.array<f32[V, D], gm>, %ids: !ptl.array<i32[B, L], gm>, %y: !ptl.ref<f32[B, 1, D], gm>, %b: index, %l: index, %d: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.muli %b, %l : index
  %row = ptl.reshape %ids, %n : (!ptl.array<i32[B, L], gm>, index) -> !ptl.array<i32["B*L"]>
  %rows = ptl.take %t[%row] along 0 : <f32[V, D], gm>, <i32["B*L"]> -> <f32["B*L", D]>
  %bags = ptl.reshape %rows, %b, %l, %d : (!ptl.array<f32["B*L", D]>, index, index, index) -> !ptl.array<f32[B, L, D]>
  %sums = ptl.reduce_sum %bags {axes = array<i64: 1>} : (!ptl.array<f32[B, L, D]>) -> !ptl.array<f32[B, 1, D]>
  ptl.store %sums, %y[%c0, %c0, %c0] [%b, %c1, %d] drop [] : !ptl.array<f32[B, 1, D]>, <f32[B, 1, D], gm>
  return
}
// A reshape to other axes is one of all that was chosen.
func.func @other(%t: !ptl.array<f32[V, D], gm>, %ids: !ptl.array<i32[B, L], gm>, %y: !ptl.ref<f32[L, B, D], gm>, %b: index, %l: index, %d: index) {
  %c0 = arith.constant 0 : index
  %n = arith.muli %b, %l : index
  %row = ptl.reshape %ids, %n : (!ptl.array<i32[B, L], gm>, index) -> !ptl.array<i32["B*L"]>
  %rows = ptl.take %t[%row] along 0 : <f32[V, D], gm>, <i32["B*L"]> -> <f32["B*L", D]>
  %bags = ptl.reshape %rows, %l, %b, %d : (!ptl.array<f32["B*L", D]>, index, index, index) -> !ptl.array<f32[L, B, D]>
  ptl.store %bags, %y[%c0, %c0, %c0] [%l, %b, %d] drop [] : !ptl.array<f32[L, B, D]>, <f32[L, B, D], gm>
  return
}
