// ARGS: --ptl-skip-masked --canonicalize --cse --verify-each %s
// Keys that no row of the tile sees are not computed; what their values add, 0 or NaN, is.
func.func @causal(%q: !ptl.array<f32[S, D], gm>, %k: !ptl.array<f32[L, D], gm>, %v: !ptl.array<f32[L, D], gm>, %o: !ptl.ref<f32[S, D], gm>, %rows: index, %cols: index, %depth: index, %shift: i32) {
  %cst = arith.constant 0xFF800000 : f32
  %c0 = arith.constant 0 : index
  %c96 = arith.constant 96 : index
  %r = ptl.index %c0, %rows : (index, index) -> !ptl.array<i32[S]>
  %c = ptl.index %c0, %cols : (index, index) -> !ptl.array<i32[L]>
  ptl.parallel (%i) = (%c0) to (%rows) step (%c96) {
    %left = arith.subi %rows, %i : index
    %n = arith.minsi %left, %c96 : index
    %own = ptl.slice %r[%i] [%n] drop [] : <i32[S]> -> !ptl.array<i32[t:96]>
    %column = ptl.new_axis %own [1] : <i32[t:96]> -> <i32[t:96, 1]>
    %moved = ptl.add %column, %shift : (!ptl.array<i32[t:96, 1]>, i32) -> !ptl.array<i32[t:96, 1]>
    %seen = ptl.ge %moved, %c : (!ptl.array<i32[t:96, 1]>, !ptl.array<i32[L]>) -> !ptl.array<i1[t:96, L]>
    %a = ptl.slice %q[%i, %c0] [%n, %depth] drop [] : <f32[S, D], gm> -> !ptl.array<f32[t:96, D]>
    %kt = ptl.transpose %k {axes = array<i64: 1, 0>} : (!ptl.array<f32[L, D], gm>) -> !ptl.array<f32[D, L]>
    %s = ptl.matmul %a, %kt {precision = "full"} : (!ptl.array<f32[t:96, D]>, !ptl.array<f32[D, L]>) -> !ptl.array<f32[t:96, L]>
    %m = ptl.select %seen, %s, %cst : (!ptl.array<i1[t:96, L]>, !ptl.array<f32[t:96, L]>, f32) -> !ptl.array<f32[t:96, L]>
    %max = ptl.reduce_max %m {axes = array<i64: 1>} : (!ptl.array<f32[t:96, L]>) -> !ptl.array<f32[t:96, 1]>
    %d = ptl.sub %m, %max : (!ptl.array<f32[t:96, L]>, !ptl.array<f32[t:96, 1]>) -> !ptl.array<f32[t:96, L]>
    %e = ptl.exp %d : (!ptl.array<f32[t:96, L]>) -> !ptl.array<f32[t:96, L]>
    %sum = ptl.reduce_sum %e {axes = array<i64: 1>} : (!ptl.array<f32[t:96, L]>) -> !ptl.array<f32[t:96, 1]>
    %p = ptl.div %e, %sum : (!ptl.array<f32[t:96, L]>, !ptl.array<f32[t:96, 1]>) -> !ptl.array<f32[t:96, L]>
    %w = ptl.matmul %p, %v {precision = "full"} : (!ptl.array<f32[t:96, L]>, !ptl.array<f32[L, D], gm>) -> !ptl.array<f32[t:96, D]>
    ptl.store %w, %o[%i, %c0] [%n, %depth] drop [] : !ptl.array<f32[t:96, D]>, <f32[S, D], gm>
  }
  return
}

// Not where hidden columns have a number that is not `-inf`, nor where something else reads them.
func.func @others(%x: !ptl.array<f32[S, L], gm>, %v: !ptl.array<f32[L, D], gm>, %o: !ptl.ref<f32[S, D], gm>, %l: !ptl.ref<f32[S, 1], gm>, %rows: index, %cols: index, %depth: index) {
  %least = arith.constant -1.0e30 : f32
  %cst = arith.constant 0xFF800000 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c96 = arith.constant 96 : index
  %r = ptl.index %c0, %rows : (index, index) -> !ptl.array<i32[S]>
  %c = ptl.index %c0, %cols : (index, index) -> !ptl.array<i32[L]>
  ptl.parallel (%i) = (%c0) to (%rows) step (%c96) {
    %left = arith.subi %rows, %i : index
    %n = arith.minsi %left, %c96 : index
    %own = ptl.slice %r[%i] [%n] drop [] : <i32[S]> -> !ptl.array<i32[t:96]>
    %column = ptl.new_axis %own [1] : <i32[t:96]> -> <i32[t:96, 1]>
    %seen = ptl.ge %column, %c : (!ptl.array<i32[t:96, 1]>, !ptl.array<i32[L]>) -> !ptl.array<i1[t:96, L]>
    %s = ptl.slice %x[%i, %c0] [%n, %cols] drop [] : <f32[S, L], gm> -> !ptl.array<f32[t:96, L]>
    %m = ptl.select %seen, %s, %least : (!ptl.array<i1[t:96, L]>, !ptl.array<f32[t:96, L]>, f32) -> !ptl.array<f32[t:96, L]>
    %max = ptl.reduce_max %m {axes = array<i64: 1>} : (!ptl.array<f32[t:96, L]>) -> !ptl.array<f32[t:96, 1]>
    %d = ptl.sub %m, %max : (!ptl.array<f32[t:96, L]>, !ptl.array<f32[t:96, 1]>) -> !ptl.array<f32[t:96, L]>
    %e = ptl.exp %d : (!ptl.array<f32[t:96, L]>) -> !ptl.array<f32[t:96, L]>
    %w = ptl.matmul %e, %v {precision = "full"} : (!ptl.array<f32[t:96, L]>, !ptl.array<f32[L, D], gm>) -> !ptl.array<f32[t:96, D]>
    ptl.store %w, %o[%i, %c0] [%n, %depth] drop [] : !ptl.array<f32[t:96, D]>, <f32[S, D], gm>
    %m2 = ptl.select %seen, %s, %cst : (!ptl.array<i1[t:96, L]>, !ptl.array<f32[t:96, L]>, f32) -> !ptl.array<f32[t:96, L]>
    %w2 = ptl.matmul %m2, %v {precision = "full"} : (!ptl.array<f32[t:96, L]>, !ptl.array<f32[L, D], gm>) -> !ptl.array<f32[t:96, D]>
    %top = ptl.reduce_max %w2 {axes = array<i64: 1>} : (!ptl.array<f32[t:96, D]>) -> !ptl.array<f32[t:96, 1]>
    ptl.store %top, %l[%i, %c0] [%n, %c1] drop [] : !ptl.array<f32[t:96, 1]>, <f32[S, 1], gm>
  }
  return
}
