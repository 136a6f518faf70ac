// ARGS: --ptl-cut-tiles=machine=a2 --ptl-simplify --verify-each %s
// What a product hands over at each point of the grid: the vector cores take it in two slices of rows, with the residual; the bias
// has no rows and stays as it is.
func.func @epilogue(%a: !ptl.array<f16[M, 256], gm>, %b: !ptl.array<f16[256, N], gm>, %r: !ptl.array<f32[M, N], gm>, %s: !ptl.array<f32[N], gm>,
                    %y: !ptl.ref<f32[M, N], gm>, %m: index {ptl.dim = "M"}, %n: index {ptl.dim = "N"}) {
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  %c256 = arith.constant 256 : index
  ptl.parallel (%i, %j) = (%c0, %c0) to (%m, %n) step (%c128, %c256) {
    %below = arith.subi %m, %i : index
    %rows = arith.minsi %below, %c128 : index
    %beside = arith.subi %n, %j : index
    %cols = arith.minsi %beside, %c256 : index
    %left = ptl.slice %a[%i, %c0] [%rows, %c256] drop [] : <f16[M, 256], gm> -> !ptl.array<f16[i:128, 256]>
    %right = ptl.slice %b[%c0, %j] [%c256, %cols] drop [] : <f16[256, N], gm> -> !ptl.array<f16[256, j:256]>
    %p = ptl.matmul %left, %right {precision = "full"} : (!ptl.array<f16[i:128, 256]>, !ptl.array<f16[256, j:256]>) -> !ptl.array<f32[i:128, j:256]>
    %bias = ptl.slice %s[%j] [%cols] drop [] : <f32[N], gm> -> !ptl.array<f32[j:256]>
    %t = ptl.add %p, %bias : (!ptl.array<f32[i:128, j:256]>, !ptl.array<f32[j:256]>) -> !ptl.array<f32[i:128, j:256]>
    %res = ptl.slice %r[%i, %j] [%rows, %cols] drop [] : <f32[M, N], gm> -> !ptl.array<f32[i:128, j:256]>
    %u = ptl.add %t, %res : (!ptl.array<f32[i:128, j:256]>, !ptl.array<f32[i:128, j:256]>) -> !ptl.array<f32[i:128, j:256]>
    ptl.store %u, %y[%i, %j] [%rows, %cols] drop [] : !ptl.array<f32[i:128, j:256]>, <f32[M, N], gm>
  } {ptl.choices = {slices = 2 : i64}}
  return
}
