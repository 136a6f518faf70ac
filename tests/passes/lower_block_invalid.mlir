// ARGS: --ptl-lower-block=machine=a3 --split-input-file --verify-diagnostics %s
// The lowering takes what the passes before it have said only if that can be right.
// What is ahead cannot read what is behind.
func.func @host() {
  return
}
func.func @att(%arg0: !ptl.array<f16[64, 64], gm> {ptl.name = "q", ptl.role = "in"}, %arg1: !ptl.array<f16[L, 64], gm> {ptl.name = "k", ptl.role = "in"}, %arg2: !ptl.array<f16[L, 64], gm> {ptl.name = "v", ptl.role = "in"}, %arg3: !ptl.ref<f32[64, 64], gm> {ptl.name = "y", ptl.role = "out"}, %arg4: index {ptl.length = "L", ptl.name = "L"}) {
  %c64 = arith.constant 64 : index
  %c0 = arith.constant 0 : index
  %cst = arith.constant 5.000000e-01 : f32
  ptl.parallel (%arg5) = (%c0) to (%c64) step (%c64) {
    %0 = arith.subi %c64, %arg5 : index
    %1 = arith.minsi %0, %c64 : index
    %2 = ptl.slice %arg0[%arg5, %c0] [%1, %c64] drop [] {ptl.staged = "whole"} : <f16[64, 64], gm> -> !ptl.array<f16[i:64, 64]>
    %3 = ptl.zeros %1 : (index) -> !ptl.array<f32[i:64, 64]>
    // expected-error @+1 {{its operations cannot run in the pipeline stages assigned to them}}
    %4 = scf.for %arg6 = %c0 to %arg4 step %c64 iter_args(%arg7 = %3) -> (!ptl.array<f32[i:64, 64]>) {
      %6 = arith.subi %arg4, %arg6 : index
      %7 = arith.minsi %6, %c64 : index
      %8 = ptl.slice %arg1[%arg6, %c0] [%7, %c64] drop [] {ptl.staged = "whole"} : <f16[L, 64], gm> -> !ptl.array<f16[j:64, 64]>
      %9 = ptl.transpose %8 {axes = array<i64: 1, 0>} : (!ptl.array<f16[j:64, 64]>) -> !ptl.array<f16[64, j:64]>
      %10 = ptl.matmul %2, %9 {precision = "full", ptl.step = 64 : i64, ptl.core = "aic", ptl.crosses = array<i64: 0>, ptl.queue = array<i64: 1>, ptl.turn = "behind"} : (!ptl.array<f16[i:64, 64]>, !ptl.array<f16[64, j:64]>) -> !ptl.array<f32[i:64, j:64]>
      %11 = ptl.exp %10 {ptl.core = "aiv", ptl.turn = "ahead"} : (!ptl.array<f32[i:64, j:64]>) -> !ptl.array<f32[i:64, j:64]>
      %12 = ptl.convert %11 {ptl.core = "aiv", ptl.crosses = array<i64: 0>, ptl.queue = array<i64: 2>, ptl.turn = "ahead", round = "even", saturate = false} : (!ptl.array<f32[i:64, j:64]>) -> !ptl.array<f16[i:64, j:64]>
      %13 = ptl.slice %arg2[%arg6, %c0] [%7, %c64] drop [] {ptl.staged = "whole"} : <f16[L, 64], gm> -> !ptl.array<f16[j:64, 64]>
      %14 = ptl.matmul %12, %13 {precision = "full", ptl.step = 64 : i64, ptl.core = "aic", ptl.turn = "behind"} : (!ptl.array<f16[i:64, j:64]>, !ptl.array<f16[j:64, 64]>) -> !ptl.array<f32[i:64, 64]>
      %15 = ptl.add %arg7, %14 {ptl.core = "aic", ptl.turn = "behind"} : (!ptl.array<f32[i:64, 64]>, !ptl.array<f32[i:64, 64]>) -> !ptl.array<f32[i:64, 64]>
      scf.yield %15 : !ptl.array<f32[i:64, 64]>
    } {ptl.accumulates = array<i64: 0>, ptl.crosses = array<i64: 0>, ptl.pipeline = 2 : i64, ptl.queue = array<i64: 0>, ptl.turns_ahead = 2 : i64}
    %5 = ptl.mul %4, %cst {ptl.core = "aiv"} : (!ptl.array<f32[i:64, 64]>, f32) -> !ptl.array<f32[i:64, 64]>
    ptl.store %5, %arg3[%arg5, %c0] [%1, %c64] drop [] {ptl.core = "aiv"} : !ptl.array<f32[i:64, 64]>, <f32[64, 64], gm>
  } {ptl.core = "mix", ptl.dealt = ["i"], ptl.queues = [{bytes = 16384 : i64, flag = 0 : i64, held = 2 : i64, slots = 8 : i64, to = "aiv"}, {bytes = 16384 : i64, flag = 2 : i64, held = 2 : i64, slots = 8 : i64, to = "aiv"}, {bytes = 8192 : i64, flag = 4 : i64, held = 2 : i64, slots = 8 : i64, to = "aic"}]}
  return
}

