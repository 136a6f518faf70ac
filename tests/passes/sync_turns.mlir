// ARGS: --pto-derive-sync --pto-prove %s
// The positions at 1024 are filled twice within one turn of those at 0: the second fill waits for what reads the first.
module attributes {ptl.machine = "a3", pto.target_arch = "a3"} {
  func.func @turns(%y: !pto.ptr<i32> {ptl.name = "y", ptl.role = "out"}, %n: index {ptl.name = "n"}) attributes {ptl.kernel = "turns", pto.entry, pto.kernel_kind = #pto.kernel_kind<vector>} {
    %a0 = arith.constant 0 : i64
    %a1 = arith.constant 1024 : i64
    %a2 = arith.constant 2048 : i64
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant 0 : i32
    %view = pto.make_tensor_view %y, shape = [%c1, %c64], strides = [%c64, %c1] : !pto.tensor_view<1x64xi32>
    %box = pto.partition_view %view, offsets = [%c0, %c0], sizes = [%c1, %c64] : !pto.tensor_view<1x64xi32> -> !pto.partition_tensor_view<1x64xi32>
    scf.for %i = %c0 to %n step %c1 {
      %whole = pto.alloc_tile addr = %a0 : !pto.tile_buf<vec, 1x64xi32>
      pto.tci ins(%zero {descending = false} : i32) outs(%whole : !pto.tile_buf<vec, 1x64xi32>)
      %first = pto.alloc_tile addr = %a1 : !pto.tile_buf<vec, 1x64xi32>
      pto.tci ins(%zero {descending = false} : i32) outs(%first : !pto.tile_buf<vec, 1x64xi32>)
      %sum = pto.alloc_tile addr = %a2 : !pto.tile_buf<vec, 1x64xi32>
      pto.tadd ins(%whole, %first : !pto.tile_buf<vec, 1x64xi32>, !pto.tile_buf<vec, 1x64xi32>) outs(%sum : !pto.tile_buf<vec, 1x64xi32>)
      %second = pto.alloc_tile addr = %a1 : !pto.tile_buf<vec, 1x64xi32>
      pto.tci ins(%zero {descending = false} : i32) outs(%second : !pto.tile_buf<vec, 1x64xi32>)
      pto.tadd ins(%sum, %second : !pto.tile_buf<vec, 1x64xi32>, !pto.tile_buf<vec, 1x64xi32>) outs(%sum : !pto.tile_buf<vec, 1x64xi32>)
      pto.tadd ins(%sum, %whole : !pto.tile_buf<vec, 1x64xi32>, !pto.tile_buf<vec, 1x64xi32>) outs(%sum : !pto.tile_buf<vec, 1x64xi32>)
      pto.tstore ins(%sum : !pto.tile_buf<vec, 1x64xi32>) outs(%box : !pto.partition_tensor_view<1x64xi32>)
    }
    return
  }
}
