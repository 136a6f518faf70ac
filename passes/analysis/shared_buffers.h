// Which values lie in the same buffer, and when an operation may write its result over one.
#pragma once

#include "mlir/IR/Operation.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

namespace ptl::ir {

/// Values in value semantics and the buffers that they became. A buffer is named by any value of
/// the lower level; who asks uses the same name for all views of one.
class SharedBuffers {
public:
  /// From here on `value` lies in `buffer`, and no longer where it lay before.
  void bind(mlir::Value value, mlir::Value buffer);

  llvm::ArrayRef<mlir::Value> valuesIn(mlir::Value buffer) const;

  /// Whether `op` may write to `buffer` while it runs: none of what lies there is read behind it
  /// (`isReadAfter`), nor inside of its regions. Of its operands only those at `inPlace` may lie
  /// there: what `op` reads of them it reads where it writes, and not later.
  bool mayOverwrite(mlir::Value buffer, mlir::Operation *op,
                    llvm::ArrayRef<unsigned> inPlace = {}) const;

private:
  llvm::DenseMap<mlir::Value, mlir::Value> bufferOf_;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<mlir::Value, 2>> values_;
};

} // namespace ptl::ir
