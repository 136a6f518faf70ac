// ARGS: --ptl-plan-queues=machine=a3 --verify-each --split-input-file %s
// Each value that crosses has a queue of its own as long as there are events for them.
func.func @att(%arg0: !ptl.array<f16[64, 64], gm> {ptl.name = "q", ptl.role = "in"}, %arg1: !ptl.array<f16[L, 64], gm> {ptl.name = "k", ptl.role = "in"}, %arg2: !ptl.array<f16[L, 64], gm> {ptl.name = "v", ptl.role = "in"}, %arg3: !ptl.ref<f32[64, 64], gm> {ptl.name = "y", ptl.role = "out"}, %arg4: index {ptl.length = "L", ptl.name = "L"}) {
  %c64 = arith.constant 64 : index
  %c0 = arith.constant 0 : index
  %cst = arith.constant 5.000000e-01 : f32
  ptl.parallel (%arg5) = (%c0) to (%c64) step (%c64) {
    %0 = arith.subi %c64, %arg5 : index
    %1 = arith.minsi %0, %c64 : index
    %2 = ptl.slice %arg0[%arg5, %c0] [%1, %c64] drop [] : <f16[64, 64], gm> -> !ptl.array<f16[i:64, 64]>
    %3 = ptl.zeros %1 : (index) -> !ptl.array<f32[i:64, 64]>
    %4 = scf.for %arg6 = %c0 to %arg4 step %c64 iter_args(%arg7 = %3) -> (!ptl.array<f32[i:64, 64]>) {
      %6 = arith.subi %arg4, %arg6 : index
      %7 = arith.minsi %6, %c64 : index
      %8 = ptl.slice %arg1[%arg6, %c0] [%7, %c64] drop [] : <f16[L, 64], gm> -> !ptl.array<f16[j:64, 64]>
      %9 = ptl.transpose %8 {axes = array<i64: 1, 0>} : (!ptl.array<f16[j:64, 64]>) -> !ptl.array<f16[64, j:64]>
      %10 = ptl.matmul %2, %9 {precision = "full", ptl.core = "aic", ptl.crosses = array<i64: 0>} : (!ptl.array<f16[i:64, 64]>, !ptl.array<f16[64, j:64]>) -> !ptl.array<f32[i:64, j:64]>
      %11 = ptl.exp %10 {ptl.core = "aiv"} : (!ptl.array<f32[i:64, j:64]>) -> !ptl.array<f32[i:64, j:64]>
      %12 = ptl.convert %11 {ptl.core = "aiv", ptl.crosses = array<i64: 0>, round = "even", saturate = false} : (!ptl.array<f32[i:64, j:64]>) -> !ptl.array<f16[i:64, j:64]>
      %13 = ptl.slice %arg2[%arg6, %c0] [%7, %c64] drop [] : <f16[L, 64], gm> -> !ptl.array<f16[j:64, 64]>
      %14 = ptl.matmul %12, %13 {precision = "full", ptl.core = "aic"} : (!ptl.array<f16[i:64, j:64]>, !ptl.array<f16[j:64, 64]>) -> !ptl.array<f32[i:64, 64]>
      %15 = ptl.add %arg7, %14 {ptl.core = "aic"} : (!ptl.array<f32[i:64, 64]>, !ptl.array<f32[i:64, 64]>) -> !ptl.array<f32[i:64, 64]>
      scf.yield %15 : !ptl.array<f32[i:64, 64]>
    } {ptl.accumulates = array<i64: 0>, ptl.crosses = array<i64: 0>, ptl.pipeline = 2 : i64}
    %5 = ptl.mul %4, %cst {ptl.core = "aiv"} : (!ptl.array<f32[i:64, 64]>, f32) -> !ptl.array<f32[i:64, 64]>
    ptl.store %5, %arg3[%arg5, %c0] [%1, %c64] drop [] {ptl.core = "aiv"} : !ptl.array<f32[i:64, 64]>, <f32[64, 64], gm>
  } {ptl.core = "mix", ptl.dealt = ["i"]}
  return
}

