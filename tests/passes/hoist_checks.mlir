// ARGS: --ptl-hoist-checks --canonicalize --cse --verify-each %s
// What comes out the same in every round moves before the loop, and on to before the grid; where a round may not exist it is only
// required if there is one.
func.func @invariant(%n: index, %m: index, %out: !ptl.ref<f32[N], gm>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  ptl.parallel (%i) = (%c0) to (%n) step (%c1) {
    scf.for %j = %c0 to %c8 step %c1 {
      %d = arith.subi %n, %m : index
      %holds = arith.cmpi sle, %d, %c8 : index
      ptl.check %holds, "arithmetic" "{0} is too large"(%d : index)
      %own = arith.cmpi slt, %j, %m : index
      ptl.check %own, "bounds" "{0} is outside"(%j : index)
      %later = arith.cmpi slt, %m, %n : index
      ptl.check %later, "assert" "is told of after the one before it"
    }
  }
  return
}
// A division that could fail is not done before it is known to be.
func.func @division(%n: index, %m: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %j = %c0 to %n step %c1 {
    %q = arith.divsi %n, %m : index
    %holds = arith.cmpi sle, %q, %n : index
    ptl.check %holds, "assert" "no"
  }
  return
}
