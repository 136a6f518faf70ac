// Describes operations of the block level beyond their text: the pipe on which they run, the memory
// that they touch, the operations that they wait for and why.
#pragma once

#include "passes/analysis/buffer_ledger.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseMap.h"

#include <functional>
#include <string>
#include <vector>

namespace ptl::worker {

/// The notes of one module of a kernel, placed or not, with events that were derived or written by
/// hand.
class BlockNotes {
public:
  /// `ledger` may lack the kernel.
  BlockNotes(mlir::ModuleOp kernel, const BufferLedger &ledger);

  /// The line of an operation in the text that is shown, from 0; nothing if it has no line.
  using LineOf = std::function<std::optional<size_t>(mlir::Operation *)>;
  /// Paragraphs of Markdown about an operation; none if there is nothing to explain.
  std::vector<std::string> of(mlir::Operation *op, const LineOf &lineOf) const;

private:
  struct Function {
    mlir::func::FuncOp op;
    std::vector<mlir::Operation *> order; ///< all operations in program order
    llvm::DenseMap<mlir::Operation *, size_t> numbers;
    const LedgerFunction *ledger = nullptr;
  };
  class Writer;

  std::vector<Function> functions_;
  llvm::DenseMap<mlir::Operation *, size_t> functionOf_;
};

} // namespace ptl::worker
