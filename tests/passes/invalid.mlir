// ARGS: --split-input-file --verify-diagnostics %s
// What the verifier refuses, and how it says so.
func.func @dim(%x: !ptl.array<f32[N]>) {
  // expected-error @+1 {{axis 1 is outside rank 1}}
  %0 = ptl.dim %x, 1 : !ptl.array<f32[N]>
  return
}
// -----
func.func @alloc(%n: index) {
  // expected-error @+1 {{has 1 lengths for 2 extents that are not numbers}}
  %0 = ptl.alloc(%n) : <f32[M, N, 4], gm>
  return
}
// -----
func.func @offsets(%x: !ptl.array<f32[M, N]>, %i: index) {
  // expected-error @+1 {{needs one offset and one length for each of the 2 axes of the base}}
  %0 = ptl.slice %x[%i] [%i] drop [] : <f32[M, N]> -> !ptl.array<f32[a, b]>
  return
}
// -----
func.func @rank(%x: !ptl.array<f32[M, N]>, %i: index) {
  // expected-error @+1 {{the result has the wrong rank}}
  %0 = ptl.slice %x[%i, %i] [%i, %i] drop [1] : <f32[M, N]> -> !ptl.array<f32[a, b]>
  return
}
// -----
func.func @element(%v: i32, %y: !ptl.ref<f32[N]>, %i: index) {
  // expected-error @+1 {{the element types differ}}
  ptl.store %v, %y[%i] [%i] drop [0] : i32, <f32[N]>
  return
}
// -----
func.func @scatter(%v: !ptl.array<f32[N]>, %at: !ptl.array<i32[N]>, %y: !ptl.ref<f32[M]>, %i: index) {
  // expected-error @+1 {{scatters without `indexAxis`}}
  ptl.store %v, %y[%i] [%i] scatter %at : !ptl.array<i32[N]> drop [] : !ptl.array<f32[N]>, <f32[M]>
  return
}
// -----
func.func @cast(%x: !ptl.array<f32[4]>) {
  // expected-error @+1 {{changes an extent from 4 to 5}}
  %0 = ptl.cast %x : <f32[4]> -> <f32[5]>
  return
}
// -----
func.func @grid(%i: index) {
  // expected-error @+1 {{needs a lower bound, an upper bound and a step for each variable}}
  ptl.parallel (%a) = (%i) to (%i) step (%i, %i) {
  }
  return
}
// -----
// expected-error @+1 {{unknown place `moon`}}
func.func @place(%x: !ptl.array<f32[4], moon>) {
  return
}
