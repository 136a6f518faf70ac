// Tracks which values share a buffer, and decides when an operation may write its result over a
// value.
#pragma once

#include "mlir/IR/Operation.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

namespace ptl::ir {

/// The buffers of values in value semantics. A buffer is named by any value of the lower level; the
/// caller uses one name for all views of a buffer.
class SharedBuffers {
public:
  /// Puts `value` into `buffer`, from here on; it is no longer where it was before.
  void bind(mlir::Value value, mlir::Value buffer);

  llvm::ArrayRef<mlir::Value> valuesIn(mlir::Value buffer) const;

  /// Whether `op` may write to `buffer` while it runs. No value there may be read behind it
  /// (`isReadAfter`), nor inside its regions. Of its operands, only those at `inPlace` may be
  /// there: the operation reads these where it writes, and not later.
  bool mayOverwrite(mlir::Value buffer, mlir::Operation *op,
                    llvm::ArrayRef<unsigned> inPlace = {}) const;

private:
  llvm::DenseMap<mlir::Value, mlir::Value> bufferOf_;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<mlir::Value, 2>> values_;
};

} // namespace ptl::ir
