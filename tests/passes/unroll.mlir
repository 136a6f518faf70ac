// ARGS: --ptl-unroll --ptl-simplify --verify-each %s
// A loop of known rounds is copied; the grid of which it is said that loops stay keeps it.
func.func @whole(%x: !ptl.ref<f32[8], gm>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  ptl.parallel (%i) = (%c0) to (%c1) step (%c1) {
    scf.for %k = %c0 to %c3 step %c1 {
      %v = ptl.load %x[%k] [%c1] drop [0] : <f32[8], gm> -> f32
      %w = ptl.neg %v : (f32) -> f32
      ptl.store %w, %x[%k] [%c1] drop [0] : f32, <f32[8], gm>
    } {ptl.unroll = 0 : i64}
  }
  return
}
func.func @left(%x: !ptl.ref<f32[8], gm>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  ptl.parallel (%i) = (%c0) to (%c1) step (%c1) {
    scf.for %k = %c0 to %c3 step %c1 {
      %v = ptl.load %x[%k] [%c1] drop [0] : <f32[8], gm> -> f32
      %w = ptl.neg %v : (f32) -> f32
      ptl.store %w, %x[%k] [%c1] drop [0] : f32, <f32[8], gm>
    } {ptl.unroll = 0 : i64}
  } {ptl.choices = {unrolls = false}}
  return
}
