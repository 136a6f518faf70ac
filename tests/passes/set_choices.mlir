// ARGS: --ptl-set-choices=choices=1.point_parts=2,1.unrolls=0 --verify-each %s
// ARGS: --ptl-set-choices=choices=0.point_parts=2 --ptl-cut-tiles --ptl-simplify --verify-each %s
// ARGS: --ptl-set-choices=choices=0.halves=2 %s
// What a grid gives up for room is told the first pass and read by others. What is as usual is not said.
func.func @rows(%x: !ptl.array<f32[N, 64], gm>, %y: !ptl.ref<f32[N, 64], gm>, %n: index {ptl.dim = "N"}) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  ptl.parallel (%i) = (%c0) to (%n) step (%c64) {
    %left = arith.subi %n, %i : index
    %rows = arith.minsi %left, %c64 : index
    %a = ptl.slice %x[%i, %c0] [%rows, %c64] drop [] : <f32[N, 64], gm> -> !ptl.array<f32[i:64, 64]>
    ptl.store %a, %y[%i, %c0] [%rows, %c64] drop [] : !ptl.array<f32[i:64, 64]>, <f32[N, 64], gm>
  } {ptl.choices = {ahead = 0 : i64}}
  ptl.parallel (%j) = (%c0) to (%n) step (%c64) {
    %left = arith.subi %n, %j : index
    %rows = arith.minsi %left, %c64 : index
    %a = ptl.slice %x[%j, %c0] [%rows, %c64] drop [] : <f32[N, 64], gm> -> !ptl.array<f32[j:64, 64]>
    ptl.store %a, %y[%j, %c0] [%rows, %c64] drop [] : !ptl.array<f32[j:64, 64]>, <f32[N, 64], gm>
  }
  return
}
