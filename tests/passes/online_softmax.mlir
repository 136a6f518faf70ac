// ARGS: --ptl-online-softmax --canonicalize --cse --verify-each %s
// Rows of any length go by blocks where they are long, with weights in bf16 for the product.
func.func @quotient(%q: !ptl.array<bf16[t:96, D]>, %k: !ptl.array<bf16[L, D], gm>, %v: !ptl.array<bf16[L, E], gm>, %o: !ptl.ref<f32[t:96, E], gm>, %bias: !ptl.array<f32[L], gm>, %n: index, %e: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  ptl.parallel (%i) = (%c0) to (%c1) step (%c1) {
    %kt = ptl.transpose %k {axes = array<i64: 1, 0>} : (!ptl.array<bf16[L, D], gm>) -> !ptl.array<bf16[D, L]>
    %p = ptl.matmul %q, %kt {precision = "full"} : (!ptl.array<bf16[t:96, D]>, !ptl.array<bf16[D, L]>) -> !ptl.array<f32[t:96, L]>
    %s = ptl.add %p, %bias : (!ptl.array<f32[t:96, L]>, !ptl.array<f32[L], gm>) -> !ptl.array<f32[t:96, L]>
    %max = ptl.reduce_max %s {axes = array<i64: 1>} : (!ptl.array<f32[t:96, L]>) -> !ptl.array<f32[t:96, 1]>
    %d = ptl.sub %s, %max : (!ptl.array<f32[t:96, L]>, !ptl.array<f32[t:96, 1]>) -> !ptl.array<f32[t:96, L]>
    %x = ptl.exp %d : (!ptl.array<f32[t:96, L]>) -> !ptl.array<f32[t:96, L]>
    %sum = ptl.reduce_sum %x {axes = array<i64: 1>} : (!ptl.array<f32[t:96, L]>) -> !ptl.array<f32[t:96, 1]>
    %w = ptl.div %x, %sum : (!ptl.array<f32[t:96, L]>, !ptl.array<f32[t:96, 1]>) -> !ptl.array<f32[t:96, L]>
    %r = ptl.convert %w {round = "even", saturate = false} : (!ptl.array<f32[t:96, L]>) -> !ptl.array<bf16[t:96, L]>
    %a = ptl.matmul %r, %v {precision = "full"} : (!ptl.array<bf16[t:96, L]>, !ptl.array<bf16[L, E], gm>) -> !ptl.array<f32[t:96, E]>
    ptl.store %a, %o[%c0, %c0] [%n, %e] drop [] : !ptl.array<f32[t:96, E]>, <f32[t:96, E], gm>
  }
  return
}

// The product is of exponentials, and the sum is used behind it.
func.func @later(%s: !ptl.array<f32[4, L], gm>, %v: !ptl.array<f32[L, 8], gm>, %o: !ptl.ref<f32[4, 8], gm>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  ptl.parallel (%i) = (%c0) to (%c1) step (%c1) {
    %max = ptl.reduce_max %s {axes = array<i64: 1>} : (!ptl.array<f32[4, L], gm>) -> !ptl.array<f32[4, 1]>
    %d = ptl.sub %s, %max : (!ptl.array<f32[4, L], gm>, !ptl.array<f32[4, 1]>) -> !ptl.array<f32[4, L]>
    %x = ptl.exp2 %d : (!ptl.array<f32[4, L]>) -> !ptl.array<f32[4, L]>
    %a = ptl.matmul %x, %v {precision = "full"} : (!ptl.array<f32[4, L]>, !ptl.array<f32[L, 8], gm>) -> !ptl.array<f32[4, 8]>
    %sum = ptl.reduce_sum %x {axes = array<i64: 1>} : (!ptl.array<f32[4, L]>) -> !ptl.array<f32[4, 1]>
    %w = ptl.div %a, %sum : (!ptl.array<f32[4, 8]>, !ptl.array<f32[4, 1]>) -> !ptl.array<f32[4, 8]>
    ptl.store %w, %o[%c0, %c0] [%c4, %c8] drop [] : !ptl.array<f32[4, 8]>, <f32[4, 8], gm>
  }
  return
}

