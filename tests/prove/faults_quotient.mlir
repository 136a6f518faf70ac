// ARGS: --pto-prove --split-input-file -o %t/out %s
// The library fills the result of a quotient with a scalar with that scalar before it reads the tile, so they may not share bytes.
!t = !pto.tile_buf<vec, 8x64xf32>
module attributes {ptl.machine = "a2"} {
  func.func @k() attributes {pto.entry, pto.kernel_kind = #pto.kernel_kind<vector>} {
    %z = arith.constant 0 : i64
    %one = arith.constant 1.0 : f32
    %a = pto.alloc_tile addr = %z : !t loc("a"("k.ptl":3:9))
    pto.texpands ins(%one : f32) outs(%a : !t) loc("k.ptl":4:5)
    pto.barrier <PIPE_V>
    pto.tdivs ins(%one, %a : f32, !t) outs(%a : !t) loc("k.ptl":5:5)
    return
  }
}

// -----
!t = !pto.tile_buf<vec, 8x64xf32>
module attributes {ptl.machine = "a2"} {
  func.func @other() attributes {pto.entry, pto.kernel_kind = #pto.kernel_kind<vector>} {
    %z = arith.constant 0 : i64
    %p1 = arith.constant 2048 : i64
    %one = arith.constant 1.0 : f32
    %a = pto.alloc_tile addr = %z : !t loc("a"("k.ptl":3:9))
    %b = pto.alloc_tile addr = %p1 : !t loc("b"("k.ptl":4:9))
    pto.texpands ins(%one : f32) outs(%a : !t) loc("k.ptl":5:5)
    pto.barrier <PIPE_V>
    pto.tdivs ins(%one, %a : f32, !t) outs(%b : !t) loc("k.ptl":6:5)
    return
  }
}