// -----

// Two queues with the same events.
func.func @host() {
  return
}
func.func @att(%arg0: !ptl.array<f16[64, 64], gm> {ptl.name = "q", ptl.role = "in"}, %arg1: !ptl.array<f16[L, 64], gm> {ptl.name = "k", ptl.role = "in"}, %arg2: !ptl.array<f16[L, 64], gm> {ptl.name = "v", ptl.role = "in"}, %arg3: !ptl.ref<f32[64, 64], gm> {ptl.name = "y", ptl.role = "out"}, %arg4: index {ptl.length = "L", ptl.name = "L"}) {
  %c64 = arith.constant 64 : index
  %c0 = arith.constant 0 : index
  %cst = arith.constant 5.000000e-01 : f32
  // expected-error @+1 {{the event 0 between cores does not exist or is used twice}}
  ptl.parallel (%arg5) = (%c0) to (%c64) step (%c64) {
    %0 = arith.subi %c64, %arg5 : index
    %1 = arith.minsi %0, %c64 : index
    %2 = ptl.slice %arg0[%arg5, %c0] [%1, %c64] drop [] {ptl.staged = "whole"} : <f16[64, 64], gm> -> !ptl.array<f16[i:64, 64]>
    %3 = ptl.zeros %1 : (index) -> !ptl.array<f32[i:64, 64]>
    %4 = scf.for %arg6 = %c0 to %arg4 step %c64 iter_args(%arg7 = %3) -> (!ptl.array<f32[i:64, 64]>) {
      %6 = arith.subi %arg4, %arg6 : index
      %7 = arith.minsi %6, %c64 : index
      %8 = ptl.slice %arg1[%arg6, %c0] [%7, %c64] drop [] {ptl.staged = "whole"} : <f16[L, 64], gm> -> !ptl.array<f16[j:64, 64]>
      %9 = ptl.transpose %8 {axes = array<i64: 1, 0>} : (!ptl.array<f16[j:64, 64]>) -> !ptl.array<f16[64, j:64]>
      %10 = ptl.matmul %2, %9 {precision = "full", ptl.step = 64 : i64, ptl.core = "aic", ptl.crosses = array<i64: 0>, ptl.queue = array<i64: 1>, ptl.turn = "ahead"} : (!ptl.array<f16[i:64, 64]>, !ptl.array<f16[64, j:64]>) -> !ptl.array<f32[i:64, j:64]>
      %11 = ptl.exp %10 {ptl.core = "aiv", ptl.turn = "ahead"} : (!ptl.array<f32[i:64, j:64]>) -> !ptl.array<f32[i:64, j:64]>
      %12 = ptl.convert %11 {ptl.core = "aiv", ptl.crosses = array<i64: 0>, ptl.queue = array<i64: 2>, ptl.turn = "ahead", round = "even", saturate = false} : (!ptl.array<f32[i:64, j:64]>) -> !ptl.array<f16[i:64, j:64]>
      %13 = ptl.slice %arg2[%arg6, %c0] [%7, %c64] drop [] {ptl.staged = "whole"} : <f16[L, 64], gm> -> !ptl.array<f16[j:64, 64]>
      %14 = ptl.matmul %12, %13 {precision = "full", ptl.step = 64 : i64, ptl.core = "aic", ptl.turn = "behind"} : (!ptl.array<f16[i:64, j:64]>, !ptl.array<f16[j:64, 64]>) -> !ptl.array<f32[i:64, 64]>
      %15 = ptl.add %arg7, %14 {ptl.core = "aic", ptl.turn = "behind"} : (!ptl.array<f32[i:64, 64]>, !ptl.array<f32[i:64, 64]>) -> !ptl.array<f32[i:64, 64]>
      scf.yield %15 : !ptl.array<f32[i:64, 64]>
    } {ptl.accumulates = array<i64: 0>, ptl.crosses = array<i64: 0>, ptl.pipeline = 2 : i64, ptl.queue = array<i64: 0>, ptl.turns_ahead = 2 : i64}
    %5 = ptl.mul %4, %cst {ptl.core = "aiv"} : (!ptl.array<f32[i:64, 64]>, f32) -> !ptl.array<f32[i:64, 64]>
    ptl.store %5, %arg3[%arg5, %c0] [%1, %c64] drop [] {ptl.core = "aiv"} : !ptl.array<f32[i:64, 64]>, <f32[64, 64], gm>
  } {ptl.core = "mix", ptl.dealt = ["i"], ptl.queues = [{bytes = 16384 : i64, flag = 0 : i64, held = 2 : i64, slots = 8 : i64, to = "aiv"}, {bytes = 16384 : i64, flag = 0 : i64, held = 2 : i64, slots = 8 : i64, to = "aiv"}, {bytes = 8192 : i64, flag = 4 : i64, held = 2 : i64, slots = 8 : i64, to = "aic"}]}
  return
}

