// ARGS: --ptl-check-places=machine=a3 --split-input-file %s
// A pin that says where a tile lies anyway is taken away.
func.func @well(%x: !ptl.array<f32[64], gm>, %y: !ptl.ref<f32[64], gm>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  ptl.parallel (%i) = (%c0) to (%c1) step (%c1) {
    %a = ptl.slice %x[%c0] [%c64] drop [] : <f32[64], gm> -> !ptl.array<f32[64]>
    %e = ptl.exp %a : (!ptl.array<f32[64]>) -> !ptl.array<f32[64]>
    %p = ptl.cast %e : !ptl.array<f32[64]> -> !ptl.array<f32[64], vec> loc("p")
    %q = ptl.cast %p : !ptl.array<f32[64], vec> -> !ptl.array<f32[64]> loc("q")
    ptl.store %q, %y[%c0] [%c64] drop [] : !ptl.array<f32[64]>, <f32[64], gm>
  }
  return
}
// -----
func.func @badly(%x: !ptl.array<f32[64], gm>, %y: !ptl.ref<f32[64], gm>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  ptl.parallel (%i) = (%c0) to (%c1) step (%c1) {
    %a = ptl.slice %x[%c0] [%c64] drop [] : <f32[64], gm> -> !ptl.array<f32[64]>
    %e = ptl.exp %a : (!ptl.array<f32[64]>) -> !ptl.array<f32[64]>
    %p = ptl.cast %e : !ptl.array<f32[64]> -> !ptl.array<f32[64], mat> loc("p")
    ptl.store %p, %y[%c0] [%c64] drop [] : !ptl.array<f32[64], mat>, <f32[64], gm>
  }
  return
}
