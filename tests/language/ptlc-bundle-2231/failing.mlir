module {
  func.func @ptl_entry(%arg0: !ptl.array<f32[N], gm> {ptl.name = "x"}, %arg1: !ptl.ref<f32[N], gm> {ptl.output = "y"}, %arg2: index {ptl.dim = "N"}) attributes {ptl.kind = "kernel"} {
    %cst = arith.constant 2.000000e+00 : f32
    %cst_0 = arith.constant 1.000000e+01 : f32
    %true = arith.constant true
    %c5 = arith.constant 5 : index
    %false = arith.constant false
    %c1 = arith.constant 1 : index
    %c0 = arith.constant 0 : index
    %c8 = arith.constant 8 : index
    ptl.parallel (%arg3) = (%c0) to (%arg2) step (%c8) {
      %0 = arith.subi %arg2, %arg3 : index
      %1 = arith.minsi %0, %c8 : index
      %2 = ptl.slice %arg0[%arg3] [%1] drop [] : <f32[N], gm> -> !ptl.array<f32[r:8]>
      %3:3 = scf.while (%arg4 = %2, %arg5 = %c0, %arg6 = %false) : (!ptl.array<f32[r:8]>, index, i1) -> (!ptl.array<f32[r:8]>, index, i1) {
        %4 = arith.cmpi slt, %arg5, %c5 : index
        %5 = arith.xori %arg6, %true : i1
        %6 = arith.andi %5, %4 : i1
        scf.condition(%6) %arg4, %arg5, %arg6 : !ptl.array<f32[r:8]>, index, i1
      } do {
      ^bb0(%arg4: !ptl.array<f32[r:8]>, %arg5: index, %arg6: i1):
        %4 = ptl.reduce_max %arg4 : (!ptl.array<f32[r:8]>) -> f32
        %5 = ptl.gt %4, %cst_0 : (f32, f32) -> i1
        %6 = arith.select %5, %true, %arg6 : i1
        %7:2 = scf.if %6 -> (!ptl.array<f32[r:8]>, index) {
          scf.yield %arg4, %arg5 : !ptl.array<f32[r:8]>, index
        } else {
          %8 = ptl.mul %arg4, %cst : (!ptl.array<f32[r:8]>, f32) -> !ptl.array<f32[r:8]>
          %9 = arith.addi %arg5, %c1 : index
          scf.yield %8, %9 : !ptl.array<f32[r:8]>, index
        }
        scf.yield %7#0, %7#1, %6 : !ptl.array<f32[r:8]>, index, i1
      }
      ptl.store %3#0, %arg1[%arg3] [%1] drop [] : !ptl.array<f32[r:8]>, <f32[N], gm>
    }
    return
  }
}