// -----

// Seven values and events for fewer: those alike share a queue in the order of the program.
func.func @many(%arg0: !ptl.array<f16[M, 64], gm> {ptl.name = "a", ptl.role = "in"}, %arg1: !ptl.array<f16[64, 64], gm> {ptl.name = "b", ptl.role = "in"}, %arg2: !ptl.ref<f32[M, 64], gm> {ptl.name = "y", ptl.role = "out"}, %arg3: index {ptl.length = "M", ptl.name = "M"}) {
  %c64 = arith.constant 64 : index
  %c0 = arith.constant 0 : index
  ptl.parallel (%arg4) = (%c0) to (%arg3) step (%c64) {
    %0 = arith.subi %arg3, %arg4 : index
    %1 = arith.minsi %0, %c64 : index
    %2 = ptl.slice %arg0[%arg4, %c0] [%1, %c64] drop [] : <f16[M, 64], gm> -> !ptl.array<f16[i:64, 64]>
    %3 = ptl.slice %arg1[%c0, %c0] [%c64, %c64] drop [] : <f16[64, 64], gm> -> !ptl.array<f16[64, 64]>
    %4 = ptl.matmul %2, %3 {precision = "full", ptl.core = "aic", ptl.crosses = array<i64: 0>} : (!ptl.array<f16[i:64, 64]>, !ptl.array<f16[64, 64]>) -> !ptl.array<f32[i:64, 64]>
    %5 = ptl.exp %4 {ptl.core = "aiv"} : (!ptl.array<f32[i:64, 64]>) -> !ptl.array<f32[i:64, 64]>
    %6 = ptl.convert %5 {ptl.core = "aiv", ptl.crosses = array<i64: 0>, round = "even", saturate = false} : (!ptl.array<f32[i:64, 64]>) -> !ptl.array<f16[i:64, 64]>
    %7 = ptl.matmul %6, %3 {precision = "full", ptl.core = "aic", ptl.crosses = array<i64: 0>} : (!ptl.array<f16[i:64, 64]>, !ptl.array<f16[64, 64]>) -> !ptl.array<f32[i:64, 64]>
    %8 = ptl.exp %7 {ptl.core = "aiv"} : (!ptl.array<f32[i:64, 64]>) -> !ptl.array<f32[i:64, 64]>
    %9 = ptl.convert %8 {ptl.core = "aiv", ptl.crosses = array<i64: 0>, round = "even", saturate = false} : (!ptl.array<f32[i:64, 64]>) -> !ptl.array<f16[i:64, 64]>
    %10 = ptl.matmul %9, %3 {precision = "full", ptl.core = "aic", ptl.crosses = array<i64: 0>} : (!ptl.array<f16[i:64, 64]>, !ptl.array<f16[64, 64]>) -> !ptl.array<f32[i:64, 64]>
    %11 = ptl.exp %10 {ptl.core = "aiv"} : (!ptl.array<f32[i:64, 64]>) -> !ptl.array<f32[i:64, 64]>
    %12 = ptl.convert %11 {ptl.core = "aiv", ptl.crosses = array<i64: 0>, round = "even", saturate = false} : (!ptl.array<f32[i:64, 64]>) -> !ptl.array<f16[i:64, 64]>
    %13 = ptl.matmul %12, %3 {precision = "full", ptl.core = "aic", ptl.crosses = array<i64: 0>} : (!ptl.array<f16[i:64, 64]>, !ptl.array<f16[64, 64]>) -> !ptl.array<f32[i:64, 64]>
    %14 = ptl.exp %13 {ptl.core = "aiv"} : (!ptl.array<f32[i:64, 64]>) -> !ptl.array<f32[i:64, 64]>
    ptl.store %14, %arg2[%arg4, %c0] [%1, %c64] drop [] {ptl.core = "aiv"} : !ptl.array<f32[i:64, 64]>, <f32[M, 64], gm>
  } {ptl.core = "mix", ptl.dealt = ["i"]}
  return
}
