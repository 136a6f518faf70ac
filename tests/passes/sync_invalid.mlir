// ARGS: --pto-derive-sync %s
// What has no address cannot be put in order.
module {
  func.func @unplaced() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %k = arith.constant 2.0 : f32
    %a = pto.alloc_tile : !pto.tile_buf<vec, 8x64xf32>
    pto.texpands ins(%k : f32) outs(%a : !pto.tile_buf<vec, 8x64xf32>)
    return
  }
}
