// ARGS: --ptl-select-instructions=machine=a3 --verify-each %s
// ARGS: --ptl-select-instructions=machine=a5 --verify-each %s
// By the element types that a machine's instructions take: a5 adds bytes, neither multiplies words of 64 bits; what there is no instruction for is done by elements.
func.func @ways(%arg0: !ptl.array<f32[M, 64], gm> {ptl.name = "x", ptl.role = "in"}, %arg1: !ptl.array<i64[M, 64], gm> {ptl.name = "k", ptl.role = "in"}, %arg2: !ptl.ref<f32[M, 64], gm> {ptl.name = "y", ptl.role = "out"}, %arg3: !ptl.ref<i64[M, 64], gm> {ptl.name = "l", ptl.role = "out"}, %arg4: !ptl.array<i8[M, 64], gm> {ptl.name = "b", ptl.role = "in"}, %arg5: !ptl.ref<i8[M, 64], gm> {ptl.name = "d", ptl.role = "out"}, %arg6: index {ptl.length = "M", ptl.name = "M"}) {
  %c16 = arith.constant 16 : index
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %cst = arith.constant 5.000000e-01 : f32
  ptl.parallel (%arg7) = (%c0) to (%arg6) step (%c16) {
    %0 = arith.subi %arg6, %arg7 : index
    %1 = arith.minsi %0, %c16 : index
    %2 = ptl.slice %arg0[%arg7, %c0] [%1, %c64] drop [] : <f32[M, 64], gm> -> !ptl.array<f32[i:16, 64]>
    %3 = ptl.reduce_max %2 {axes = array<i64: 1>} : (!ptl.array<f32[i:16, 64]>) -> !ptl.array<f32[i:16, 1]>
    %4 = ptl.sub %2, %3 : (!ptl.array<f32[i:16, 64]>, !ptl.array<f32[i:16, 1]>) -> !ptl.array<f32[i:16, 64]>
    %5 = ptl.exp %4 : (!ptl.array<f32[i:16, 64]>) -> !ptl.array<f32[i:16, 64]>
    %6 = ptl.gt %2, %cst : (!ptl.array<f32[i:16, 64]>, f32) -> !ptl.array<i1[i:16, 64]>
    %7 = ptl.not %6 : (!ptl.array<i1[i:16, 64]>) -> !ptl.array<i1[i:16, 64]>
    %8 = ptl.cumsum %5 {axis = 1 : i64} : (!ptl.array<f32[i:16, 64]>) -> !ptl.array<f32[i:16, 64]>
    %9 = ptl.select %7, %8, %5 : (!ptl.array<i1[i:16, 64]>, !ptl.array<f32[i:16, 64]>, !ptl.array<f32[i:16, 64]>) -> !ptl.array<f32[i:16, 64]>
    ptl.store %9, %arg2[%arg7, %c0] [%1, %c64] drop [] : !ptl.array<f32[i:16, 64]>, <f32[M, 64], gm>
    %10 = ptl.slice %arg1[%arg7, %c0] [%1, %c64] drop [] : <i64[M, 64], gm> -> !ptl.array<i64[i:16, 64]>
    %11 = ptl.mul %10, %10 : (!ptl.array<i64[i:16, 64]>, !ptl.array<i64[i:16, 64]>) -> !ptl.array<i64[i:16, 64]>
    %12 = ptl.reduce_sum %11 {axes = array<i64: 1>} : (!ptl.array<i64[i:16, 64]>) -> !ptl.array<i64[i:16, 1]>
    %13 = ptl.sub %11, %12 : (!ptl.array<i64[i:16, 64]>, !ptl.array<i64[i:16, 1]>) -> !ptl.array<i64[i:16, 64]>
    ptl.store %13, %arg3[%arg7, %c0] [%1, %c64] drop [] : !ptl.array<i64[i:16, 64]>, <i64[M, 64], gm>
    %14 = ptl.slice %arg4[%arg7, %c0] [%1, %c64] drop [] : <i8[M, 64], gm> -> !ptl.array<i8[i:16, 64]>
    %15 = ptl.add %14, %14 : (!ptl.array<i8[i:16, 64]>, !ptl.array<i8[i:16, 64]>) -> !ptl.array<i8[i:16, 64]>
    ptl.store %15, %arg5[%arg7, %c0] [%1, %c64] drop [] : !ptl.array<i8[i:16, 64]>, <i8[M, 64], gm>
  }
  return
}
