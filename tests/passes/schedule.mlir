// ARGS: --ptl-partition --canonicalize --cse --verify-each %s
// `ptl.tile` gives sizes, `ptl.fuse` one grid to several roots, `ptl.split` ends a kernel.
func.func @fused(%x: !ptl.array<f32[M, K], gm>, %a: !ptl.array<f32[K, N], gm>, %b: !ptl.array<f32[K, N], gm>, %c: !ptl.array<f32[N, K], gm>, %y: !ptl.ref<f32[M, K], gm>, %m: index, %k: index) {
  %c0 = arith.constant 0 : index
  %0 = ptl.matmul %x, %a {precision = "full", ptl.fuse = "a", ptl.tile = {M = 32, N = 64}} : (!ptl.array<f32[M, K], gm>, !ptl.array<f32[K, N], gm>) -> !ptl.array<f32[M, N]>
  %1 = ptl.matmul %x, %b {precision = "full", ptl.fuse = "a", ptl.tile = {M = 32, N = 64}} : (!ptl.array<f32[M, K], gm>, !ptl.array<f32[K, N], gm>) -> !ptl.array<f32[M, N]>
  %2 = ptl.mul %0, %1 : (!ptl.array<f32[M, N]>, !ptl.array<f32[M, N]>) -> !ptl.array<f32[M, N]>
  %3 = ptl.matmul %2, %c {precision = "full"} : (!ptl.array<f32[M, N]>, !ptl.array<f32[N, K], gm>) -> !ptl.array<f32[M, K]>
  ptl.store %3, %y[%c0, %c0] [%m, %k] drop [] : !ptl.array<f32[M, K]>, <f32[M, K], gm>
  return
}
func.func @split(%x: !ptl.array<f32[N], gm>, %y: !ptl.ref<f32[N], gm>, %n: index) {
  %c0 = arith.constant 0 : index
  %0 = ptl.exp %x {ptl.split} : (!ptl.array<f32[N], gm>) -> !ptl.array<f32[N]>
  %1 = ptl.neg %0 {ptl.tile = {N = 128}} : (!ptl.array<f32[N]>) -> !ptl.array<f32[N]>
  ptl.store %1, %y[%c0] [%n] drop [] : !ptl.array<f32[N]>, <f32[N], gm>
  return
}
