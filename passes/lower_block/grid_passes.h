// The passes on tiles between legalisation for a chip and instruction selection: their order, and
// the state that they share.
#pragma once

#include "passes/lower_block/lower_block.h"

#include "ir/dialect/ptl_dialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ptl::block {

/// Records the options of a grid's lowering as an attribute; defaults are left out.
void setChoices(ir::ParallelOp grid, const LowerOptions &options);
LowerOptions choicesOf(ir::ParallelOp grid);
/// Parses one option: `0.parts=2` makes the first grid process its tiles in two parts. False if the
/// text is not an option.
bool readChoice(llvm::StringRef text, std::vector<LowerOptions> &byGrid);

/// The input and the output of such passes.
struct GridContext {
  const Machine &machine;
  const Report &report;
  llvm::MutableArrayRef<std::optional<LedgerParts>> parts; ///< by grid; may be empty
  std::optional<size_t> uncut; ///< the grid whose tiles cannot be cut as its options require
  llvm::ArrayRef<LowerOptions> choices = {}; ///< by grid; missing ones have the defaults
  llvm::ArrayRef<size_t> numbers = {};       ///< of the grids of the function; empty: 0, 1, 2 …
};

struct GridPass {
  const char *name; ///< on the command line of ptl-opt
  /// Transforms one grid, which may be replaced. False after an error or with `uncut`.
  bool (*run)(ir::ParallelOp grid, size_t number, GridContext &context);
};

/// The passes on grids inside the original function, in order.
llvm::ArrayRef<GridPass> gridPasses();
/// The passes on functions that `outlineGrid` has made, in order.
llvm::ArrayRef<GridPass> kernelPasses();
/// Runs a pass on every grid of a function that becomes a kernel.
bool runGridPass(const GridPass &pass, mlir::func::FuncOp function, GridContext &context);

} // namespace ptl::block
