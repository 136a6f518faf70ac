// ARGS: --pto-prove -o %t/out %s
// Load, compute, store; two buffers in turn. Events of a slot rotate with it; what is left of the first turns is waited for at the end.
!t = !pto.tile_buf<vec, 32x64xf32>
!d = !pto.tile_buf<vec, 32x64xf32, valid=?x64>
!m = !pto.multi_tile_buf<!pto.tile_buf<vec, 32x64xf32>, count = 2>
module attributes {pto.target_arch = "a3", ptl.machine = "a2"} {
  func.func @add(%x: !pto.ptr<f32> {ptl.name = "x", ptl.role = "in"}, %z: !pto.ptr<f32> {ptl.name = "z", ptl.role = "out"},
                 %n: index {ptl.name = "n"})
      attributes {pto.entry, ptl.kernel = "add", pto.kernel_kind = #pto.kernel_kind<vector>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c31 = arith.constant 31 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %a0 = arith.constant 0 : i64
    %a1 = arith.constant 16384 : i64
    %one = arith.constant 1.0 : f32
    %up = arith.addi %n, %c31 : index
    %turns = arith.divsi %up, %c32 : index
    %xv = pto.make_tensor_view %x, shape = [%n, %c64], strides = [%c64, %c1] : !pto.tensor_view<?x64xf32>
    %zv = pto.make_tensor_view %z, shape = [%n, %c64], strides = [%c64, %c1] : !pto.tensor_view<?x64xf32>
    %in = pto.alloc_multi_tile addr = %a0 : !m loc("in")
    %out = pto.alloc_multi_tile addr = %a1 : !m loc("out")
    scf.for %i = %c0 to %turns step %c1 {
      %slot = arith.remui %i, %c2 : index
      %row = arith.muli %i, %c32 : index
      %left = arith.subi %n, %row : index
      %rows = arith.minsi %left, %c32 : index
      %xb = pto.partition_view %xv, offsets = [%row, %c0], sizes = [%rows, %c64] : !pto.tensor_view<?x64xf32> -> !pto.partition_tensor_view<?x64xf32>
      %zb = pto.partition_view %zv, offsets = [%row, %c0], sizes = [%rows, %c64] : !pto.tensor_view<?x64xf32> -> !pto.partition_tensor_view<?x64xf32>
      %a = pto.multi_tile_get %in[%slot] valid_row = %rows : !m -> !d
      %b = pto.multi_tile_get %out[%slot] valid_row = %rows : !m -> !d
      %again = arith.cmpi sge, %i, %c2 : index
      scf.if %again {
        pto.wait_flag_dyn[<PIPE_V>, <PIPE_MTE2>, %slot]
      }
      pto.tload ins(%xb : !pto.partition_tensor_view<?x64xf32>) outs(%a : !d)
      pto.set_flag_dyn[<PIPE_MTE2>, <PIPE_V>, %slot]
      pto.wait_flag_dyn[<PIPE_MTE2>, <PIPE_V>, %slot]
      scf.if %again {
        pto.wait_flag_dyn[<PIPE_MTE3>, <PIPE_V>, %slot]
      }
      pto.tadds ins(%a, %one : !d, f32) outs(%b : !d)
      pto.set_flag_dyn[<PIPE_V>, <PIPE_MTE2>, %slot]
      pto.barrier <PIPE_V>
      pto.tmuls ins(%b, %one : !d, f32) outs(%b : !d)
      pto.set_flag_dyn[<PIPE_V>, <PIPE_MTE3>, %slot]
      pto.wait_flag_dyn[<PIPE_V>, <PIPE_MTE3>, %slot]
      pto.tstore ins(%b : !d) outs(%zb : !pto.partition_tensor_view<?x64xf32>)
      pto.set_flag_dyn[<PIPE_MTE3>, <PIPE_V>, %slot]
    }
    %some = arith.cmpi sge, %turns, %c1 : index
    scf.if %some {
      pto.wait_flag[<PIPE_V>, <PIPE_MTE2>, <EVENT_ID0>]
      pto.wait_flag[<PIPE_MTE3>, <PIPE_V>, <EVENT_ID0>]
    }
    %two = arith.cmpi sge, %turns, %c2 : index
    scf.if %two {
      pto.wait_flag[<PIPE_V>, <PIPE_MTE2>, <EVENT_ID1>]
      pto.wait_flag[<PIPE_MTE3>, <PIPE_V>, <EVENT_ID1>]
    }
    return
  }
}