// Not where rows are short, where scores are summed in another type, nor where something else needs the weights.
func.func @others(%s: !ptl.array<f32[4, 512], gm>, %v: !ptl.array<f32[512, 8], gm>, %o: !ptl.ref<f32[4, 8], gm>, %sh: !ptl.array<f16[4, L], gm>, %vh: !ptl.array<f16[L, 8], gm>, %sl: !ptl.array<f32[4, L], gm>, %vl: !ptl.array<f32[L, 8], gm>, %l: !ptl.ref<f32[4, L], gm>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  ptl.parallel (%i) = (%c0) to (%c1) step (%c1) {
    %max = ptl.reduce_max %s {axes = array<i64: 1>} : (!ptl.array<f32[4, 512], gm>) -> !ptl.array<f32[4, 1]>
    %d = ptl.sub %s, %max : (!ptl.array<f32[4, 512], gm>, !ptl.array<f32[4, 1]>) -> !ptl.array<f32[4, 512]>
    %x = ptl.exp %d : (!ptl.array<f32[4, 512]>) -> !ptl.array<f32[4, 512]>
    %sum = ptl.reduce_sum %x {axes = array<i64: 1>} : (!ptl.array<f32[4, 512]>) -> !ptl.array<f32[4, 1]>
    %w = ptl.div %x, %sum : (!ptl.array<f32[4, 512]>, !ptl.array<f32[4, 1]>) -> !ptl.array<f32[4, 512]>
    %a = ptl.matmul %w, %v {precision = "full"} : (!ptl.array<f32[4, 512]>, !ptl.array<f32[512, 8], gm>) -> !ptl.array<f32[4, 8]>
    ptl.store %a, %o[%c0, %c0] [%c4, %c8] drop [] : !ptl.array<f32[4, 8]>, <f32[4, 8], gm>
    %hmax = ptl.reduce_max %sh {axes = array<i64: 1>} : (!ptl.array<f16[4, L], gm>) -> !ptl.array<f16[4, 1]>
    %hd = ptl.sub %sh, %hmax : (!ptl.array<f16[4, L], gm>, !ptl.array<f16[4, 1]>) -> !ptl.array<f16[4, L]>
    %hx = ptl.exp %hd : (!ptl.array<f16[4, L]>) -> !ptl.array<f16[4, L]>
    %hsum = ptl.reduce_sum %hx {axes = array<i64: 1>} : (!ptl.array<f16[4, L]>) -> !ptl.array<f16[4, 1]>
    %hw = ptl.div %hx, %hsum : (!ptl.array<f16[4, L]>, !ptl.array<f16[4, 1]>) -> !ptl.array<f16[4, L]>
    %ha = ptl.matmul %hw, %vh {precision = "full"} : (!ptl.array<f16[4, L]>, !ptl.array<f16[L, 8], gm>) -> !ptl.array<f32[4, 8]>
    ptl.store %ha, %o[%c0, %c0] [%c4, %c8] drop [] : !ptl.array<f32[4, 8]>, <f32[4, 8], gm>
    %lmax = ptl.reduce_max %sl {axes = array<i64: 1>} : (!ptl.array<f32[4, L], gm>) -> !ptl.array<f32[4, 1]>
    %ld = ptl.sub %sl, %lmax : (!ptl.array<f32[4, L], gm>, !ptl.array<f32[4, 1]>) -> !ptl.array<f32[4, L]>
    %lx = ptl.exp %ld : (!ptl.array<f32[4, L]>) -> !ptl.array<f32[4, L]>
    %lsum = ptl.reduce_sum %lx {axes = array<i64: 1>} : (!ptl.array<f32[4, L]>) -> !ptl.array<f32[4, 1]>
    %lw = ptl.div %lx, %lsum : (!ptl.array<f32[4, L]>, !ptl.array<f32[4, 1]>) -> !ptl.array<f32[4, L]>
    %la = ptl.matmul %lw, %vl {precision = "full"} : (!ptl.array<f32[4, L]>, !ptl.array<f32[L, 8], gm>) -> !ptl.array<f32[4, 8]>
    ptl.store %la, %o[%c0, %c0] [%c4, %c8] drop [] : !ptl.array<f32[4, 8]>, <f32[4, 8], gm>
    ptl.store %lw, %l[%c0, %c0] [%c4, %n] drop [] : !ptl.array<f32[4, L]>, <f32[4, L], gm>
  }
  return
}
