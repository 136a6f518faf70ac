// ARGS: --ptl-partition --canonicalize --cse --verify-each %s
// Tiles go straight into the box that is stored: offsets shift, steps stretch, dropped axes stay.
func.func @strided(%x: !ptl.array<f32[N], gm>, %y: !ptl.ref<f32[M, K], gm>, %row: index, %first: index, %n: index) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %0 = ptl.exp %x : (!ptl.array<f32[N], gm>) -> !ptl.array<f32[N]>
  ptl.store %0, %y[%row, %first] [%c1, %n] step [%c1, %c2] drop [0] : !ptl.array<f32[N]>, <f32[M, K], gm>
  return
}
// What is combined, scattered or spread is stored first.
func.func @atomic(%x: !ptl.array<f32[N], gm>, %y: !ptl.ref<f32[N], gm>, %n: index) {
  %c0 = arith.constant 0 : index
  %0 = ptl.exp %x : (!ptl.array<f32[N], gm>) -> !ptl.array<f32[N]>
  ptl.store %0, %y[%c0] [%n] drop [] {atomic = "add"} : !ptl.array<f32[N]>, <f32[N], gm>
  return
}
