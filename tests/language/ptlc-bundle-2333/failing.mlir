module {
  func.func @ptl_entry(%arg0: !ptl.array<f32[N, N], gm> {ptl.name = "x"}, %arg1: !ptl.ref<f32[N, N], gm> {ptl.output = "y"}, %arg2: index {ptl.dim = "N"}) attributes {ptl.kind = "kernel"} {
    %cst = arith.constant 5.000000e-01 : f32
    %c2 = arith.constant 2 : index
    %c1 = arith.constant 1 : index
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %0 = arith.cmpi sle, %arg2, %c32 : index
    ptl.check %0, "where" "`while_turned` needs `N <= 32`: `N` is {0}"(%arg2 : index)
    ptl.parallel (%arg3) = (%c0) to (%c1) step (%c1) {
      %1 = ptl.slice %arg0[%c0, %c0] [%arg2, %arg2] drop [] : <f32[N, N], gm> -> !ptl.array<f32[N, N]>
      %2:2 = scf.while (%arg4 = %1, %arg5 = %c0) : (!ptl.array<f32[N, N]>, index) -> (!ptl.array<f32[N, N]>, index) {
        %3 = arith.cmpi slt, %arg5, %c2 : index
        scf.condition(%3) %arg4, %arg5 : !ptl.array<f32[N, N]>, index
      } do {
      ^bb0(%arg4: !ptl.array<f32[N, N]>, %arg5: index):
        %3 = ptl.transpose %arg4 {axes = array<i64: 1, 0>} : (!ptl.array<f32[N, N]>) -> !ptl.array<f32[N, N]>
        %4 = ptl.mul %3, %cst : (!ptl.array<f32[N, N]>, f32) -> !ptl.array<f32[N, N]>
        %5 = ptl.sub %arg4, %4 : (!ptl.array<f32[N, N]>, !ptl.array<f32[N, N]>) -> !ptl.array<f32[N, N]>
        %6 = arith.addi %arg5, %c1 : index
        scf.yield %5, %6 : !ptl.array<f32[N, N]>, index
      }
      ptl.store %2#0, %arg1[%c0, %c0] [%arg2, %arg2] drop [] : !ptl.array<f32[N, N]>, <f32[N, N], gm>
    }
    return
  }
}
