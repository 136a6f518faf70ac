// ARGS: --ptl-outline --verify-each %s
// A function for the grid: arrays with what is done with them, lengths of these, other numbers. What follows from lengths is
// computed in it; the host keeps storage and what decides how often.
func.func @ptl_scaled(%x: !ptl.array<f32[N], gm> {ptl.name = "x"}, %k: f32 {ptl.name = "k"}, %y: !ptl.ref<f32[N], gm> {ptl.output = "y"}, %n: index {ptl.dim = "N"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %last = arith.subi %n, %c1 : index
  scf.for %turn = %c0 to %c64 step %c1 {
    ptl.parallel (%i) = (%c0) to (%n) step (%c64) {
      %left = arith.subi %last, %i : index
      %rows = arith.minsi %left, %c64 : index
      %a = ptl.slice %x[%i] [%rows] drop [] : <f32[N], gm> -> !ptl.array<f32[i:64]>
      %b = ptl.mul %a, %k : (!ptl.array<f32[i:64]>, f32) -> !ptl.array<f32[i:64]>
      ptl.store %b, %y[%i] [%rows] drop [] : !ptl.array<f32[i:64]>, <f32[N], gm>
    }
  }
  return
}
