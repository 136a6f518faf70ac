// ARGS: --ptl-chunk=machine=a3 --canonicalize --cse %s
// Pages of three axes are taken as rows of memory, and nothing is copied before.
func.func @pages(%x: !ptl.array<f32[P, W, G, 4], gm>, %at: !ptl.array<i32[K], gm>, %y: !ptl.ref<f32[K, W, G, 4], gm>, %p: index {ptl.dim = "P"}, %w: index {ptl.dim = "W"}, %g: index {ptl.dim = "G"}, %k: index {ptl.dim = "K"}) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %s = ptl.slice %x[%c0, %c0, %c0, %c0] [%p, %w, %g, %c4] drop [] : <f32[P, W, G, 4], gm> -> !ptl.array<f32[P, W, G, 4]>
  %t = ptl.take %s[%at] along 0 : <f32[P, W, G, 4]>, <i32[K], gm> -> <f32[K, W, G, 4]>
  %m = ptl.mul %t, %t : (!ptl.array<f32[K, W, G, 4]>, !ptl.array<f32[K, W, G, 4]>) -> !ptl.array<f32[K, W, G, 4]>
  ptl.store %m, %y[%c0, %c0, %c0, %c0] [%k, %w, %g, %c4] drop [] : !ptl.array<f32[K, W, G, 4]>, <f32[K, W, G, 4], gm>
  return
}
// The axes behind the first become one: twice a difference, which the name of the length has in parentheses.
func.func @pairs(%x: !ptl.array<f32[P, "W - 1", 2], gm>, %at: !ptl.array<i32[K], gm>, %y: !ptl.ref<f32[K, "W - 1", 2], gm>, %p: index {ptl.dim = "P"}, %w: index {ptl.dim = "W"}, %k: index {ptl.dim = "K"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %n = arith.subi %w, %c1 : index
  %s = ptl.slice %x[%c0, %c0, %c0] [%p, %n, %c2] drop [] : <f32[P, "W - 1", 2], gm> -> !ptl.array<f32[P, "W - 1", 2]>
  %t = ptl.take %s[%at] along 0 : <f32[P, "W - 1", 2]>, <i32[K], gm> -> <f32[K, "W - 1", 2]>
  %m = ptl.mul %t, %t : (!ptl.array<f32[K, "W - 1", 2]>, !ptl.array<f32[K, "W - 1", 2]>) -> !ptl.array<f32[K, "W - 1", 2]>
  ptl.store %m, %y[%c0, %c0, %c0] [%k, %n, %c2] drop [] : !ptl.array<f32[K, "W - 1", 2]>, <f32[K, "W - 1", 2], gm>
  return
}
