// Explains operations of the block level beyond their text: the pipe that executes them, the memory
// that they access, and the operations that they wait for, with the reason.
#pragma once

#include "passes/analysis/buffer_ledger.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseMap.h"

#include <functional>
#include <string>
#include <vector>

namespace ptl::worker {

/// The notes of one kernel's module, with or without addresses; events may be derived or written by
/// hand.
class BlockNotes {
public:
  /// `ledger` need not contain the kernel.
  BlockNotes(mlir::ModuleOp kernel, const BufferLedger &ledger);

  /// The line of an operation in the shown text, from 0; nothing if it has no line.
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
