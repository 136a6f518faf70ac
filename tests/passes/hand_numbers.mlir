// ARGS: --ptl-hand-numbers --ptl-simplify --verify-each %s
// A condition and a position around products come from tiles: both are stored in a block of their own for each point and read before their
// first use. What decides about the vector cores' work alone stays as it is.
func.func @decides(%a: !ptl.ref<f32[M, 16], gm>, %b: !ptl.ref<f32[64, 16], gm>, %y: !ptl.ref<f32[M, 16], gm>, %M: index) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %half = arith.constant 0.5 : f32
  ptl.parallel (%i) = (%c0) to (%M) step (%c16) {
    %x = ptl.load %a[%i, %c0] [%c16, %c16] drop [] : <f32[M, 16], gm> -> !ptl.array<f32[16, 16]>
    %m = ptl.reduce_max %x : (!ptl.array<f32[16, 16]>) -> f32
    %n = ptl.reduce_min %x : (!ptl.array<f32[16, 16]>) -> f32
    %go = ptl.gt %m, %half : (f32, f32) -> i1
    %r = scf.if %go -> (!ptl.array<f32[16, 16]>) {
      %at = ptl.convert %m {round = "even", saturate = false} : (f32) -> index
      %w = ptl.load %b[%at, %c0] [%c16, %c16] drop [] : <f32[64, 16], gm> -> !ptl.array<f32[16, 16]>
      %p = ptl.matmul %x, %w {precision = "full"} : (!ptl.array<f32[16, 16]>, !ptl.array<f32[16, 16]>) -> !ptl.array<f32[16, 16]>
      scf.yield %p : !ptl.array<f32[16, 16]>
    } else {
      scf.yield %x : !ptl.array<f32[16, 16]>
    }
    %low = ptl.gt %n, %half : (f32, f32) -> i1
    %s = scf.if %low -> (!ptl.array<f32[16, 16]>) {
      %t = ptl.mul %r, %half : (!ptl.array<f32[16, 16]>, f32) -> !ptl.array<f32[16, 16]>
      scf.yield %t : !ptl.array<f32[16, 16]>
    } else {
      scf.yield %r : !ptl.array<f32[16, 16]>
    }
    ptl.store %s, %y[%i, %c0] [%c16, %c16] drop [] : !ptl.array<f32[16, 16]>, <f32[M, 16], gm>
  }
  return
}
