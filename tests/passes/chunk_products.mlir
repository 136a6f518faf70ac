// ARGS: --ptl-chunk=machine=a2 --canonicalize --cse %s
// Lengths that are not known: the steps of the grid are computed when it runs. The cube core stores the result in a narrower type.
func.func @rounded(%a: !ptl.array<f16[M, K], gm>, %b: !ptl.array<f16[K, N], gm>, %y: !ptl.ref<f16[M, N], gm>, %m: index {ptl.dim = "M"}, %n: index {ptl.dim = "N"}, %k: index {ptl.dim = "K"}) {
  %p = ptl.matmul %a, %b {precision = "full"} : (!ptl.array<f16[M, K], gm>, !ptl.array<f16[K, N], gm>) -> !ptl.array<f32[M, N]>
  %h = ptl.convert %p {round = "even", saturate = false} : (!ptl.array<f32[M, N]>) -> !ptl.array<f16[M, N]>
  %c0 = arith.constant 0 : index
  ptl.store %h, %y[%c0, %c0] [%m, %n] drop [] : !ptl.array<f16[M, N]>, <f16[M, N], gm>
  return
}

// Known lengths: so are the steps, of four parts of the contracted axis, whose products are added.
func.func @known(%a: !ptl.array<f16[512, 8192], gm>, %b: !ptl.array<f16[8192, 512], gm>, %y: !ptl.ref<f32[512, 512], gm>) {
  %p = ptl.matmul %a, %b {precision = "full"} : (!ptl.array<f16[512, 8192], gm>, !ptl.array<f16[8192, 512], gm>) -> !ptl.array<f32[512, 512]>
  %c0 = arith.constant 0 : index
  %c512 = arith.constant 512 : index
  ptl.store %p, %y[%c0, %c0] [%c512, %c512] drop [] : !ptl.array<f32[512, 512]>, <f32[512, 512], gm>
  return
}

// A short contraction is over before a large tile pays: two accumulators take turns.
func.func @short(%a: !ptl.array<f16[4096, 64], gm>, %b: !ptl.array<f16[64, 4096], gm>, %y: !ptl.ref<f32[4096, 4096], gm>) {
  %p = ptl.matmul %a, %b {precision = "full"} : (!ptl.array<f16[4096, 64], gm>, !ptl.array<f16[64, 4096], gm>) -> !ptl.array<f32[4096, 4096]>
  %c0 = arith.constant 0 : index
  %c4096 = arith.constant 4096 : index
  ptl.store %p, %y[%c0, %c0] [%c4096, %c4096] drop [] : !ptl.array<f32[4096, 4096]>, <f32[4096, 4096], gm>
  return
}

// What the vector cores go on with has the same tiles: they take slices of their rows.
func.func @finished(%a: !ptl.array<f16[M, K], gm>, %b: !ptl.array<f16[K, N], gm>, %y: !ptl.ref<f32[M, N], gm>, %m: index {ptl.dim = "M"}, %n: index {ptl.dim = "N"}, %k: index {ptl.dim = "K"}) {
  %p = ptl.matmul %a, %b {precision = "full"} : (!ptl.array<f16[M, K], gm>, !ptl.array<f16[K, N], gm>) -> !ptl.array<f32[M, N]>
  %e = ptl.exp %p : (!ptl.array<f32[M, N]>) -> !ptl.array<f32[M, N]>
  %c0 = arith.constant 0 : index
  ptl.store %e, %y[%c0, %c0] [%m, %n] drop [] : !ptl.array<f32[M, N]>, <f32[M, N], gm>
  return
}

// Fewer tiles than core groups, and a long contracted axis: parts of it are multiplied at the same time, and added in order.
func.func @few(%a: !ptl.array<f16[128, 65536], gm>, %b: !ptl.array<f16[65536, 128], gm>, %y: !ptl.ref<f32[128, 128], gm>) {
  %p = ptl.matmul %a, %b {precision = "full"} : (!ptl.array<f16[128, 65536], gm>, !ptl.array<f16[65536, 128], gm>) -> !ptl.array<f32[128, 128]>
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  ptl.store %p, %y[%c0, %c0] [%c128, %c128] drop [] : !ptl.array<f32[128, 128]>, <f32[128, 128], gm>
  return
}
