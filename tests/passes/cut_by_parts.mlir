// ARGS: --ptl-chunk=machine=a3 --canonicalize --cse %s
// A row and the one before it, round the end: two parts, which a branch has in the order that they mostly have.
func.func @ring(%x: !ptl.array<f32[R, 64], gm>, %y: !ptl.ref<f32[R, 64], gm>, %r: index {ptl.dim = "R"}) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %one = arith.constant 1 : i32
  %i = ptl.index %c0, %r : (index, index) -> !ptl.array<i32[R]>
  %n = ptl.convert %r {round = "even", saturate = false} : (index) -> i32
  %a = ptl.add %i, %n : (!ptl.array<i32[R]>, i32) -> !ptl.array<i32[R]>
  %b = ptl.sub %a, %one : (!ptl.array<i32[R]>, i32) -> !ptl.array<i32[R]>
  %p = ptl.rem %b, %n : (!ptl.array<i32[R]>, i32) -> !ptl.array<i32[R]>
  %t = ptl.take %x[%p] along 0 : <f32[R, 64], gm>, <i32[R]> -> <f32[R, 64]>
  %s = ptl.add %x, %t : (!ptl.array<f32[R, 64], gm>, !ptl.array<f32[R, 64]>) -> !ptl.array<f32[R, 64]>
  ptl.store %s, %y[%c0, %c0] [%r, %c64] drop [] : !ptl.array<f32[R, 64]>, <f32[R, 64], gm>
  return
}
// Where all lengths are known, there is no branch; parts that meet at one place are regions of one cut.
func.func @joined(%a: !ptl.array<f32[16, 64], gm>, %b: !ptl.array<f32[48, 64], gm>, %y: !ptl.ref<f32[64, 64], gm>) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %u = ptl.concat %a, %b {axis = 0 : i64} : (!ptl.array<f32[16, 64], gm>, !ptl.array<f32[48, 64], gm>) -> !ptl.array<f32[64, 64]>
  %v = ptl.concat %b, %a {axis = 0 : i64} : (!ptl.array<f32[48, 64], gm>, !ptl.array<f32[16, 64], gm>) -> !ptl.array<f32[64, 64]>
  %s = ptl.mul %u, %v : (!ptl.array<f32[64, 64]>, !ptl.array<f32[64, 64]>) -> !ptl.array<f32[64, 64]>
  ptl.store %s, %y[%c0, %c0] [%c64, %c64] drop [] : !ptl.array<f32[64, 64]>, <f32[64, 64], gm>
  return
}
