// ARGS: --ptl-partition --canonicalize --cse --verify-each %s
// Are rounds that only compute elements from elements written one after the other, so that one grid has all of them?
func.func @three_rounds(%x: !ptl.array<f32[M], gm>, %y: !ptl.ref<f32[N], gm>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %zeros = ptl.zeros %n : (index) -> !ptl.array<f32[N]>
  %sum = scf.for %i = %c0 to %c3 step %c1 iter_args(%acc = %zeros) -> (!ptl.array<f32[N]>) {
    %part = ptl.slice %x[%i] [%n] drop [] : <f32[M], gm> -> !ptl.array<f32[N]>
    %next = ptl.add %acc, %part : (!ptl.array<f32[N]>, !ptl.array<f32[N]>) -> !ptl.array<f32[N]>
    scf.yield %next : !ptl.array<f32[N]>
  }
  ptl.store %sum, %y[%c0] [%n] drop [] : !ptl.array<f32[N]>, <f32[N], gm>
  return
}
// A sort needs all of its operand: the rounds stay a loop.
func.func @sorted_rounds(%x: !ptl.array<f32[N], gm>, %y: !ptl.ref<f32[N], gm>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %sum = scf.for %i = %c0 to %c3 step %c1 iter_args(%acc = %x) -> (!ptl.array<f32[N], gm>) {
    %sorted = ptl.sort %acc {axis = 0 : i64, descending = false} : (!ptl.array<f32[N], gm>) -> !ptl.array<f32[N], gm>
    scf.yield %sorted : !ptl.array<f32[N], gm>
  }
  ptl.store %sum, %y[%c0] [%n] drop [] : !ptl.array<f32[N], gm>, <f32[N], gm>
  return
}