// -----

// Slots that are too small.
func.func @host() {
  return
}
func.func @att(%arg0: !ptl.array<f16[64, 64], gm> {ptl.name = "q", ptl.role = "in"}, %arg1: !ptl.array<f16[L, 64], gm> {ptl.name = "k", ptl.role = "in"}, %arg2: !ptl.array<f16[L, 64], gm> {ptl.name = "v", ptl.role = "in"}, %arg3: !ptl.ref<f32[64, 64], gm> {ptl.name = "y", ptl.role = "out"}, %arg4: index {ptl.length = "L", ptl.name = "L"}) {
  %c64 = arith.constant 64 : index
  %c0 = arith.constant 0 : index
  %cst = arith.constant 5.000000e-01 : f32
  // expected-error @+1 {{the slots of a queue are smaller than the values that it carries}}
  ptl.parallel (%arg5) = (%c0) to (%c64) step (%c64) {
    %0 = arith.subi %c64, %arg5 : index
    %1 = arith.minsi %0, %c64 : index
    %2 = ptl.slice %arg0[%arg5, %c0] [%1, %c64] drop [] {ptl.staged = "whole"} : <f16[64, 64], gm> -> !ptl.array<f16[i:64, 64]>
    %3 = ptl.zeros %1 : (index) -> !ptl.array<f32[i:64, 64]>
    %4 = scf.for %arg6 = %c0 to %arg4 step %c64 iter_args(%arg7 = %3) -> (!ptl.array<f32[i:64, 64]>) {
      %6 = arith.subi %arg4, %arg6 : index
      %7 = arith.minsi %6, %c64 : index
      %8 = ptl.slice %arg1[%arg6, %c0] [%7, %c64] drop [] {ptl.staged = "whole"} : <f16[L, 64], gm> -> !ptl.array<f16[j:64, 64]>
      %9 = ptl.transpose %8 {axes = array<i64: 1, 0>} : (!ptl.array<f16[j:64, 64]>) -> !ptl.array<f16[64, j:64]>
      %10 = ptl.matmul %2, %9 {precision = "full", ptl.step = 64 : i64, ptl.core = "aic", ptl.crosses = array<i64: 0>, ptl.queue = array<i64: 1>, ptl.turn = "ahead"} : (!ptl.array<f16[i:64, 64]>, !ptl.array<f16[64, j:64]>) -> !ptl.array<f32[i:64, j:64]>
      %11 = ptl.exp %10 {ptl.core = "aiv", ptl.turn = "ahead"} : (!ptl.array<f32[i:64, j:64]>) -> !ptl.array<f32[i:64, j:64]>
      %12 = ptl.convert %11 {ptl.core = "aiv", ptl.crosses = array<i64: 0>, ptl.queue = array<i64: 2>, ptl.turn = "ahead", round = "even", saturate = false} : (!ptl.array<f32[i:64, j:64]>) -> !ptl.array<f16[i:64, j:64]>
      %13 = ptl.slice %arg2[%arg6, %c0] [%7, %c64] drop [] {ptl.staged = "whole"} : <f16[L, 64], gm> -> !ptl.array<f16[j:64, 64]>
      %14 = ptl.matmul %12, %13 {precision = "full", ptl.step = 64 : i64, ptl.core = "aic", ptl.turn = "behind"} : (!ptl.array<f16[i:64, j:64]>, !ptl.array<f16[j:64, 64]>) -> !ptl.array<f32[i:64, 64]>
      %15 = ptl.add %arg7, %14 {ptl.core = "aic", ptl.turn = "behind"} : (!ptl.array<f32[i:64, 64]>, !ptl.array<f32[i:64, 64]>) -> !ptl.array<f32[i:64, 64]>
      scf.yield %15 : !ptl.array<f32[i:64, 64]>
    } {ptl.accumulates = array<i64: 0>, ptl.crosses = array<i64: 0>, ptl.pipeline = 2 : i64, ptl.queue = array<i64: 0>, ptl.turns_ahead = 2 : i64}
    %5 = ptl.mul %4, %cst {ptl.core = "aiv"} : (!ptl.array<f32[i:64, 64]>, f32) -> !ptl.array<f32[i:64, 64]>
    ptl.store %5, %arg3[%arg5, %c0] [%1, %c64] drop [] {ptl.core = "aiv"} : !ptl.array<f32[i:64, 64]>, <f32[64, 64], gm>
  } {ptl.core = "mix", ptl.dealt = ["i"], ptl.queues = [{bytes = 16384 : i64, flag = 0 : i64, held = 2 : i64, slots = 8 : i64, to = "aiv"}, {bytes = 16384 : i64, flag = 2 : i64, held = 2 : i64, slots = 8 : i64, to = "aiv"}, {bytes = 4096 : i64, flag = 4 : i64, held = 2 : i64, slots = 8 : i64, to = "aic"}]}
  return
}

