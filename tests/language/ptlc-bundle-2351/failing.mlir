module {
  func.func @ptl_entry(%arg0: !ptl.array<f32[3], gm> {ptl.name = "x"}, %arg1: f32 {ptl.name = "limit"}, %arg2: !ptl.ref<f32[3], gm> {ptl.output = "result"}) attributes {ptl.kind = "fn"} {
    %c16384 = arith.constant 16384 : index
    %c3 = arith.constant 3 : index
    %c1 = arith.constant 1 : index
    %true = arith.constant true
    %c20 = arith.constant 20 : index
    %c0 = arith.constant 0 : index
    %false = arith.constant false
    %0 = ptl.zeros  : () -> !ptl.array<f32[3]>
    %1:5 = scf.while (%arg3 = %arg0, %arg4 = %c0, %arg5 = %false, %arg6 = %false, %arg7 = %0) : (!ptl.array<f32[3], gm>, index, i1, i1, !ptl.array<f32[3]>) -> (!ptl.array<f32[3], gm>, index, i1, i1, !ptl.array<f32[3]>) {
      %3 = arith.cmpi slt, %arg4, %c20 : index
      %4 = arith.xori %arg5, %true : i1
      %5 = arith.andi %4, %3 : i1
      scf.condition(%5) %arg3, %arg4, %arg5, %arg6, %arg7 : !ptl.array<f32[3], gm>, index, i1, i1, !ptl.array<f32[3]>
    } do {
    ^bb0(%arg3: !ptl.array<f32[3], gm>, %arg4: index, %arg5: i1, %arg6: i1, %arg7: !ptl.array<f32[3]>):
      %3 = ptl.alloc() : <f32[3], gm>
      ptl.parallel (%arg8) = (%c0) to (%c3) step (%c16384) {
        %12 = arith.subi %c3, %arg8 : index
        %13 = arith.minsi %12, %c16384 : index
        %14 = ptl.slice %arg3[%arg8] [%13] drop [] : <f32[3], gm> -> !ptl.array<f32[t0.0]>
        %15 = ptl.add %14, %14 : (!ptl.array<f32[t0.0]>, !ptl.array<f32[t0.0]>) -> !ptl.array<f32[t0.0]>
        ptl.store %15, %3[%arg8] [%13] drop [] : !ptl.array<f32[t0.0]>, <f32[3], gm>
      }
      %4 = ptl.load %3[%c0] [%c3] drop [] : <f32[3], gm> -> !ptl.array<f32[3]>
      %5 = arith.addi %arg4, %c1 : index
      %6 = ptl.reduce_max %4 : (!ptl.array<f32[3]>) -> f32
      %7 = ptl.gt %6, %arg1 : (f32, f32) -> i1
      %8 = arith.select %7, %true, %arg5 : i1
      %9 = arith.select %7, %true, %arg6 : i1
      %10 = arith.select %7, %4, %arg7 : !ptl.array<f32[3]>
      %11 = ptl.cast %4 : <f32[3]> -> <f32[3], gm>
      scf.yield %11, %5, %8, %9, %10 : !ptl.array<f32[3], gm>, index, i1, i1, !ptl.array<f32[3]>
    }
    %2 = scf.if %1#3 -> (!ptl.array<f32[3]>) {
      scf.yield %1#4 : !ptl.array<f32[3]>
    } else {
      %3 = ptl.cast %arg0 : <f32[3], gm> -> <f32[3]>
      scf.yield %3 : !ptl.array<f32[3]>
    }
    ptl.store %2, %arg2[%c0] [%c3] drop [] : !ptl.array<f32[3]>, <f32[3], gm>
    return
  }
}
