#include "passes/lower_block/select_instructions.h"

#include "ir/dialect/attributes.h"
#include "passes/lower_block/core_marks.h"
#include "passes/lower_block/lower_bits.h"
#include "passes/lower_block/lower_elementwise.h"
#include "passes/lower_block/lower_moves.h"
#include "passes/lower_block/lower_order.h"
#include "passes/lower_block/lower_reduction.h"
#include "passes/lower_block/lower_scalars.h"
#include "passes/lower_block/lower_shape.h"
#include "passes/lower_block/lower_wide.h"

using namespace mlir;

namespace ptl::block {

/// The table, by what is asked first. Element by element is the last way.
static std::array<InstructionPatterns, 7> allPatterns() {
  return {bitPatterns(),         movePatterns(), orderPatterns(),  reductionPatterns(),
          elementwisePatterns(), widePatterns(), elementPatterns()};
}

/// The first pattern by which the machine can do an operation; `way`: only one of this name.
static const InstructionPattern *patternOf(Operation *op, const Machine &machine,
                                           llvm::StringRef way = {}) {
  for (InstructionPatterns patterns : allPatterns())
    for (const InstructionPattern &each : patterns)
      if (llvm::StringRef found = each.way(op, machine);
          !found.empty() && (way.empty() || found == way))
        return &each;
  return nullptr;
}

bool hasWay(Operation *op, const CoreAssignment &cores) {
  if (op->getNumResults() == 0 || isShared(op) ||
      isa<scf::ForOp, scf::IfOp, scf::WhileOp, ir::ParallelOp, ir::SliceOp, ir::LoadOp, ir::DimOp,
          ir::CheckOp, ir::PrintOp, ir::StoreOp>(op))
    return false;
  if (llvm::none_of(op->getOperandTypes(), ir::isArrayLike) &&
      llvm::none_of(op->getResultTypes(), ir::isArrayLike))
    return false;
  return cores.coreOf(op) == CoreKind::Vector && (cores.usesVector || !cores.usesCube());
}

bool markInstructions(ir::ParallelOp grid, const Machine &machine, const Report &report) {
  if (attrs::manual.isOn(grid))
    return true;
  CoreAssignment cores = markedCores(grid);
  return !grid.walk([&](Operation *op) {
                if (!hasWay(op, cores))
                  return WalkResult::advance();
                const InstructionPattern *pattern = patternOf(op, machine);
                if (!pattern) {
                  report(DiagId::NotOnBlockLevel, op->getLoc(),
                         {"`" + op->getName().stripDialect().str() + "`", machine.name});
                  return WalkResult::interrupt();
                }
                attrs::way.set(op, pattern->way(op, machine));
                return WalkResult::advance();
              })
              .wasInterrupted();
}

LogicalResult verifyInstructions(ir::ParallelOp grid, const Machine &machine) {
  if (attrs::manual.isOn(grid))
    return success();
  CoreAssignment cores = markedCores(grid);
  WalkResult result = grid.walk([&](Operation *op) {
    auto way = attrs::way.of(op);
    if (!hasWay(op, cores)) {
      if (!way)
        return WalkResult::advance();
      op->emitError("the vector cores have no choice of instructions for this operation");
      return WalkResult::interrupt();
    }
    if (!way) {
      op->emitError("no instruction of the vector cores is chosen for this operation");
      return WalkResult::interrupt();
    }
    if (!patternOf(op, machine, way.getValue())) {
      op->emitError("`" + machine.name + "` cannot do it by `" + way.str() + "`");
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

bool lowerInItsWay(KernelContext &c, Operation *op) {
  auto way = attrs::way.of(op);
  const InstructionPattern *pattern = way ? patternOf(op, c.machine, way.getValue()) : nullptr;
  if (pattern)
    pattern->lower(c, op);
  return pattern;
}

} // namespace ptl::block
