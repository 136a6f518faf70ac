// ARGS: --ptl-cut-products=machine=a3 --verify-each %s
// The product in the loop goes through the operand buffers at once; the other one loads pieces, each of one step.
func.func @long(%arg0: !ptl.array<f16[M, K:8192], gm> {ptl.name = "a", ptl.role = "in"}, %arg1: !ptl.array<f16[K:8192, 64], gm> {ptl.name = "b", ptl.role = "in"}, %arg2: !ptl.ref<f32[M, 64], gm> {ptl.name = "y", ptl.role = "out"}, %arg3: index {ptl.length = "M", ptl.name = "M"}, %arg4: index {ptl.length = "K", ptl.name = "K"}) {
  %c64 = arith.constant 64 : index
  %c0 = arith.constant 0 : index
  ptl.parallel (%arg5) = (%c0) to (%arg3) step (%c64) {
    %0 = arith.subi %arg3, %arg5 : index
    %1 = arith.minsi %0, %c64 : index
    %2 = ptl.slice %arg0[%arg5, %c0] [%1, %arg4] drop [] {ptl.staged = "pieces"} : <f16[M, K:8192], gm> -> !ptl.array<f16[i:64, K:8192]>
    %3 = ptl.zeros %1 : (index) -> !ptl.array<f32[i:64, 64]>
    %4 = scf.for %arg6 = %c0 to %arg4 step %c64 iter_args(%arg7 = %3) -> (!ptl.array<f32[i:64, 64]>) {
      %8 = arith.subi %arg4, %arg6 : index
      %9 = arith.minsi %8, %c64 : index
      %10 = ptl.slice %arg0[%arg5, %arg6] [%1, %9] drop [] {ptl.staged = "whole"} : <f16[M, K:8192], gm> -> !ptl.array<f16[i:64, k:64]>
      %11 = ptl.slice %arg1[%arg6, %c0] [%9, %c64] drop [] {ptl.staged = "whole"} : <f16[K:8192, 64], gm> -> !ptl.array<f16[k:64, 64]>
      %12 = ptl.matmul %10, %11 {precision = "full", ptl.core = "aic"} : (!ptl.array<f16[i:64, k:64]>, !ptl.array<f16[k:64, 64]>) -> !ptl.array<f32[i:64, 64]>
      %13 = ptl.add %arg7, %12 {ptl.core = "aic"} : (!ptl.array<f32[i:64, 64]>, !ptl.array<f32[i:64, 64]>) -> !ptl.array<f32[i:64, 64]>
      scf.yield %13 : !ptl.array<f32[i:64, 64]>
    } {ptl.accumulates = array<i64: 0>, ptl.crosses = array<i64: 0>}
    %5 = ptl.slice %arg1[%c0, %c0] [%arg4, %c64] drop [] {ptl.staged = "pieces"} : <f16[K:8192, 64], gm> -> !ptl.array<f16[K:8192, 64]>
    %6 = ptl.matmul %2, %5 {precision = "full", ptl.core = "aic", ptl.crosses = array<i64: 0>} : (!ptl.array<f16[i:64, K:8192]>, !ptl.array<f16[K:8192, 64]>) -> !ptl.array<f32[i:64, 64]>
    %7 = ptl.add %4, %6 {ptl.core = "aiv"} : (!ptl.array<f32[i:64, 64]>, !ptl.array<f32[i:64, 64]>) -> !ptl.array<f32[i:64, 64]>
    ptl.store %7, %arg2[%arg5, %c0] [%1, %c64] drop [] {ptl.core = "aiv"} : !ptl.array<f32[i:64, 64]>, <f32[M, 64], gm>
  } {ptl.core = "mix", ptl.dealt = ["i"]}
  return
}
