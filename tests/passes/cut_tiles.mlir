// ARGS: --ptl-cut-tiles --ptl-simplify --verify-each %s
// Each point does its rows in two parts, as the choices of its grid say.
func.func @rows(%x: !ptl.array<f32[N, 64], gm>, %y: !ptl.ref<f32[N, 64], gm>, %n: index {ptl.dim = "N"}) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  ptl.parallel (%i) = (%c0) to (%n) step (%c64) {
    %left = arith.subi %n, %i : index
    %rows = arith.minsi %left, %c64 : index
    %a = ptl.slice %x[%i, %c0] [%rows, %c64] drop [] : <f32[N, 64], gm> -> !ptl.array<f32[i:64, 64]>
    %e = ptl.exp %a : (!ptl.array<f32[i:64, 64]>) -> !ptl.array<f32[i:64, 64]>
    ptl.store %e, %y[%i, %c0] [%rows, %c64] drop [] : !ptl.array<f32[i:64, 64]>, <f32[N, 64], gm>
  } {ptl.choices = {point_parts = 2 : i64}}
  return
}
