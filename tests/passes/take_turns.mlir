// ARGS: --ptl-chunk=machine=a3 --canonicalize --cse %s
// Each round needs elements of the old state at other places: two storages take turns, and the last of an odd number of rounds is copied.
func.func @turned(%x: !ptl.array<f32[N, N], gm>, %y: !ptl.ref<f32[N, N], gm> {ptl.output = "y"}, %n: index {ptl.dim = "N"}, %steps: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s = scf.for %i = %c0 to %steps step %c1 iter_args(%a = %x) -> (!ptl.array<f32[N, N], gm>) {
    %p = ptl.transpose %a {axes = array<i64: 1, 0>} : (!ptl.array<f32[N, N], gm>) -> !ptl.array<f32[N, N]>
    %q = ptl.add %p, %p : (!ptl.array<f32[N, N]>, !ptl.array<f32[N, N]>) -> !ptl.array<f32[N, N], gm>
    scf.yield %q : !ptl.array<f32[N, N], gm>
  }
  ptl.store %s, %y[%c0, %c0] [%n, %n] drop [] : !ptl.array<f32[N, N], gm>, <f32[N, N], gm>
  return
}
