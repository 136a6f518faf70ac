// ARGS[code]: --pto-plan-buffers --verify-each %s
// ARGS[json]: --pto-plan-buffers="emit=json tight=true" --verify-each %s
// Queues keep their bytes throughout; an output takes over the bytes of an input that ends there; addresses that are given stay.
!acc = !pto.tile_buf<acc, 64x64xf32, blayout=col_major, slayout=row_major, fractal=1024>
!t = !pto.tile_buf<vec, 64x64xf32>
!b = !pto.tile_buf<vec, 128x64xf32>
module attributes {"pto.target_arch" = "a5", "ptl.machine" = "a5"} {
  func.func @mix_aic(%x: !pto.ptr<f32>) attributes {pto.entry, ptl.kernel = "mix", pto.kernel_kind = #pto.kernel_kind<cube>} {
    %at = pto.import_reserved_buffer {name = "scores", peer_func = @mix_aiv} -> i32
    %q = pto.initialize_l2l_pipe {dir_mask = 1, slot_size = 16384, slot_num = 2} (%at : i32) -> !pto.pipe
    %s = pto.alloc_tile : !acc loc("s"("mix.ptl":2:7))
    pto.tpush(%s, %q : !acc, !pto.pipe) {split = 0} loc("mix.ptl":3:7)
    return
  }
  func.func @mix_aiv(%x: !pto.ptr<f32>) attributes {pto.entry, ptl.kernel = "mix", pto.kernel_kind = #pto.kernel_kind<vector>} {
    %at = pto.reserve_buffer {name = "scores", size = 32768, location = <vec>, auto = true} -> i32 loc("mix.ptl":3:7)
    %q = pto.initialize_l2l_pipe {dir_mask = 1, slot_size = 16384, slot_num = 2} (%at : i32) -> !pto.pipe
    %a0 = arith.constant 0 : i64
    %c = arith.constant 2.0 : f32
    %given = pto.alloc_tile addr = %a0 : !t loc("given"("mix.ptl":4:7))
    %large = pto.alloc_tile : !pto.tile_buf<vec, 128x288xf32> loc("large"("mix.ptl":5:7))
    %s = pto.declare_tile -> !t loc("s"("mix.ptl":3:7))
    pto.tpop(%s, %q : !t, !pto.pipe) {split = 0} loc("mix.ptl":3:7)
    %d = pto.alloc_tile : !t loc("d"("mix.ptl":6:7))
    %e = pto.alloc_tile : !t loc("mix.ptl":7:7)
    %f = pto.alloc_tile : !t loc("f"("mix.ptl":8:7))
    pto.tmuls ins(%large, %c : !pto.tile_buf<vec, 128x288xf32>, f32) outs(%large : !pto.tile_buf<vec, 128x288xf32>) loc("mix.ptl":5:7)
    pto.tadd ins(%s, %given : !t, !t) outs(%d : !t) loc("mix.ptl":6:11)
    pto.texp ins(%d : !t) outs(%e : !t) loc("mix.ptl":7:11)
    pto.trecip ins(%e : !t) outs(%f : !t) loc("mix.ptl":8:11)
    pto.tadd ins(%f, %given : !t, !t) outs(%given : !t) loc("mix.ptl":9:11)
    pto.tfree(%q : !pto.pipe) {split = 0} loc("mix.ptl":6:11)
    return
  }
}
