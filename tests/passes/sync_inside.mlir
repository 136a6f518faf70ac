// ARGS: --pto-derive-sync --pto-prove --canonicalize --cse %s
// `tsels` has its scratch filled by the scalar unit, which then sets event 0 for the vector unit: the vector unit is done with the
// scratch, and with that event, before; other events between the two have other numbers.
!t = !pto.tile_buf<vec, 8x64xf32>
!k = !pto.tile_buf<vec, 8x64xi8>
module attributes {"pto.target_arch" = "a3", ptl.machine = "a3"} {
  func.func @selects(%n: index {ptl.name = "n"}) attributes {pto.entry, pto.kernel_kind = #pto.kernel_kind<vector>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %a0 = arith.constant 0 : i64
    %a1 = arith.constant 2048 : i64
    %a2 = arith.constant 4096 : i64
    %a3 = arith.constant 6144 : i64
    %one = arith.constant 1.0 : f32
    %a = pto.alloc_tile addr = %a0 : !t loc("a"("k.ptl":3:9))
    %b = pto.alloc_tile addr = %a1 : !t loc("b"("k.ptl":4:9))
    %s = pto.alloc_tile addr = %a2 : !t loc("s"("k.ptl":5:9))
    %m = pto.alloc_tile addr = %a3 : !k loc("m"("k.ptl":6:9))
    pto.texpands ins(%one : f32) outs(%a : !t) loc("k.ptl":7:5)
    scf.for %i = %c0 to %n step %c1 {
      pto.tsetval ins(%i, %one : index, f32) outs(%a : !t) loc("k.ptl":9:7)
      pto.tcmps ins(%a, %one {cmpMode = #pto<cmp gt>} : !t, f32) outs(%m : !k) loc("k.ptl":10:7)
      pto.tsels ins(%m, %a, %s, %one : !k, !t, !t, f32) outs(%b : !t) loc("k.ptl":11:7)
      pto.tsels ins(%m, %b, %s, %one : !k, !t, !t, f32) outs(%a : !t) loc("k.ptl":12:7)
    }
    return
  }
}
