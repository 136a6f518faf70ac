// ARGS: --pto-prove --split-input-file -o %t/out %s
// What instructions do beside their work: scratch that the scalar unit fills, events inside.
!t = !pto.tile_buf<vec, 8x64xf32>
!k = !pto.tile_buf<vec, 8x64xi8>
module attributes {ptl.machine = "a2"} {
  // The scalar unit fills the scratch of the second one while the first may still read it.
  func.func @k() attributes {pto.entry, pto.kernel_kind = #pto.kernel_kind<vector>} {
    %z = arith.constant 0 : i64
    %one = arith.constant 1.0 : f32
    %p1 = arith.constant 2048 : i64
    %p2 = arith.constant 4096 : i64
    %p3 = arith.constant 6144 : i64
    %a = pto.alloc_tile addr = %z : !t loc("a"("k.ptl":3:9))
    %b = pto.alloc_tile addr = %p1 : !t loc("b"("k.ptl":4:9))
    %tmp = pto.alloc_tile addr = %p2 : !t loc("tmp"("k.ptl":5:9))
    %mask = pto.alloc_tile addr = %p3 : !k loc("mask"("k.ptl":6:9))
    pto.texpands ins(%one : f32) outs(%a : !t) loc("k.ptl":7:5)
    pto.barrier <PIPE_V>
    pto.tcmps ins(%a, %one {cmpMode = #pto<cmp gt>} : !t, f32) outs(%mask : !k) loc("k.ptl":8:5)
    pto.barrier <PIPE_V>
    pto.tsels ins(%mask, %a, %tmp, %one : !k, !t, !t, f32) outs(%b : !t) loc("k.ptl":9:5)
    pto.barrier <PIPE_V>
    pto.tsels ins(%mask, %a, %tmp, %one : !k, !t, !t, f32) outs(%b : !t) loc("k.ptl":10:5)
    return
  }
}

// -----
!t = !pto.tile_buf<vec, 8x64xf32>
!k = !pto.tile_buf<vec, 8x64xi8>
module attributes {ptl.machine = "a2"} {
  // The scratch was a tile before, which the vector unit may still read.
  func.func @k() attributes {pto.entry, pto.kernel_kind = #pto.kernel_kind<vector>} {
    %z = arith.constant 0 : i64
    %one = arith.constant 1.0 : f32
    %p1 = arith.constant 2048 : i64
    %p2 = arith.constant 4096 : i64
    %p3 = arith.constant 6144 : i64
    %a = pto.alloc_tile addr = %z : !t loc("a"("k.ptl":3:9))
    %b = pto.alloc_tile addr = %p1 : !t loc("b"("k.ptl":4:9))
    %tmp = pto.alloc_tile addr = %p2 : !t loc("tmp"("k.ptl":5:9))
    %mask = pto.alloc_tile addr = %p3 : !k loc("mask"("k.ptl":6:9))
    pto.texpands ins(%one : f32) outs(%a : !t) loc("k.ptl":7:5)
    pto.barrier <PIPE_V>
    pto.tcmps ins(%a, %one {cmpMode = #pto<cmp gt>} : !t, f32) outs(%mask : !k) loc("k.ptl":8:5)
    pto.barrier <PIPE_V>
    pto.texpands ins(%one : f32) outs(%tmp : !t) loc("k.ptl":9:5)
    pto.barrier <PIPE_V>
    pto.tabs ins(%tmp : !t) outs(%b : !t) loc("k.ptl":10:5)
    pto.barrier <PIPE_V>
    pto.tsels ins(%mask, %a, %tmp, %one : !k, !t, !t, f32) outs(%b : !t) loc("k.ptl":11:5)
    return
  }
}

// -----
!t = !pto.tile_buf<vec, 8x64xf32>
!k = !pto.tile_buf<vec, 8x64xi8>
module attributes {ptl.machine = "a2"} {
  // The event is pending that the instruction uses inside.
  func.func @k() attributes {pto.entry, pto.kernel_kind = #pto.kernel_kind<vector>} {
    %z = arith.constant 0 : i64
    %one = arith.constant 1.0 : f32
    %p1 = arith.constant 2048 : i64
    %p2 = arith.constant 4096 : i64
    %p3 = arith.constant 6144 : i64
    %a = pto.alloc_tile addr = %z : !t loc("a"("k.ptl":3:9))
    %b = pto.alloc_tile addr = %p1 : !t loc("b"("k.ptl":4:9))
    %tmp = pto.alloc_tile addr = %p2 : !t loc("tmp"("k.ptl":5:9))
    %mask = pto.alloc_tile addr = %p3 : !k loc("mask"("k.ptl":6:9))
    pto.texpands ins(%one : f32) outs(%a : !t) loc("k.ptl":7:5)
    pto.barrier <PIPE_V>
    pto.tcmps ins(%a, %one {cmpMode = #pto<cmp gt>} : !t, f32) outs(%mask : !k) loc("k.ptl":8:5)
    pto.barrier <PIPE_V>
    pto.set_flag[<PIPE_S>, <PIPE_V>, <EVENT_ID0>] loc("k.ptl":9:5)
    pto.tsels ins(%mask, %a, %tmp, %one : !k, !t, !t, f32) outs(%b : !t) loc("k.ptl":10:5)
    pto.wait_flag[<PIPE_S>, <PIPE_V>, <EVENT_ID0>] loc("k.ptl":11:5)
    return
  }
}

// -----
!t = !pto.tile_buf<vec, 8x64xf32>
!c = !pto.tile_buf<vec, 8x1xf32, blayout=col_major>
!k = !pto.tile_buf<vec, 8x64xi8>
module attributes {ptl.machine = "a2"} {
  // An event of the vector unit for the scalar unit is pending that the instruction sets inside.
  func.func @k() attributes {pto.entry, pto.kernel_kind = #pto.kernel_kind<vector>} {
    %z = arith.constant 0 : i64
    %one = arith.constant 1.0 : f32
    %p1 = arith.constant 2048 : i64
    %p2 = arith.constant 4096 : i64
    %p3 = arith.constant 6144 : i64
    %p4 = arith.constant 8192 : i64
    %a = pto.alloc_tile addr = %z : !t loc("a"("k.ptl":3:9))
    %b = pto.alloc_tile addr = %p1 : !t loc("b"("k.ptl":4:9))
    %tmp = pto.alloc_tile addr = %p2 : !t loc("tmp"("k.ptl":5:9))
    %mask = pto.alloc_tile addr = %p3 : !k loc("mask"("k.ptl":6:9))
    %col = pto.alloc_tile addr = %p4 : !c loc("col"("k.ptl":7:9))
    pto.texpands ins(%one : f32) outs(%a : !t) loc("k.ptl":8:5)
    pto.texpands ins(%one : f32) outs(%col : !c) loc("k.ptl":8:5)
    pto.barrier <PIPE_V>
    pto.tcmps ins(%a, %one {cmpMode = #pto<cmp gt>} : !t, f32) outs(%mask : !k) loc("k.ptl":9:5)
    pto.barrier <PIPE_V>
    pto.set_flag[<PIPE_V>, <PIPE_S>, <EVENT_ID0>] loc("k.ptl":10:5)
    pto.trowexpand ins(%col : !c) outs(%a : !t) loc("k.ptl":11:5)
    pto.wait_flag[<PIPE_V>, <PIPE_S>, <EVENT_ID0>] loc("k.ptl":12:5)
    return
  }
}

// -----
!t = !pto.tile_buf<vec, 8x64xf32>
!c = !pto.tile_buf<vec, 8x1xf32, blayout=col_major>
!k = !pto.tile_buf<vec, 8x64xi8>
module attributes {ptl.machine = "a2"} {
  // An event of the scalar unit is pending; the wait inside does not take its place.
  func.func @k() attributes {pto.entry, pto.kernel_kind = #pto.kernel_kind<vector>} {
    %z = arith.constant 0 : i64
    %one = arith.constant 1.0 : f32
    %p1 = arith.constant 2048 : i64
    %p2 = arith.constant 4096 : i64
    %p3 = arith.constant 6144 : i64
    %p4 = arith.constant 8192 : i64
    %a = pto.alloc_tile addr = %z : !t loc("a"("k.ptl":3:9))
    %b = pto.alloc_tile addr = %p1 : !t loc("b"("k.ptl":4:9))
    %tmp = pto.alloc_tile addr = %p2 : !t loc("tmp"("k.ptl":5:9))
    %mask = pto.alloc_tile addr = %p3 : !k loc("mask"("k.ptl":6:9))
    %col = pto.alloc_tile addr = %p4 : !c loc("col"("k.ptl":7:9))
    pto.texpands ins(%one : f32) outs(%a : !t) loc("k.ptl":8:5)
    pto.texpands ins(%one : f32) outs(%col : !c) loc("k.ptl":8:5)
    pto.barrier <PIPE_V>
    pto.tcmps ins(%a, %one {cmpMode = #pto<cmp gt>} : !t, f32) outs(%mask : !k) loc("k.ptl":9:5)
    pto.barrier <PIPE_V>
    pto.set_flag[<PIPE_S>, <PIPE_V>, <EVENT_ID0>] loc("k.ptl":10:5)
    pto.trowexpand ins(%col : !c) outs(%a : !t) loc("k.ptl":11:5)
    pto.wait_flag[<PIPE_S>, <PIPE_V>, <EVENT_ID0>] loc("k.ptl":12:5)
    return
  }
}

// -----
!t = !pto.tile_buf<vec, 8x64xf32>
!c = !pto.tile_buf<vec, 8x1xf32, blayout=col_major>
!k = !pto.tile_buf<vec, 8x64xi8>
module attributes {ptl.machine = "a2"} {
  // The scalar unit does not know that the event inside the first one is over.
  func.func @k() attributes {pto.entry, pto.kernel_kind = #pto.kernel_kind<vector>} {
    %z = arith.constant 0 : i64
    %one = arith.constant 1.0 : f32
    %p1 = arith.constant 2048 : i64
    %p2 = arith.constant 4096 : i64
    %p3 = arith.constant 6144 : i64
    %p4 = arith.constant 8192 : i64
    %a = pto.alloc_tile addr = %z : !t loc("a"("k.ptl":3:9))
    %b = pto.alloc_tile addr = %p1 : !t loc("b"("k.ptl":4:9))
    %tmp = pto.alloc_tile addr = %p2 : !t loc("tmp"("k.ptl":5:9))
    %mask = pto.alloc_tile addr = %p3 : !k loc("mask"("k.ptl":6:9))
    %col = pto.alloc_tile addr = %p4 : !c loc("col"("k.ptl":7:9))
    pto.texpands ins(%one : f32) outs(%a : !t) loc("k.ptl":8:5)
    pto.texpands ins(%one : f32) outs(%col : !c) loc("k.ptl":8:5)
    pto.barrier <PIPE_V>
    pto.tcmps ins(%a, %one {cmpMode = #pto<cmp gt>} : !t, f32) outs(%mask : !k) loc("k.ptl":9:5)
    pto.barrier <PIPE_V>
    pto.trowexpand ins(%col : !c) outs(%a : !t) loc("k.ptl":10:5)
    pto.barrier <PIPE_V>
    pto.tsels ins(%mask, %a, %tmp, %one : !k, !t, !t, f32) outs(%b : !t) loc("k.ptl":11:5)
    return
  }
}
