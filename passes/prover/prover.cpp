#include "passes/prover/prover.h"

#include "passes/prover/hazards.h"
#include "passes/prover/prove_kernel.h"
#include "passes/prover/read.h"

#include "mlir/IR/Operation.h"

namespace ptl::prove {

static void proveKernel(const Kernel &kernel, const Machine &machine, Findings &findings,
                        const Kernel *sizesOf = nullptr) {
  judgeQueues(kernel, machine, findings);
  RangeTable ranges;
  auto judge = [&](const Inputs &inputs, const Execution &execution) {
    judgeExecution(kernel, inputs, execution, ranges, machine, findings);
  };
  forEachExecution(kernel, ranges, findings, judge, sizesOf);
}

// A missing order that two others would give. Those that are dropped support no others, so that of
// a circle something stays.
static bool follows(const std::vector<Finding> &findings, const std::vector<bool> &dropped,
                    const Finding &last) {
  for (size_t i = 0; i < findings.size(); ++i) {
    const Finding &one = findings[i];
    if (dropped[i] || one.first != last.first || one.operation == last.operation ||
        one.operation == last.first)
      continue;
    for (size_t j = 0; j < findings.size(); ++j) {
      const Finding &two = findings[j];
      if (!dropped[j] && two.first == one.operation && two.operation == last.operation &&
          one.earlierTurn + two.earlierTurn <= last.earlierTurn)
        return true;
    }
  }
  return false;
}

// Where a buffer is overwritten, the missing orders between its users and those of the other buffer
// say the same again.
static void dropConsequences(ProofResult &result) {
  bool overwritten = false;
  for (const Finding &finding : result.findings)
    overwritten |= finding.id == DiagId::ValueOverwritten;
  if (overwritten)
    std::erase_if(result.findings, [](const Finding &finding) { return finding.sharedBytes; });
  std::vector<bool> dropped(result.findings.size());
  for (size_t i = 0; i < dropped.size(); ++i)
    dropped[i] = result.findings[i].first && follows(result.findings, dropped, result.findings[i]);
  size_t index = 0;
  std::erase_if(result.findings, [&](const Finding &) { return dropped[index++]; });
}

ProofResult proveBlock(mlir::ModuleOp module, const Machine &machine) {
  Findings findings;
  std::vector<Kernel> kernels = readKernels(module, machine, findings);
  for (const Kernel &kernel : kernels)
    proveKernel(kernel, machine, findings);
  // Every point is to begin and end alike: by hand it may go by which one it is, and another core
  // group has others, of the same sizes.
  if (module->hasAttr("ptl.manual") && findings.faults() == 0) {
    std::vector<Kernel> others = readKernels(module, machine, findings, /*group=*/1, /*groups=*/2);
    for (size_t i = 0; i < others.size(); ++i)
      proveKernel(others[i], machine, findings, &kernels[i]);
  }
  dropConsequences(findings.result());
  return std::move(findings.result());
}

} // namespace ptl::prove
