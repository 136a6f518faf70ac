// ARGS: --ptl-legalize=machine=a2 --canonicalize --cse --verify-each %s
// Words are compared by extremes and equality; masks have the size of what they choose from.
func.func @causal(%x: !ptl.array<f32[R, C], gm>, %y: !ptl.ref<f32[R, C], gm>, %r: index, %c: index) {
  %c0 = arith.constant 0 : index
  %low = arith.constant 0xFF800000 : f32
  %0 = ptl.index %c0, %r : (index, index) -> !ptl.array<i32[R]>
  %1 = ptl.new_axis %0 [1] : <i32[R]> -> <i32[R, 1]>
  %2 = ptl.index %c0, %c : (index, index) -> !ptl.array<i32[C]>
  %3 = ptl.ge %1, %2 : (!ptl.array<i32[R, 1]>, !ptl.array<i32[C]>) -> !ptl.array<i1[R, C]>
  %4 = ptl.select %3, %x, %low : (!ptl.array<i1[R, C]>, !ptl.array<f32[R, C], gm>, f32) -> !ptl.array<f32[R, C]>
  ptl.store %4, %y[%c0, %c0] [%r, %c] drop [] : !ptl.array<f32[R, C]>, <f32[R, C], gm>
  return
}
