// Kernels that are judged alike. Programs launch the same one many times, made anew each time.
#include "passes/prover/model.h"

#include "mlir/IR/Operation.h"

#include <algorithm>

namespace ptl::prove {

// Judges ask operations of what goes through queues for its types and for how it is split.
static bool areAlike(mlir::Operation *a, mlir::Operation *b) {
  return a->getName() == b->getName() && a->getAttr("split") == b->getAttr("split") &&
         a->getOperandTypes() == b->getOperandTypes() && a->getResultTypes() == b->getResultTypes();
}

static bool areAlike(const Function &a, const Function &b) {
  return a.cube == b.cube && a.registers == b.registers && a.usesSubBlock == b.usesSubBlock &&
         a.bodies == b.bodies;
}

static bool areAlike(const Input &a, const Input &b) {
  return a.role == b.role && a.boolean == b.boolean;
}

bool Kernel::isLike(const Kernel &other) const {
  // Names are not compared: they occur in messages alone.
  auto alike = [](const auto &one, const auto &two) {
    return one.size() == two.size() &&
           std::equal(one.begin(), one.end(), two.begin(),
                      [](const auto &a, const auto &b) { return areAlike(a, b); });
  };
  // The cheap comparisons come first; operations are the longest list.
  return alike(functions, other.functions) && alike(inputs, other.inputs) &&
         shapes == other.shapes && queues == other.queues && inside == other.inside &&
         pointers.size() == other.pointers.size() && prints == other.prints && held == other.held &&
         constants == other.constants && eventIds == other.eventIds && crossIds == other.crossIds &&
         crossCount == other.crossCount && crossReserved == other.crossReserved &&
         queueFlags == other.queueFlags && awaitStopsCore == other.awaitStopsCore &&
         group == other.group && groups == other.groups && byHand == other.byHand &&
         rotation == other.rotation && size == other.size && alike(operations, other.operations);
}

} // namespace ptl::prove
