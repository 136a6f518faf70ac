// ARGS: --ptl-partition --canonicalize --cse --verify-each %s
// A check that holds goes away, one that cannot hold stays.
func.func @checks() {
  %true = arith.constant true
  %false = arith.constant false
  ptl.check %true, "bounds" "never shown"
  ptl.check %false, "assert" "always shown"
  return
}
