// ARGS: --ptl-partition --canonicalize --cse --verify-each %s
// A product is computed once: its epilogue joins it, but it does not join what would need it again for every tile.
func.func @epilogue(%a: !ptl.array<f32[M, K], gm>, %b: !ptl.array<f32[K, N], gm>, %y: !ptl.ref<f32[M, N], gm>, %m: index, %n: index) {
  %c0 = arith.constant 0 : index
  %0 = ptl.matmul %a, %b {precision = "full"} : (!ptl.array<f32[M, K], gm>, !ptl.array<f32[K, N], gm>) -> !ptl.array<f32[M, N]>
  %1 = ptl.exp %0 : (!ptl.array<f32[M, N]>) -> !ptl.array<f32[M, N]>
  ptl.store %1, %y[%c0, %c0] [%m, %n] drop [] : !ptl.array<f32[M, N]>, <f32[M, N], gm>
  return
}
func.func @chained(%a: !ptl.array<f32[M, K], gm>, %b: !ptl.array<f32[K, L], gm>, %c: !ptl.array<f32[L, N], gm>, %y: !ptl.ref<f32[M, N], gm>, %m: index, %n: index) {
  %c0 = arith.constant 0 : index
  %0 = ptl.matmul %a, %b {precision = "full"} : (!ptl.array<f32[M, K], gm>, !ptl.array<f32[K, L], gm>) -> !ptl.array<f32[M, L]>
  %1 = ptl.matmul %0, %c {precision = "full"} : (!ptl.array<f32[M, L]>, !ptl.array<f32[L, N], gm>) -> !ptl.array<f32[M, N]>
  ptl.store %1, %y[%c0, %c0] [%m, %n] drop [] : !ptl.array<f32[M, N]>, <f32[M, N], gm>
  return
}
