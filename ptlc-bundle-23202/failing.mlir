"builtin.module"() ({
  "func.func"() <{arg_attrs = [{ptl.name = "x"}, {ptl.output = "y"}, {ptl.dim = "N"}], function_type = (!ptl.array<f32[N, N], gm>, !ptl.ref<f32[N, N], gm>, index) -> (), sym_name = "ptl_needs"}> ({
  ^bb0(%arg0: !ptl.array<f32[N, N], gm>, %arg1: !ptl.ref<f32[N, N], gm>, %arg2: index):
    %0 = "arith.constant"() <{value = 128 : index}> : () -> index
    %1 = "arith.constant"() <{value = 0 : index}> : () -> index
    %2 = "ptl.alloc"(%arg2, %arg2) : (index, index) -> !ptl.ref<f32[N, N], gm>
    "ptl.parallel"(%1, %1, %arg2, %arg2, %0, %0) <{operandSegmentSizes = array<i32: 2, 2, 2>}> ({
    ^bb0(%arg3: index, %arg4: index):
      %4 = "arith.subi"(%arg2, %arg3) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %5 = "arith.minsi"(%4, %0) : (index, index) -> index
      %6 = "arith.subi"(%arg2, %arg4) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %7 = "arith.minsi"(%6, %0) : (index, index) -> index
      %8 = "ptl.slice"(%arg0, %arg3, %1, %5, %arg2) <{dropped = array<i64>, operandSegmentSizes = array<i32: 1, 2, 2, 0, 0>}> : (!ptl.array<f32[N, N], gm>, index, index, index, index) -> !ptl.array<f32[t0.0:128, N]>
      %9 = "ptl.slice"(%arg0, %1, %arg4, %arg2, %7) <{dropped = array<i64>, operandSegmentSizes = array<i32: 1, 2, 2, 0, 0>}> : (!ptl.array<f32[N, N], gm>, index, index, index, index) -> !ptl.array<f32[N, t0.1:128]>
      %10 = "ptl.matmul"(%8, %9) <{precision = "full"}> {ptl.fuse = "a#0", ptl.item = array<i64: 0>} : (!ptl.array<f32[t0.0:128, N]>, !ptl.array<f32[N, t0.1:128]>) -> !ptl.array<f32[t0.0:128, t0.1:128]>
      "ptl.store"(%10, %2, %arg3, %arg4, %5, %7) <{dropped = array<i64>, operandSegmentSizes = array<i32: 1, 1, 2, 2, 0, 0>}> : (!ptl.array<f32[t0.0:128, t0.1:128]>, !ptl.ref<f32[N, N], gm>, index, index, index, index) -> ()
      %11 = "ptl.slice"(%3, %arg3, %1, %5, %arg2) <{dropped = array<i64>, operandSegmentSizes = array<i32: 1, 2, 2, 0, 0>}> : (!ptl.array<f32[N, N]>, index, index, index, index) -> !ptl.array<f32[t0.0:128, N]>
      %12 = "ptl.matmul"(%11, %9) <{precision = "full"}> {ptl.fuse = "a#0", ptl.item = array<i64: 1>} : (!ptl.array<f32[t0.0:128, N]>, !ptl.array<f32[N, t0.1:128]>) -> !ptl.array<f32[t0.0:128, t0.1:128]>
      "ptl.store"(%12, %arg1, %arg3, %arg4, %5, %7) <{dropped = array<i64>, operandSegmentSizes = array<i32: 1, 1, 2, 2, 0, 0>}> : (!ptl.array<f32[t0.0:128, t0.1:128]>, !ptl.ref<f32[N, N], gm>, index, index, index, index) -> ()
      "ptl.yield"() : () -> ()
    }) : (index, index, index, index, index, index) -> ()
    %3 = "ptl.load"(%2, %1, %1, %arg2, %arg2) <{dropped = array<i64>, operandSegmentSizes = array<i32: 1, 2, 2, 0, 0>}> : (!ptl.ref<f32[N, N], gm>, index, index, index, index) -> !ptl.array<f32[N, N]>
    "func.return"() : () -> ()
  }) {ptl.kind = "program"} : () -> ()
}) : () -> ()
