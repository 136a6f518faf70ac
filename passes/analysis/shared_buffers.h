// Tracks which values share a buffer, and decides when an operation may overwrite a value with its
// result.
#pragma once

#include "mlir/IR/Operation.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

namespace ptl::ir {

/// The buffers of SSA values. A buffer is identified by any value of the lower level; the caller
/// must use the same one for all views of a buffer.
class SharedBuffers {
public:
  /// Puts `value` into `buffer` from here on; it is removed from its previous buffer.
  void bind(mlir::Value value, mlir::Value buffer);

  llvm::ArrayRef<mlir::Value> valuesIn(mlir::Value buffer) const;

  /// Whether `op` may write to `buffer` while it executes. No value in the buffer may be read after
  /// `op` (`isReadAfter`), or inside its regions. Of its operands, only those at `inPlace` may be
  /// in the buffer: the operation reads each of their elements before it writes that element.
  bool mayOverwrite(mlir::Value buffer, mlir::Operation *op,
                    llvm::ArrayRef<unsigned> inPlace = {}) const;

private:
  llvm::DenseMap<mlir::Value, mlir::Value> bufferOf_;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<mlir::Value, 2>> values_;
};

} // namespace ptl::ir
