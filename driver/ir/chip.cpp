// From tile level to the block level of a chip.
#include "driver/ir/compiler.h"
#include "ir/build/source_range.h"
#include "passes/passes.h"

#include "mlir/Pass/PassManager.h"

namespace ptl {

/// The innermost place in the source that a location stands for.
static Span spanOf(mlir::Location location) {
  std::vector<Span> spans = ir::rangesOf(location);
  return spans.empty() ? kNoSpan : spans.front();
}

std::optional<block::BlockProgram> Compiler::lowerToChip(mlir::ModuleOp module) {
  if (!tile(module))
    return std::nullopt;
  step("lower-block");
  messages_.clear();
  size_t errors = sink_.errorCount();
  block::Report report = [&](DiagId id, mlir::Location location, std::vector<std::string> arguments) {
    sink_.report(id, spanOf(location), std::move(arguments));
  };
  std::optional<block::BlockProgram> program = block::lowerToBlocks(module, *options_.chip, {}, report);
  if (!program && sink_.errorCount() == errors)
    reportFault("lower-block", messages_, module);
  return program;
}

} // namespace ptl
