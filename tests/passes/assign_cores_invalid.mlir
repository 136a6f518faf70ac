// ARGS: --ptl-lower-block=machine=a3 --split-input-file --verify-diagnostics %s
// The lowering takes what the code says of cores only if that is right.
func.func @host() {
  return
}
func.func @nobody(%x: !ptl.array<f32[N], gm> {ptl.name = "x", ptl.role = "in"}, %y: !ptl.ref<f32[N], gm> {ptl.name = "y", ptl.role = "out"}, %n: index {ptl.name = "n", ptl.length = "N"}) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  // expected-error @+1 {{the grid has no kind of core}}
  ptl.parallel (%i) = (%c0) to (%n) step (%c64) {
    %a = ptl.slice %x[%i] [%c64] drop [] : <f32[N], gm> -> !ptl.array<f32[i:64]>
    ptl.store %a, %y[%i] [%c64] drop [] : !ptl.array<f32[i:64]>, <f32[N], gm>
  }
  return
}

// -----

// An accumulator that the vector cores read, and that is not handed to them.
func.func @host() {
  return
}
func.func @unhanded(%a: !ptl.array<f16[64, 64], gm> {ptl.name = "a", ptl.role = "in"}, %y: !ptl.ref<f32[64, 64], gm> {ptl.name = "y", ptl.role = "out"}) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  ptl.parallel (%i) = (%c0) to (%c64) step (%c64) {
    %x = ptl.slice %a[%c0, %c0] [%c64, %c64] drop [] : <f16[64, 64], gm> -> !ptl.array<f16[64, 64]>
    %p = ptl.matmul %x, %x {precision = "full", ptl.core = "aic"} : (!ptl.array<f16[64, 64]>, !ptl.array<f16[64, 64]>) -> !ptl.array<f32[64, 64]>
    // expected-error @+1 {{the vector cores read an accumulator that is not sent to them}}
    %r = ptl.exp %p {ptl.core = "aiv"} : (!ptl.array<f32[64, 64]>) -> !ptl.array<f32[64, 64]>
    ptl.store %r, %y[%c0, %c0] [%c64, %c64] drop [] {ptl.core = "aiv"} : !ptl.array<f32[64, 64]>, <f32[64, 64], gm>
  } {ptl.core = "mix"}
  return
}

// -----

// An effect that belongs to no core would be done by both.
func.func @host() {
  return
}
func.func @anyone(%a: !ptl.array<f16[64, 64], gm> {ptl.name = "a", ptl.role = "in"}, %y: !ptl.ref<f32[64, 64], gm> {ptl.name = "y", ptl.role = "out"}) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  ptl.parallel (%i) = (%c0) to (%c64) step (%c64) {
    %x = ptl.slice %a[%c0, %c0] [%c64, %c64] drop [] : <f16[64, 64], gm> -> !ptl.array<f16[64, 64]>
    %p = ptl.matmul %x, %x {precision = "full", ptl.core = "aic"} : (!ptl.array<f16[64, 64]>, !ptl.array<f16[64, 64]>) -> !ptl.array<f32[64, 64]>
    // expected-error @+1 {{it has an effect and is assigned to no core}}
    ptl.store %p, %y[%c0, %c0] [%c64, %c64] drop [] : !ptl.array<f32[64, 64]>, <f32[64, 64], gm>
  } {ptl.core = "mix"}
  return
}
