// ARGS: --ptl-simplify %s
// Branches by one condition become one although storage is made between them; what its arms alone use is made in them.
func.func @two(%x: !ptl.array<f32[N], gm>, %y: !ptl.ref<f32[N], gm>, %n: index {ptl.dim = "N"}) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %few = arith.cmpi sle, %n, %c8 : index
  %a = ptl.alloc(%n) : !ptl.ref<f32[N]>
  scf.if %few {
    ptl.store %x, %a[%c0] [%n] drop [] : !ptl.array<f32[N], gm>, <f32[N]>
  } else {
    %t = ptl.exp %x : (!ptl.array<f32[N], gm>) -> !ptl.array<f32[N]>
    ptl.store %t, %a[%c0] [%n] drop [] : !ptl.array<f32[N]>, <f32[N]>
  }
  %b = ptl.alloc(%n) : !ptl.ref<f32[N]>
  scf.if %few {
    %v = ptl.load %a[%c0] [%n] drop [] : <f32[N]> -> !ptl.array<f32[N]>
    ptl.store %v, %b[%c0] [%n] drop [] : !ptl.array<f32[N]>, <f32[N]>
  } else {
    %v = ptl.load %a[%c0] [%n] drop [] : <f32[N]> -> !ptl.array<f32[N]>
    %t = ptl.abs %v : (!ptl.array<f32[N]>) -> !ptl.array<f32[N]>
    ptl.store %t, %b[%c0] [%n] drop [] : !ptl.array<f32[N]>, <f32[N]>
  }
  // This one is read behind the branch, so it stays before it.
  %r = ptl.load %b[%c0] [%n] drop [] : <f32[N]> -> !ptl.array<f32[N]>
  ptl.store %r, %y[%c0] [%n] drop [] : !ptl.array<f32[N]>, <f32[N], gm>
  return
}
