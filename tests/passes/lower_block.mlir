// ARGS: --ptl-outline --ptl-assign-cores --ptl-plan-queues=machine=a3 --ptl-stage-operands=machine=a3 --ptl-cut-products=machine=a3 --ptl-stage-loops=machine=a3 --ptl-select-instructions=machine=a3 --ptl-lower-block=machine=a3 --verify-each %s
// A kernel in a module of its own: buffers without addresses, nothing in order yet.
func.func @ptl_doubled(%x: !ptl.array<f32[N], gm> {ptl.name = "x"}, %y: !ptl.ref<f32[N], gm> {ptl.output = "y"}, %n: index {ptl.dim = "N"}) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  ptl.parallel (%i) = (%c0) to (%n) step (%c64) {
    %left = arith.subi %n, %i : index
    %rows = arith.minsi %left, %c64 : index
    %a = ptl.slice %x[%i] [%rows] drop [] : <f32[N], gm> -> !ptl.array<f32[i:64]>
    %b = ptl.add %a, %a : (!ptl.array<f32[i:64]>, !ptl.array<f32[i:64]>) -> !ptl.array<f32[i:64]>
    ptl.store %b, %y[%i] [%rows] drop [] : !ptl.array<f32[i:64]>, <f32[N], gm>
  }
  return
}
