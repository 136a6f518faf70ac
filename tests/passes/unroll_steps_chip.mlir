// ARGS: --ptl-chunk=machine=a3 --canonicalize --cse %s
// Three rounds that go on with an array are one grid.
func.func @rounds(%x: !ptl.array<f32[N, M], gm>, %y: !ptl.ref<f32[N, M], gm>, %n: index {ptl.dim = "N"}, %m: index {ptl.dim = "M"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0.0 : f32
  %none = ptl.full %n, %m, %zero : (index, index, f32) -> !ptl.array<f32[N, M]>
  %s = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %none) -> (!ptl.array<f32[N, M]>) {
    %p = ptl.mul %a, %x : (!ptl.array<f32[N, M]>, !ptl.array<f32[N, M], gm>) -> !ptl.array<f32[N, M]>
    %q = ptl.add %p, %x : (!ptl.array<f32[N, M]>, !ptl.array<f32[N, M], gm>) -> !ptl.array<f32[N, M]>
    scf.yield %q : !ptl.array<f32[N, M]>
  }
  ptl.store %s, %y[%c0, %c0] [%n, %m] drop [] : !ptl.array<f32[N, M]>, <f32[N, M], gm>
  return
}
// Rounds that take boxes ask how long their source is.
func.func @boxes(%x: !ptl.array<f32[N, M2], gm>, %y: !ptl.ref<f32[N, M], gm>, %n: index {ptl.dim = "N"}, %m: index {ptl.dim = "M"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %none = ptl.zeros %n, %m : (index, index) -> !ptl.array<f32[N, M]>
  %s = scf.for %i = %c0 to %c2 step %c1 iter_args(%a = %none) -> (!ptl.array<f32[N, M]>) {
    %rows = ptl.dim %x, 0 : !ptl.array<f32[N, M2], gm>
    %p = ptl.slice %x[%c0, %i] [%rows, %m] drop [] : <f32[N, M2], gm> -> !ptl.array<f32[N, M]>
    %q = ptl.add %a, %p : (!ptl.array<f32[N, M]>, !ptl.array<f32[N, M]>) -> !ptl.array<f32[N, M]>
    scf.yield %q : !ptl.array<f32[N, M]>
  }
  ptl.store %s, %y[%c0, %c0] [%n, %m] drop [] : !ptl.array<f32[N, M]>, <f32[N, M], gm>
  return
}
