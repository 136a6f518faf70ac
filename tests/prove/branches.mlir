// ARGS: --pto-prove -o %t/out %s
// Branches on a size and on data; buffers that share bytes one after the other.
!t = !pto.tile_buf<vec, 16x64xf32>
!v = !pto.partition_tensor_view<16x64xf32>
module attributes {pto.target_arch = "a3", ptl.machine = "a2"} {
  func.func @branches(%x: !pto.ptr<f32> {ptl.name = "x"}, %y: !pto.ptr<f32> {ptl.name = "y"}, %flags: !pto.ptr<i32> {ptl.name = "flags"},
                      %n: index {ptl.name = "n"})
      attributes {pto.entry, ptl.kernel = "branches", pto.kernel_kind = #pto.kernel_kind<vector>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %c64 = arith.constant 64 : index
    %z = arith.constant 0 : i64
    %a1 = arith.constant 4096 : i64
    %a2 = arith.constant 8192 : i64
    %i0 = arith.constant 0 : i32
    %k = arith.constant 2.0 : f32
    %xv = pto.make_tensor_view %x, shape = [%c16, %c64], strides = [%c64, %c1] : !pto.tensor_view<16x64xf32>
    %yv = pto.make_tensor_view %y, shape = [%c16, %c64], strides = [%c64, %c1] : !pto.tensor_view<16x64xf32>
    %xb = pto.partition_view %xv, offsets = [%c0, %c0], sizes = [%c16, %c64] : !pto.tensor_view<16x64xf32> -> !v
    %yb = pto.partition_view %yv, offsets = [%c0, %c0], sizes = [%c16, %c64] : !pto.tensor_view<16x64xf32> -> !v
    %a = pto.alloc_tile addr = %z : !t loc("a")
    %b = pto.alloc_tile addr = %a1 : !t loc("b")
    pto.tload ins(%xb : !v) outs(%a : !t)
    pto.set_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]
    pto.wait_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]
    %flag = pto.load_scalar %flags[%c0] : !pto.ptr<i32> -> i32
    %set = arith.cmpi ne, %flag, %i0 : i32
    scf.if %set {
      pto.tmuls ins(%a, %k : !t, f32) outs(%b : !t)
    } else {
      pto.tadds ins(%a, %k : !t, f32) outs(%b : !t)
    }
    // `c` takes the place of `a`, which is not needed any more.
    %c = pto.alloc_tile addr = %z : !t loc("c")
    %many = arith.cmpi sgt, %n, %c16 : index
    pto.barrier <PIPE_V>
    scf.if %many {
      pto.texp ins(%b : !t) outs(%c : !t)
    } else {
      %d = pto.alloc_tile addr = %a2 : !t loc("d")
      pto.tabs ins(%b : !t) outs(%d : !t)
      pto.barrier <PIPE_V>
      pto.tadd ins(%b, %d : !t, !t) outs(%c : !t)
    }
    pto.set_flag[<PIPE_V>, <PIPE_MTE3>, <EVENT_ID0>]
    pto.wait_flag[<PIPE_V>, <PIPE_MTE3>, <EVENT_ID0>]
    pto.tstore ins(%c : !t) outs(%yb : !v)
    return
  }
}
