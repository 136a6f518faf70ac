// ARGS: --ptl-share-rows --canonicalize --cse --verify-each %s
// Boxes that differ in their first row alone come in one load for each first column, also beyond the edges; one that has no row in common with others
// stays.
func.func @stencil(%x: !ptl.array<f32[H, W], gm>, %y: !ptl.ref<f32[H, W], gm>, %h: index, %w: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c40 = arith.constant 40 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant 0.0 : f32
  ptl.parallel (%i) = (%c0) to (%h) step (%c32) {
    %rest = arith.subi %h, %i : index
    %n = arith.minsi %rest, %c32 : index
    %m = arith.minsi %w, %c32 : index
    %above = arith.subi %i, %c1 : index
    %below = arith.addi %i, %c1 : index
    %far = arith.addi %i, %c40 : index
    %a = ptl.slice %x[%above, %c0] [%n, %m] outside %zero : f32 drop [] : <f32[H, W], gm> -> !ptl.array<f32[i:32, j:32]>
    %b = ptl.slice %x[%i, %c0] [%n, %m] outside %zero : f32 drop [] : <f32[H, W], gm> -> !ptl.array<f32[i:32, j:32]>
    %c = ptl.slice %x[%below, %c0] [%n, %m] outside %zero : f32 drop [] : <f32[H, W], gm> -> !ptl.array<f32[i:32, j:32]>
    %d = ptl.slice %x[%above, %c2] [%n, %m] outside %zero : f32 drop [] : <f32[H, W], gm> -> !ptl.array<f32[i:32, j:32]>
    %e = ptl.slice %x[%i, %c2] [%n, %m] outside %zero : f32 drop [] : <f32[H, W], gm> -> !ptl.array<f32[i:32, j:32]>
    %f = ptl.slice %x[%far, %c2] [%n, %m] outside %zero : f32 drop [] : <f32[H, W], gm> -> !ptl.array<f32[i:32, j:32]>
    %ab = ptl.add %a, %b : (!ptl.array<f32[i:32, j:32]>, !ptl.array<f32[i:32, j:32]>) -> !ptl.array<f32[i:32, j:32]>
    %abc = ptl.add %ab, %c : (!ptl.array<f32[i:32, j:32]>, !ptl.array<f32[i:32, j:32]>) -> !ptl.array<f32[i:32, j:32]>
    %de = ptl.add %d, %e : (!ptl.array<f32[i:32, j:32]>, !ptl.array<f32[i:32, j:32]>) -> !ptl.array<f32[i:32, j:32]>
    %def = ptl.add %de, %f : (!ptl.array<f32[i:32, j:32]>, !ptl.array<f32[i:32, j:32]>) -> !ptl.array<f32[i:32, j:32]>
    %s = ptl.add %abc, %def : (!ptl.array<f32[i:32, j:32]>, !ptl.array<f32[i:32, j:32]>) -> !ptl.array<f32[i:32, j:32]>
    ptl.store %s, %y[%i, %c0] [%n, %m] drop [] : !ptl.array<f32[i:32, j:32]>, <f32[H, W], gm>
  }
  return
}
// What is written, or checked, between two boxes keeps them apart: the second one is not loaded before that.
func.func @apart(%y: !ptl.ref<f32[H, 64], gm>, %h: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c16 = arith.constant 16 : index
  ptl.parallel (%i) = (%c0) to (%h) step (%c16) {
    %below = arith.addi %i, %c1 : index
    %a = ptl.load %y[%i, %c0] [%c16, %c64] drop [] : <f32[H, 64], gm> -> !ptl.array<f32[16, 64]>
    %a2 = ptl.add %a, %a : (!ptl.array<f32[16, 64]>, !ptl.array<f32[16, 64]>) -> !ptl.array<f32[16, 64]>
    %holds = arith.cmpi slt, %below, %h : index
    ptl.check %holds, "bounds" "{0} is outside"(%below : index)
    %b = ptl.load %y[%below, %c0] [%c16, %c64] drop [] : <f32[H, 64], gm> -> !ptl.array<f32[16, 64]>
    %s = ptl.add %a2, %b : (!ptl.array<f32[16, 64]>, !ptl.array<f32[16, 64]>) -> !ptl.array<f32[16, 64]>
    ptl.store %s, %y[%i, %c0] [%c16, %c64] drop [] : !ptl.array<f32[16, 64]>, <f32[H, 64], gm>
  }
  return
}
// The weights of a stencil are loaded before what is computed with the first of them.
func.func @weights(%x: !ptl.array<f32[H, W], gm>, %k: !ptl.array<f32[9], gm>, %y: !ptl.ref<f32[H, W], gm>, %h: index, %w: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  ptl.parallel (%i) = (%c0) to (%h) step (%c32) {
    %rest = arith.subi %h, %i : index
    %n = arith.minsi %rest, %c32 : index
    %m = arith.minsi %w, %c32 : index
    %a = ptl.slice %x[%i, %c0] [%n, %m] drop [] : <f32[H, W], gm> -> !ptl.array<f32[i:32, j:32]>
    %p = ptl.slice %k[%c0] [%c1] drop [] : <f32[9], gm> -> !ptl.array<f32[1]>
    %s = ptl.mul %a, %p : (!ptl.array<f32[i:32, j:32]>, !ptl.array<f32[1]>) -> !ptl.array<f32[i:32, j:32]>
    %at = arith.addi %c1, %c1 : index
    %q = ptl.slice %k[%at] [%c1] drop [] : <f32[9], gm> -> !ptl.array<f32[1]>
    %t = ptl.mul %s, %q : (!ptl.array<f32[i:32, j:32]>, !ptl.array<f32[1]>) -> !ptl.array<f32[i:32, j:32]>
    ptl.store %t, %y[%i, %c0] [%n, %m] drop [] : !ptl.array<f32[i:32, j:32]>, <f32[H, W], gm>
  }
  return
}
// Large boxes are shared where all of them together have room.
func.func @large(%x: !ptl.array<f32[H, 514], gm>, %y: !ptl.ref<f32[H, 512], gm>, %h: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c16 = arith.constant 16 : index
  %c512 = arith.constant 512 : index
  ptl.parallel (%i) = (%c0) to (%h) step (%c16) {
    %below = arith.addi %i, %c1 : index
    %a = ptl.slice %x[%i, %c0] [%c16, %c512] drop [] : <f32[H, 514], gm> -> !ptl.array<f32[16, 512]>
    %b = ptl.slice %x[%below, %c0] [%c16, %c512] drop [] : <f32[H, 514], gm> -> !ptl.array<f32[16, 512]>
    %c = ptl.slice %x[%i, %c2] [%c16, %c512] drop [] : <f32[H, 514], gm> -> !ptl.array<f32[16, 512]>
    %d = ptl.slice %x[%below, %c2] [%c16, %c512] drop [] : <f32[H, 514], gm> -> !ptl.array<f32[16, 512]>
    %ab = ptl.add %a, %b : (!ptl.array<f32[16, 512]>, !ptl.array<f32[16, 512]>) -> !ptl.array<f32[16, 512]>
    %abc = ptl.add %ab, %c : (!ptl.array<f32[16, 512]>, !ptl.array<f32[16, 512]>) -> !ptl.array<f32[16, 512]>
    %s = ptl.add %abc, %d : (!ptl.array<f32[16, 512]>, !ptl.array<f32[16, 512]>) -> !ptl.array<f32[16, 512]>
    ptl.store %s, %y[%i, %c0] [%c16, %c512] drop [] : !ptl.array<f32[16, 512]>, <f32[H, 512], gm>
  }
  return
}
// These have not: `bf16` is converted before anything is computed with it, so each counts twice.
func.func @converted(%x: !ptl.array<bf16[H, 1026], gm>, %y: !ptl.ref<bf16[H, 1024], gm>, %h: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c16 = arith.constant 16 : index
  %c1024 = arith.constant 1024 : index
  ptl.parallel (%i) = (%c0) to (%h) step (%c16) {
    %below = arith.addi %i, %c1 : index
    %a = ptl.slice %x[%i, %c0] [%c16, %c1024] drop [] : <bf16[H, 1026], gm> -> !ptl.array<bf16[16, 1024]>
    %b = ptl.slice %x[%below, %c0] [%c16, %c1024] drop [] : <bf16[H, 1026], gm> -> !ptl.array<bf16[16, 1024]>
    %c = ptl.slice %x[%i, %c2] [%c16, %c1024] drop [] : <bf16[H, 1026], gm> -> !ptl.array<bf16[16, 1024]>
    %d = ptl.slice %x[%below, %c2] [%c16, %c1024] drop [] : <bf16[H, 1026], gm> -> !ptl.array<bf16[16, 1024]>
    %ab = ptl.add %a, %b : (!ptl.array<bf16[16, 1024]>, !ptl.array<bf16[16, 1024]>) -> !ptl.array<bf16[16, 1024]>
    %abc = ptl.add %ab, %c : (!ptl.array<bf16[16, 1024]>, !ptl.array<bf16[16, 1024]>) -> !ptl.array<bf16[16, 1024]>
    %s = ptl.add %abc, %d : (!ptl.array<bf16[16, 1024]>, !ptl.array<bf16[16, 1024]>) -> !ptl.array<bf16[16, 1024]>
    ptl.store %s, %y[%i, %c0] [%c16, %c1024] drop [] : !ptl.array<bf16[16, 1024]>, <bf16[H, 1024], gm>
  }
  return
}
