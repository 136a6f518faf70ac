// ARGS: --ptl-chunk=machine=a3 --canonicalize --cse %s
// Two long rows are summed in pieces, by all cores.
func.func @few(%x: !ptl.array<f32[2, 65536], gm>, %y: !ptl.ref<f32[2, 1], gm>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %s = ptl.reduce_sum %x {axes = array<i64: 1>} : (!ptl.array<f32[2, 65536], gm>) -> !ptl.array<f32[2, 1]>
  ptl.store %s, %y[%c0, %c0] [%c2, %c1] drop [] : !ptl.array<f32[2, 1]>, <f32[2, 1], gm>
  return
}

// Many rows keep all cores busy.
func.func @many(%x: !ptl.array<f32[400, 65536], gm>, %y: !ptl.ref<f32[400, 1], gm>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c400 = arith.constant 400 : index
  %s = ptl.reduce_sum %x {axes = array<i64: 1>} : (!ptl.array<f32[400, 65536], gm>) -> !ptl.array<f32[400, 1]>
  ptl.store %s, %y[%c0, %c0] [%c400, %c1] drop [] : !ptl.array<f32[400, 1]>, <f32[400, 1], gm>
  return
}

// A leading axis is cut, too.
func.func @leading(%x: !ptl.array<f32[65536, 2], gm>, %y: !ptl.ref<f32[1, 2], gm>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %s = ptl.reduce_sum %x {axes = array<i64: 0>} : (!ptl.array<f32[65536, 2], gm>) -> !ptl.array<f32[1, 2]>
  ptl.store %s, %y[%c0, %c0] [%c1, %c2] drop [] : !ptl.array<f32[1, 2]>, <f32[1, 2], gm>
  return
}

// Of lengths that are not known: a branch decides.
func.func @unknown(%x: !ptl.array<f32[N, M], gm>, %y: !ptl.ref<f32[1, M], gm>, %n: index {ptl.dim = "N"}, %m: index {ptl.dim = "M"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s = ptl.reduce_sum %x {axes = array<i64: 0>} : (!ptl.array<f32[N, M], gm>) -> !ptl.array<f32[1, M]>
  ptl.store %s, %y[%c0, %c0] [%c1, %m] drop [] : !ptl.array<f32[1, M]>, <f32[1, M], gm>
  return
}

// A piece of a running sum begins with what those before it come to.
func.func @scan(%x: !ptl.array<f32[16, 32000], gm>, %y: !ptl.ref<f32[16, 32000], gm>) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c32000 = arith.constant 32000 : index
  %s = ptl.cumsum %x {axis = 1 : i64} : (!ptl.array<f32[16, 32000], gm>) -> !ptl.array<f32[16, 32000]>
  ptl.store %s, %y[%c0, %c0] [%c16, %c32000] drop [] : !ptl.array<f32[16, 32000]>, <f32[16, 32000], gm>
  return
}
