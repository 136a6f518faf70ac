// The prover as a pass: its findings as diagnostics of MLIR.
#include "ir/dialect/attributes.h"
#include "passes/prover/prover.h"

#include "ir/dialect/pto_dialect.h"

#include "mlir/Pass/Pass.h"

using namespace mlir;

namespace ptl::ir {

#define GEN_PASS_DECL_PROVE
#define GEN_PASS_DEF_PROVE
#include "passes/passes.h.inc"

namespace {

void emit(InFlightDiagnostic diagnostic, const prove::Finding &finding) {
  diagnostic << finding.code() << ": " << finding.message();
  for (const prove::Related &related : finding.related)
    diagnostic.attachNote(related.location) << related.note;
  for (const std::string &note : finding.notes)
    diagnostic.attachNote(finding.location) << note;
  if (!finding.fix.empty())
    diagnostic.attachNote(finding.location) << "help: " << finding.fix;
}

struct ProvePass : impl::ProveBase<ProvePass> {
  using ProveBase::ProveBase;

  void runOnOperation() override {
    std::string name = machine;
    if (auto named = attrs::machine.of(getOperation()); named && name.empty())
      name = named.getValue().str();
    std::optional<Machine> found = findMachine(name);
    if (!found) {
      getOperation().emitError() << "there is no machine `" << name << "`";
      return signalPassFailure();
    }
    prove::ProofResult result = prove::proveBlock(getOperation(), *found);
    for (const prove::Finding &finding : result.findings)
      emit(mlir::emitError(finding.location), finding);
    for (const prove::Finding &finding : result.undecided)
      emit(mlir::emitWarning(finding.location), finding);
    if (!result.findings.empty())
      signalPassFailure();
    markAllAnalysesPreserved();
  }
};

} // namespace
} // namespace ptl::ir
