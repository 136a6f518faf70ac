// ARGS: --ptl-chunk=machine=a3 --canonicalize --cse %s
// Rows of an unknown length are read in windows; what a window does not hold stays as it was.
func.func @unknown(%x: !ptl.array<f32[R, C], gm>, %ids: !ptl.array<i32[R, N], gm>, %y: !ptl.ref<f32[R, N], gm>, %r: index, %n: index) {
  %c0 = arith.constant 0 : index
  %g = ptl.gather %x, %ids {axis = 1 : i64} : (!ptl.array<f32[R, C], gm>, !ptl.array<i32[R, N], gm>) -> !ptl.array<f32[R, N]>
  ptl.store %g, %y[%c0, %c0] [%r, %n] drop [] : !ptl.array<f32[R, N]>, <f32[R, N], gm>
  return
}

// So are long rows of a known length.
func.func @long(%x: !ptl.array<ui16[9001], gm>, %ids: !ptl.array<i32[300], gm>, %y: !ptl.ref<ui16[300], gm>) {
  %c0 = arith.constant 0 : index
  %c300 = arith.constant 300 : index
  %g = ptl.gather %x, %ids {axis = 0 : i64} : (!ptl.array<ui16[9001], gm>, !ptl.array<i32[300], gm>) -> !ptl.array<ui16[300]>
  ptl.store %g, %y[%c0] [%c300] drop [] : !ptl.array<ui16[300]>, <ui16[300], gm>
  return
}

// A row that fits is on chip whole.
func.func @short(%x: !ptl.array<f32[100], gm>, %ids: !ptl.array<i32[300], gm>, %y: !ptl.ref<f32[300], gm>) {
  %c0 = arith.constant 0 : index
  %c300 = arith.constant 300 : index
  %g = ptl.gather %x, %ids {axis = 0 : i64} : (!ptl.array<f32[100], gm>, !ptl.array<i32[300], gm>) -> !ptl.array<f32[300]>
  ptl.store %g, %y[%c0] [%c300] drop [] : !ptl.array<f32[300]>, <f32[300], gm>
  return
}

// Few elements of a long row are read by themselves.
func.func @few(%x: !ptl.array<f32[90000], gm>, %ids: !ptl.array<i32[4], gm>, %y: !ptl.ref<f32[4], gm>) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %g = ptl.gather %x, %ids {axis = 0 : i64} : (!ptl.array<f32[90000], gm>, !ptl.array<i32[4], gm>) -> !ptl.array<f32[4]>
  ptl.store %g, %y[%c0] [%c4] drop [] : !ptl.array<f32[4]>, <f32[4], gm>
  return
}

// No instruction gathers `bf16`.
func.func @unsupported(%x: !ptl.array<bf16[C], gm>, %ids: !ptl.array<i32[N], gm>, %y: !ptl.ref<bf16[N], gm>, %n: index) {
  %c0 = arith.constant 0 : index
  %g = ptl.gather %x, %ids {axis = 0 : i64} : (!ptl.array<bf16[C], gm>, !ptl.array<i32[N], gm>) -> !ptl.array<bf16[N]>
  ptl.store %g, %y[%c0] [%n] drop [] : !ptl.array<bf16[N]>, <bf16[N], gm>
  return
}