// -----

// A value in a queue that goes the other way.
func.func @host() {
  return
}
func.func @att(%arg0: !ptl.array<f16[64, 64], gm> {ptl.name = "q", ptl.role = "in"}, %arg1: !ptl.array<f16[L, 64], gm> {ptl.name = "k", ptl.role = "in"}, %arg2: !ptl.array<f16[L, 64], gm> {ptl.name = "v", ptl.role = "in"}, %arg3: !ptl.ref<f32[64, 64], gm> {ptl.name = "y", ptl.role = "out"}, %arg4: index {ptl.length = "L", ptl.name = "L"}) {
  %c64 = arith.constant 64 : index
  %c0 = arith.constant 0 : index
  %cst = arith.constant 5.000000e-01 : f32
  ptl.parallel (%arg5) = (%c0) to (%c64) step (%c64) {
    %0 = arith.subi %c64, %arg5 : index
    %1 = arith.minsi %0, %c64 : index
    %2 = ptl.slice %arg0[%arg5, %c0] [%1, %c64] drop [] {ptl.staged = "whole"} : <f16[64, 64], gm> -> !ptl.array<f16[i:64, 64]>
    %3 = ptl.zeros %1 : (index) -> !ptl.array<f32[i:64, 64]>
    %4 = scf.for %arg6 = %c0 to %arg4 step %c64 iter_args(%arg7 = %3) -> (!ptl.array<f32[i:64, 64]>) {
      %6 = arith.subi %arg4, %arg6 : index
      %7 = arith.minsi %6, %c64 : index
      %8 = ptl.slice %arg1[%arg6, %c0] [%7, %c64] drop [] {ptl.staged = "whole"} : <f16[L, 64], gm> -> !ptl.array<f16[j:64, 64]>
      %9 = ptl.transpose %8 {axes = array<i64: 1, 0>} : (!ptl.array<f16[j:64, 64]>) -> !ptl.array<f16[64, j:64]>
      %10 = ptl.matmul %2, %9 {precision = "full", ptl.step = 64 : i64, ptl.core = "aic", ptl.crosses = array<i64: 0>, ptl.queue = array<i64: 1>, ptl.turn = "ahead"} : (!ptl.array<f16[i:64, 64]>, !ptl.array<f16[64, j:64]>) -> !ptl.array<f32[i:64, j:64]>
      %11 = ptl.exp %10 {ptl.core = "aiv", ptl.turn = "ahead"} : (!ptl.array<f32[i:64, j:64]>) -> !ptl.array<f32[i:64, j:64]>
      // expected-error @+1 {{its queue runs in the opposite direction}}
      %12 = ptl.convert %11 {ptl.core = "aiv", ptl.crosses = array<i64: 0>, ptl.queue = array<i64: 1>, ptl.turn = "ahead", round = "even", saturate = false} : (!ptl.array<f32[i:64, j:64]>) -> !ptl.array<f16[i:64, j:64]>
      %13 = ptl.slice %arg2[%arg6, %c0] [%7, %c64] drop [] {ptl.staged = "whole"} : <f16[L, 64], gm> -> !ptl.array<f16[j:64, 64]>
      %14 = ptl.matmul %12, %13 {precision = "full", ptl.step = 64 : i64, ptl.core = "aic", ptl.turn = "behind"} : (!ptl.array<f16[i:64, j:64]>, !ptl.array<f16[j:64, 64]>) -> !ptl.array<f32[i:64, 64]>
      %15 = ptl.add %arg7, %14 {ptl.core = "aic", ptl.turn = "behind"} : (!ptl.array<f32[i:64, 64]>, !ptl.array<f32[i:64, 64]>) -> !ptl.array<f32[i:64, 64]>
      scf.yield %15 : !ptl.array<f32[i:64, 64]>
    } {ptl.accumulates = array<i64: 0>, ptl.crosses = array<i64: 0>, ptl.pipeline = 2 : i64, ptl.queue = array<i64: 0>, ptl.turns_ahead = 2 : i64}
    %5 = ptl.mul %4, %cst {ptl.core = "aiv"} : (!ptl.array<f32[i:64, 64]>, f32) -> !ptl.array<f32[i:64, 64]>
    ptl.store %5, %arg3[%arg5, %c0] [%1, %c64] drop [] {ptl.core = "aiv"} : !ptl.array<f32[i:64, 64]>, <f32[64, 64], gm>
  } {ptl.core = "mix", ptl.dealt = ["i"], ptl.queues = [{bytes = 16384 : i64, flag = 0 : i64, held = 2 : i64, slots = 8 : i64, to = "aiv"}, {bytes = 16384 : i64, flag = 2 : i64, held = 2 : i64, slots = 8 : i64, to = "aiv"}, {bytes = 8192 : i64, flag = 4 : i64, held = 2 : i64, slots = 8 : i64, to = "aic"}]}
  return
}

