// ARGS: --ptl-partition --canonicalize --cse --verify-each %s
// A value from which two others of its shape are computed is a tile of their grid. If it is stored, too, it is the tile of a third store.
func.func @two_users(%x: !ptl.array<f32[N], gm>, %y: !ptl.ref<f32[N], gm>, %z: !ptl.ref<f32[N], gm>, %w: !ptl.ref<f32[N], gm>, %n: index) {
  %c0 = arith.constant 0 : index
  %0 = ptl.exp %x : (!ptl.array<f32[N], gm>) -> !ptl.array<f32[N]>
  %1 = ptl.neg %0 : (!ptl.array<f32[N]>) -> !ptl.array<f32[N]>
  %2 = ptl.abs %0 : (!ptl.array<f32[N]>) -> !ptl.array<f32[N]>
  ptl.store %0, %w[%c0] [%n] drop [] : !ptl.array<f32[N]>, <f32[N], gm>
  ptl.store %1, %y[%c0] [%n] drop [] : !ptl.array<f32[N]>, <f32[N], gm>
  ptl.store %2, %z[%c0] [%n] drop [] : !ptl.array<f32[N]>, <f32[N], gm>
  return
}

// A user of another shape has a grid of its own, which loads what is stored; the value is a tile of the grid of the user that has its shape.
func.func @two_shapes(%x: !ptl.array<f32[N], gm>, %a: !ptl.array<f32[M, N], gm>, %y: !ptl.ref<f32[N], gm>, %z: !ptl.ref<f32[M, N], gm>, %m: index, %n: index) {
  %c0 = arith.constant 0 : index
  %0 = ptl.exp %x : (!ptl.array<f32[N], gm>) -> !ptl.array<f32[N]>
  %1 = ptl.neg %0 : (!ptl.array<f32[N]>) -> !ptl.array<f32[N]>
  %2 = ptl.add %a, %0 : (!ptl.array<f32[M, N], gm>, !ptl.array<f32[N]>) -> !ptl.array<f32[M, N]>
  ptl.store %1, %y[%c0] [%n] drop [] : !ptl.array<f32[N]>, <f32[N], gm>
  ptl.store %2, %z[%c0, %c0] [%m, %n] drop [] : !ptl.array<f32[M, N]>, <f32[M, N], gm>
  return
}

// What is read between the two stores keeps them apart.
func.func @read_between(%x: !ptl.array<f32[N], gm>, %y: !ptl.ref<f32[N], gm>, %z: !ptl.ref<f32[N], gm>, %n: index) {
  %c0 = arith.constant 0 : index
  %0 = ptl.exp %x : (!ptl.array<f32[N], gm>) -> !ptl.array<f32[N]>
  %1 = ptl.neg %0 : (!ptl.array<f32[N]>) -> !ptl.array<f32[N]>
  ptl.store %1, %y[%c0] [%n] drop [] : !ptl.array<f32[N]>, <f32[N], gm>
  %2 = ptl.load %y[%c0] [%n] drop [] : <f32[N], gm> -> !ptl.array<f32[N]>
  %3 = ptl.add %2, %0 : (!ptl.array<f32[N]>, !ptl.array<f32[N]>) -> !ptl.array<f32[N]>
  ptl.store %3, %z[%c0] [%n] drop [] : !ptl.array<f32[N]>, <f32[N], gm>
  return
}
