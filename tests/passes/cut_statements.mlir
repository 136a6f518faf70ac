// ARGS: --ptl-cut-statements --ptl-simplify --verify-each %s
// What is stored is computed in parts of 16 KiB along the axis that leaves least as a whole; what is read of its own array is the same part.
func.func @stored(%x: !ptl.array<f32[N, 16], gm>, %y: !ptl.ref<f32[N, 64, 16], gm>, %n: index {ptl.dim = "N"}) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  ptl.parallel (%i) = (%c0) to (%n) step (%c64) {
    %left = arith.subi %n, %i : index
    %rows = arith.minsi %left, %c64 : index
    %a = ptl.slice %x[%i, %c0] [%rows, %c16] drop [] : <f32[N, 16], gm> -> !ptl.array<f32[i:64, 16]>
    %e = ptl.new_axis %a [1] : <f32[i:64, 16]> -> <f32[i:64, 1, 16]>
    %b = ptl.load %y[%i, %c0, %c0] [%rows, %c64, %c16] drop [] : <f32[N, 64, 16], gm> -> !ptl.array<f32[i:64, 64, 16]>
    %s = ptl.add %b, %e : (!ptl.array<f32[i:64, 64, 16]>, !ptl.array<f32[i:64, 1, 16]>) -> !ptl.array<f32[i:64, 64, 16]>
    ptl.store %s, %y[%i, %c0, %c0] [%rows, %c64, %c16] drop [] : !ptl.array<f32[i:64, 64, 16]>, <f32[N, 64, 16], gm>
  } {ptl.choices = {statement_bytes = 16384 : i64}}
  return
}

// What another store may have changed is loaded where it stands, and cut.
func.func @changed(%y: !ptl.ref<f32[64, 128], gm>, %z: !ptl.ref<f32[64, 128], gm>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  ptl.parallel (%i) = (%c0) to (%c1) step (%c1) {
    %b = ptl.load %y[%c0, %c0] [%c64, %c128] drop [] : <f32[64, 128], gm> -> !ptl.array<f32[64, 128]>
    %s = ptl.exp %b : (!ptl.array<f32[64, 128]>) -> !ptl.array<f32[64, 128]>
    ptl.store %s, %y[%c0, %c0] [%c64, %c128] drop [] : !ptl.array<f32[64, 128]>, <f32[64, 128], gm>
    %t = ptl.neg %b : (!ptl.array<f32[64, 128]>) -> !ptl.array<f32[64, 128]>
    ptl.store %t, %z[%c0, %c0] [%c64, %c128] drop [] : !ptl.array<f32[64, 128]>, <f32[64, 128], gm>
  } {ptl.choices = {statement_bytes = 16384 : i64}}
  return
}

// What is folded is added up part by part; of what one row is read of, that row alone is computed.
func.func @folded(%x: !ptl.array<f32[64], gm>, %y: !ptl.ref<f32[64, 1], gm>, %z: !ptl.ref<f32[64], gm>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  %c64 = arith.constant 64 : index
  ptl.parallel (%i) = (%c0) to (%c1) step (%c1) {
    %a = ptl.slice %x[%c0] [%c64] drop [] : <f32[64], gm> -> !ptl.array<f32[64]>
    %r = ptl.new_axis %a [1] : <f32[64]> -> <f32[64, 1]>
    %d = ptl.sub %r, %a : (!ptl.array<f32[64, 1]>, !ptl.array<f32[64]>) -> !ptl.array<f32[64, 64]>
    %m = ptl.transpose %d {axes = array<i64: 1, 0>} : (!ptl.array<f32[64, 64]>) -> !ptl.array<f32[64, 64]>
    %s = ptl.reduce_sum %m {axes = array<i64: 0>} : (!ptl.array<f32[64, 64]>) -> !ptl.array<f32[1, 64]>
    %t = ptl.transpose %s {axes = array<i64: 1, 0>} : (!ptl.array<f32[1, 64]>) -> !ptl.array<f32[64, 1]>
    ptl.store %t, %y[%c0, %c0] [%c64, %c1] drop [] : !ptl.array<f32[64, 1]>, <f32[64, 1], gm>
    %q = ptl.exp %d : (!ptl.array<f32[64, 64]>) -> !ptl.array<f32[64, 64]>
    %w = ptl.slice %q[%c7, %c0] [%c1, %c64] drop [0] : <f32[64, 64]> -> !ptl.array<f32[64]>
    ptl.store %w, %z[%c0] [%c64] drop [] : !ptl.array<f32[64]>, <f32[64], gm>
  } {ptl.choices = {statement_bytes = 4096 : i64}}
  return
}