// -----

// An operand that nothing is said of.
func.func @host() {
  return
}
func.func @att(%arg0: !ptl.array<f16[64, 64], gm> {ptl.name = "q", ptl.role = "in"}, %arg1: !ptl.array<f16[L, 64], gm> {ptl.name = "k", ptl.role = "in"}, %arg2: !ptl.array<f16[L, 64], gm> {ptl.name = "v", ptl.role = "in"}, %arg3: !ptl.ref<f32[64, 64], gm> {ptl.name = "y", ptl.role = "out"}, %arg4: index {ptl.length = "L", ptl.name = "L"}) {
  %c64 = arith.constant 64 : index
  %c0 = arith.constant 0 : index
  %cst = arith.constant 5.000000e-01 : f32
  ptl.parallel (%arg5) = (%c0) to (%c64) step (%c64) {
    %0 = arith.subi %c64, %arg5 : index
    %1 = arith.minsi %0, %c64 : index
    %2 = ptl.slice %arg0[%arg5, %c0] [%1, %c64] drop [] {ptl.staged = "whole"} : <f16[64, 64], gm> -> !ptl.array<f16[i:64, 64]>
    %3 = ptl.zeros %1 : (index) -> !ptl.array<f32[i:64, 64]>
    %4 = scf.for %arg6 = %c0 to %arg4 step %c64 iter_args(%arg7 = %3) -> (!ptl.array<f32[i:64, 64]>) {
      %6 = arith.subi %arg4, %arg6 : index
      %7 = arith.minsi %6, %c64 : index
      %8 = ptl.slice %arg1[%arg6, %c0] [%7, %c64] drop [] {ptl.staged = "whole"} : <f16[L, 64], gm> -> !ptl.array<f16[j:64, 64]>
      %9 = ptl.transpose %8 {axes = array<i64: 1, 0>} : (!ptl.array<f16[j:64, 64]>) -> !ptl.array<f16[64, j:64]>
      %10 = ptl.matmul %2, %9 {precision = "full", ptl.step = 64 : i64, ptl.core = "aic", ptl.crosses = array<i64: 0>, ptl.queue = array<i64: 1>, ptl.turn = "ahead"} : (!ptl.array<f16[i:64, 64]>, !ptl.array<f16[64, j:64]>) -> !ptl.array<f32[i:64, j:64]>
      %11 = ptl.exp %10 {ptl.core = "aiv", ptl.turn = "ahead"} : (!ptl.array<f32[i:64, j:64]>) -> !ptl.array<f32[i:64, j:64]>
      %12 = ptl.convert %11 {ptl.core = "aiv", ptl.crosses = array<i64: 0>, ptl.queue = array<i64: 2>, ptl.turn = "ahead", round = "even", saturate = false} : (!ptl.array<f32[i:64, j:64]>) -> !ptl.array<f16[i:64, j:64]>
      // expected-error @+1 {{a product reads this load, which has no staging}}
      %13 = ptl.slice %arg2[%arg6, %c0] [%7, %c64] drop [] : <f16[L, 64], gm> -> !ptl.array<f16[j:64, 64]>
      %14 = ptl.matmul %12, %13 {precision = "full", ptl.step = 64 : i64, ptl.core = "aic", ptl.turn = "behind"} : (!ptl.array<f16[i:64, j:64]>, !ptl.array<f16[j:64, 64]>) -> !ptl.array<f32[i:64, 64]>
      %15 = ptl.add %arg7, %14 {ptl.core = "aic", ptl.turn = "behind"} : (!ptl.array<f32[i:64, 64]>, !ptl.array<f32[i:64, 64]>) -> !ptl.array<f32[i:64, 64]>
      scf.yield %15 : !ptl.array<f32[i:64, 64]>
    } {ptl.accumulates = array<i64: 0>, ptl.crosses = array<i64: 0>, ptl.pipeline = 2 : i64, ptl.queue = array<i64: 0>, ptl.turns_ahead = 2 : i64}
    %5 = ptl.mul %4, %cst {ptl.core = "aiv"} : (!ptl.array<f32[i:64, 64]>, f32) -> !ptl.array<f32[i:64, 64]>
    ptl.store %5, %arg3[%arg5, %c0] [%1, %c64] drop [] {ptl.core = "aiv"} : !ptl.array<f32[i:64, 64]>, <f32[64, 64], gm>
  } {ptl.core = "mix", ptl.dealt = ["i"], ptl.queues = [{bytes = 16384 : i64, flag = 0 : i64, held = 2 : i64, slots = 8 : i64, to = "aiv"}, {bytes = 16384 : i64, flag = 2 : i64, held = 2 : i64, slots = 8 : i64, to = "aiv"}, {bytes = 8192 : i64, flag = 4 : i64, held = 2 : i64, slots = 8 : i64, to = "aic"}]}
  return
}

