// ARGS: --ptl-rotate-while --ptl-simplify --verify-each %s
// The condition reads a tile: it stands before the loop and at the end of its turns. The other is arithmetic and stays.
func.func @reads(%x: !ptl.ref<f32[8], gm>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  ptl.parallel (%i) = (%c0) to (%c1) step (%c1) {
    %a = ptl.load %x[%c0] [%c8] drop [] : <f32[8], gm> -> !ptl.array<f32[8]>
    %r = scf.while (%t = %a) : (!ptl.array<f32[8]>) -> !ptl.array<f32[8]> {
      %m = ptl.reduce_max %t : (!ptl.array<f32[8]>) -> f32
      %one = arith.constant 1.0 : f32
      %go = ptl.gt %m, %one : (f32, f32) -> i1
      scf.condition(%go) %t : !ptl.array<f32[8]>
    } do {
    ^bb0(%t: !ptl.array<f32[8]>):
      %half = arith.constant 0.5 : f32
      %u = ptl.mul %t, %half : (!ptl.array<f32[8]>, f32) -> !ptl.array<f32[8]>
      scf.yield %u : !ptl.array<f32[8]>
    }
    ptl.store %r, %x[%c0] [%c8] drop [] : !ptl.array<f32[8]>, <f32[8], gm>
    %n = scf.while (%j = %c0) : (index) -> index {
      %less = arith.cmpi slt, %j, %c8 : index
      scf.condition(%less) %j : index
    } do {
    ^bb0(%j: index):
      %next = arith.addi %j, %c1 : index
      %zero = arith.constant 0.0 : f32
      ptl.store %zero, %x[%j] [%c1] drop [0] : f32, <f32[8], gm>
      scf.yield %next : index
    }
  }
  return
}
