// ARGS: --ptl-partition --canonicalize --cse --verify-each %s
// What an author has tiled stays as it is; loops of a program are entered.
func.func @tiled(%x: !ptl.array<f32[N], gm>, %y: !ptl.ref<f32[N], gm>, %n: index) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  ptl.parallel (%i) = (%c0) to (%n) step (%c64) {
    %rest = arith.subi %n, %i : index
    %length = arith.minsi %rest, %c64 : index
    %0 = ptl.slice %x[%i] [%length] drop [] : <f32[N], gm> -> !ptl.array<f32[r:64]>
    %1 = ptl.exp %0 : (!ptl.array<f32[r:64]>) -> !ptl.array<f32[r:64]>
    ptl.store %1, %y[%i] [%length] drop [] : !ptl.array<f32[r:64]>, <f32[N], gm>
  }
  return
}
func.func @looped(%x: !ptl.array<f32[N], gm>, %y: !ptl.ref<f32[N], gm>, %n: index, %times: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = ptl.cast %x : <f32[N], gm> -> <f32[N]>
  %1 = scf.for %i = %c0 to %times step %c1 iter_args(%state = %0) -> (!ptl.array<f32[N]>) {
    %2 = ptl.sin %state : (!ptl.array<f32[N]>) -> !ptl.array<f32[N]>
    scf.yield %2 : !ptl.array<f32[N]>
  }
  ptl.store %1, %y[%c0] [%n] drop [] : !ptl.array<f32[N]>, <f32[N], gm>
  return
}