// -----

// Steps that are no whole boxes.
func.func @host() {
  return
}
func.func @att(%arg0: !ptl.array<f16[64, 64], gm> {ptl.name = "q", ptl.role = "in"}, %arg1: !ptl.array<f16[L, 64], gm> {ptl.name = "k", ptl.role = "in"}, %arg2: !ptl.array<f16[L, 64], gm> {ptl.name = "v", ptl.role = "in"}, %arg3: !ptl.ref<f32[64, 64], gm> {ptl.name = "y", ptl.role = "out"}, %arg4: index {ptl.length = "L", ptl.name = "L"}) {
  %c64 = arith.constant 64 : index
  %c0 = arith.constant 0 : index
  %cst = arith.constant 5.000000e-01 : f32
  ptl.parallel (%arg5) = (%c0) to (%c64) step (%c64) {
    %0 = arith.subi %c64, %arg5 : index
    %1 = arith.minsi %0, %c64 : index
    %2 = ptl.slice %arg0[%arg5, %c0] [%1, %c64] drop [] {ptl.staged = "whole"} : <f16[64, 64], gm> -> !ptl.array<f16[i:64, 64]>
    %3 = ptl.zeros %1 : (index) -> !ptl.array<f32[i:64, 64]>
    %4 = scf.for %arg6 = %c0 to %arg4 step %c64 iter_args(%arg7 = %3) -> (!ptl.array<f32[i:64, 64]>) {
      %6 = arith.subi %arg4, %arg6 : index
      %7 = arith.minsi %6, %c64 : index
      %8 = ptl.slice %arg1[%arg6, %c0] [%7, %c64] drop [] {ptl.staged = "whole"} : <f16[L, 64], gm> -> !ptl.array<f16[j:64, 64]>
      %9 = ptl.transpose %8 {axes = array<i64: 1, 0>} : (!ptl.array<f16[j:64, 64]>) -> !ptl.array<f16[64, j:64]>
      %10 = ptl.matmul %2, %9 {precision = "full", ptl.step = 64 : i64, ptl.core = "aic", ptl.crosses = array<i64: 0>, ptl.queue = array<i64: 1>, ptl.turn = "ahead"} : (!ptl.array<f16[i:64, 64]>, !ptl.array<f16[64, j:64]>) -> !ptl.array<f32[i:64, j:64]>
      %11 = ptl.exp %10 {ptl.core = "aiv", ptl.turn = "ahead"} : (!ptl.array<f32[i:64, j:64]>) -> !ptl.array<f32[i:64, j:64]>
      %12 = ptl.convert %11 {ptl.core = "aiv", ptl.crosses = array<i64: 0>, ptl.queue = array<i64: 2>, ptl.turn = "ahead", round = "even", saturate = false} : (!ptl.array<f32[i:64, j:64]>) -> !ptl.array<f16[i:64, j:64]>
      %13 = ptl.slice %arg2[%arg6, %c0] [%7, %c64] drop [] {ptl.staged = "whole"} : <f16[L, 64], gm> -> !ptl.array<f16[j:64, 64]>
      // expected-error @+1 {{the extent of its steps along the contracted axis is missing or wrong}}
      %14 = ptl.matmul %12, %13 {precision = "full", ptl.step = 40 : i64, ptl.core = "aic", ptl.turn = "behind"} : (!ptl.array<f16[i:64, j:64]>, !ptl.array<f16[j:64, 64]>) -> !ptl.array<f32[i:64, 64]>
      %15 = ptl.add %arg7, %14 {ptl.core = "aic", ptl.turn = "behind"} : (!ptl.array<f32[i:64, 64]>, !ptl.array<f32[i:64, 64]>) -> !ptl.array<f32[i:64, 64]>
      scf.yield %15 : !ptl.array<f32[i:64, 64]>
    } {ptl.accumulates = array<i64: 0>, ptl.crosses = array<i64: 0>, ptl.pipeline = 2 : i64, ptl.queue = array<i64: 0>, ptl.turns_ahead = 2 : i64}
    %5 = ptl.mul %4, %cst {ptl.core = "aiv"} : (!ptl.array<f32[i:64, 64]>, f32) -> !ptl.array<f32[i:64, 64]>
    ptl.store %5, %arg3[%arg5, %c0] [%1, %c64] drop [] {ptl.core = "aiv"} : !ptl.array<f32[i:64, 64]>, <f32[64, 64], gm>
  } {ptl.core = "mix", ptl.dealt = ["i"], ptl.queues = [{bytes = 16384 : i64, flag = 0 : i64, held = 2 : i64, slots = 8 : i64, to = "aiv"}, {bytes = 16384 : i64, flag = 2 : i64, held = 2 : i64, slots = 8 : i64, to = "aiv"}, {bytes = 8192 : i64, flag = 4 : i64, held = 2 : i64, slots = 8 : i64, to = "aic"}]}
  return
}
// -----
// A way that the machine does not have for these elements.
func.func @host() {
  return
}
func.func @words(%arg0: !ptl.array<i64[64], gm> {ptl.name = "x", ptl.role = "in"}, %arg1: !ptl.ref<i64[64], gm> {ptl.name = "y", ptl.role = "out"}) {
  %c64 = arith.constant 64 : index
  %c0 = arith.constant 0 : index
  ptl.parallel (%arg2) = (%c0) to (%c64) step (%c64) {
    %0 = ptl.slice %arg0[%arg2] [%c64] drop [] : <i64[64], gm> -> !ptl.array<i64[64]>
    // expected-error @+1 {{`a3` cannot do it by `tmul`}}
    %1 = ptl.mul %0, %0 {ptl.way = "tmul"} : (!ptl.array<i64[64]>, !ptl.array<i64[64]>) -> !ptl.array<i64[64]>
    ptl.store %1, %arg1[%arg2] [%c64] drop [] : !ptl.array<i64[64]>, <i64[64], gm>
  } {ptl.core = "aiv"}
  return
}
// -----
// Nothing says how.
func.func @host() {
  return
}
func.func @silent(%arg0: !ptl.array<f32[64], gm> {ptl.name = "x", ptl.role = "in"}, %arg1: !ptl.ref<f32[64], gm> {ptl.name = "y", ptl.role = "out"}) {
  %c64 = arith.constant 64 : index
  %c0 = arith.constant 0 : index
  ptl.parallel (%arg2) = (%c0) to (%c64) step (%c64) {
    %0 = ptl.slice %arg0[%arg2] [%c64] drop [] : <f32[64], gm> -> !ptl.array<f32[64]>
    // expected-error @+1 {{no instruction of the vector cores is chosen for this operation}}
    %1 = ptl.exp %0 : (!ptl.array<f32[64]>) -> !ptl.array<f32[64]>
    ptl.store %1, %arg1[%arg2] [%c64] drop [] : !ptl.array<f32[64]>, <f32[64], gm>
  } {ptl.core = "aiv"}
  return
}
