// ARGS: --ptl-cut-tiles=machine=a2 --ptl-simplify --verify-each %s
// Two slices of 32 rows and more do not make 96: parts would not be equal, and rows that are not there would lie behind a slot.
func.func @attention(%q: !ptl.array<f16[S, 64], gm>, %k: !ptl.array<f16[64, T], gm>, %v: !ptl.array<f16[T, 64], gm>,
                     %o: !ptl.ref<f32[S, 64], gm>, %s: index {ptl.dim = "S"}, %t: index {ptl.dim = "T"}) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 96 : index
  ptl.parallel (%i) = (%c0) to (%s) step (%c128) {
    %left = arith.subi %s, %i : index
    %rows = arith.minsi %left, %c128 : index
    %a = ptl.slice %q[%i, %c0] [%rows, %c64] drop [] : <f16[S, 64], gm> -> !ptl.array<f16[i:96, 64]>
    %none = ptl.zeros %rows : (index) -> !ptl.array<f32[i:96, 64]>
    %sum = scf.for %j = %c0 to %t step %c128 iter_args(%acc = %none) -> (!ptl.array<f32[i:96, 64]>) {
      %rest = arith.subi %t, %j : index
      %cols = arith.minsi %rest, %c128 : index
      %b = ptl.slice %k[%c0, %j] [%c64, %cols] drop [] : <f16[64, T], gm> -> !ptl.array<f16[64, j:96]>
      %p = ptl.matmul %a, %b {precision = "full"} : (!ptl.array<f16[i:96, 64]>, !ptl.array<f16[64, j:96]>) -> !ptl.array<f32[i:96, j:96]>
      %e = ptl.exp %p : (!ptl.array<f32[i:96, j:96]>) -> !ptl.array<f32[i:96, j:96]>
      %h = ptl.convert %e {round = "even", saturate = false} : (!ptl.array<f32[i:96, j:96]>) -> !ptl.array<f16[i:96, j:96]>
      %c = ptl.slice %v[%j, %c0] [%cols, %c64] drop [] : <f16[T, 64], gm> -> !ptl.array<f16[j:96, 64]>
      %w = ptl.matmul %h, %c {precision = "full"} : (!ptl.array<f16[i:96, j:96]>, !ptl.array<f16[j:96, 64]>) -> !ptl.array<f32[i:96, 64]>
      %half = ptl.mul %acc, %acc : (!ptl.array<f32[i:96, 64]>, !ptl.array<f32[i:96, 64]>) -> !ptl.array<f32[i:96, 64]>
      %next = ptl.add %half, %w : (!ptl.array<f32[i:96, 64]>, !ptl.array<f32[i:96, 64]>) -> !ptl.array<f32[i:96, 64]>
      scf.yield %next : !ptl.array<f32[i:96, 64]>
    } {ptl.pipeline = 2 : i64}
    ptl.store %sum, %o[%i, %c0] [%rows, %c64] drop [] : !ptl.array<f32[i:96, 64]>, <f32[S, 64], gm>
  } {ptl.choices = {slices = 2 : i64}}
  return
}
