// Copies the parts of an array that the iterations of loops read next to each other in storage.
#pragma once

#include "ir/dialect/ptl_dialect.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

#include <optional>

namespace ptl::ir {

/// A part of an array from outside a nest of loops, selected by the positions of the iterations.
struct PartOfRound {
  SliceOp slice;
  int64_t axis; ///< of the part: the axis along which the parts of the iterations are concatenated
};

/// The part that a value in an iteration is, in its shape in the array or in another one that keeps
/// the axis. Nothing if the value is computed, or if its position needs more than arithmetic.
std::optional<PartOfRound> partOfRound(mlir::Value value, int64_t axis,
                                       llvm::ArrayRef<mlir::scf::ForOp> loops);

/// The storage of the parts.
struct SideBySide {
  mlir::Value ref;
  mlir::Value each;                    ///< length of a part along the axis
  llvm::ArrayRef<mlir::Value> lengths; ///< of a part
  int64_t tileBytes;
  std::string name; ///< of the extents of tiles
};

/// Emits one grid that copies the parts of all iterations, so that iterations do not depend on each
/// other.
void copyParts(mlir::OpBuilder &builder, PartOfRound part, llvm::ArrayRef<mlir::scf::ForOp> loops,
               const SideBySide &to);

} // namespace ptl::ir
