// ARGS: --ptl-assign-cores --verify-each --split-input-file %s
// The product and what adds it up are the cube core's, the rest the vector cores'. The sum crosses once the loop has ended; both
// vector cores have half of its rows.
func.func @normed(%a: !ptl.array<f16[M, K], gm>, %b: !ptl.array<f16[K, 64], gm>, %y: !ptl.ref<f32[M, 64], gm>, %m: index, %k: index) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  ptl.parallel (%i) = (%c0) to (%m) step (%c64) {
    %zero = ptl.zeros %c64 : (index) -> !ptl.array<f32[i:64, 64]>
    %sum = scf.for %at = %c0 to %k step %c64 iter_args(%so = %zero) -> (!ptl.array<f32[i:64, 64]>) {
      %x = ptl.slice %a[%i, %at] [%c64, %c64] drop [] : <f16[M, K], gm> -> !ptl.array<f16[i:64, k:64]>
      %w = ptl.slice %b[%at, %c0] [%c64, %c64] drop [] : <f16[K, 64], gm> -> !ptl.array<f16[k:64, 64]>
      %p = ptl.matmul %x, %w {precision = "full"} : (!ptl.array<f16[i:64, k:64]>, !ptl.array<f16[k:64, 64]>) -> !ptl.array<f32[i:64, 64]>
      %next = ptl.add %so, %p : (!ptl.array<f32[i:64, 64]>, !ptl.array<f32[i:64, 64]>) -> !ptl.array<f32[i:64, 64]>
      scf.yield %next : !ptl.array<f32[i:64, 64]>
    }
    %r = ptl.exp %sum : (!ptl.array<f32[i:64, 64]>) -> !ptl.array<f32[i:64, 64]>
    ptl.store %r, %y[%i, %c0] [%c64, %c64] drop [] : !ptl.array<f32[i:64, 64]>, <f32[M, 64], gm>
  }
  return
}

// -----

// What is stored as it comes stays with the cube core; there is nothing for the vector cores.
func.func @product(%a: !ptl.array<f16[M, 64], gm>, %b: !ptl.array<f16[64, 64], gm>, %y: !ptl.ref<f32[M, 64], gm>, %m: index) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  ptl.parallel (%i) = (%c0) to (%m) step (%c64) {
    %x = ptl.slice %a[%i, %c0] [%c64, %c64] drop [] : <f16[M, 64], gm> -> !ptl.array<f16[i:64, 64]>
    %w = ptl.slice %b[%c0, %c0] [%c64, %c64] drop [] : <f16[64, 64], gm> -> !ptl.array<f16[64, 64]>
    %p = ptl.matmul %x, %w {precision = "full"} : (!ptl.array<f16[i:64, 64]>, !ptl.array<f16[64, 64]>) -> !ptl.array<f32[i:64, 64]>
    ptl.store %p, %y[%i, %c0] [%c64, %c64] drop [] : !ptl.array<f32[i:64, 64]>, <f32[M, 64], gm>
  }
  return
}

// -----

// The product is stored and read back: the cores meet before the load.
func.func @again(%a: !ptl.array<f16[M, 64], gm>, %b: !ptl.array<f16[64, 64], gm>, %y: !ptl.ref<f32[M, 64], gm>, %m: index) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  ptl.parallel (%i) = (%c0) to (%m) step (%c64) {
    %x = ptl.slice %a[%i, %c0] [%c64, %c64] drop [] : <f16[M, 64], gm> -> !ptl.array<f16[i:64, 64]>
    %w = ptl.slice %b[%c0, %c0] [%c64, %c64] drop [] : <f16[64, 64], gm> -> !ptl.array<f16[64, 64]>
    %p = ptl.matmul %x, %w {precision = "full"} : (!ptl.array<f16[i:64, 64]>, !ptl.array<f16[64, 64]>) -> !ptl.array<f32[i:64, 64]>
    ptl.store %p, %y[%i, %c0] [%c64, %c64] drop [] : !ptl.array<f32[i:64, 64]>, <f32[M, 64], gm>
    %back = ptl.load %y[%i, %c0] [%c64, %c64] drop [] : <f32[M, 64], gm> -> !ptl.array<f32[i:64, 64]>
    %r = ptl.exp %back : (!ptl.array<f32[i:64, 64]>) -> !ptl.array<f32[i:64, 64]>
    ptl.store %r, %y[%i, %c0] [%c64, %c64] drop [] : !ptl.array<f32[i:64, 64]>, <f32[M, 64], gm>
  }
  return
}
