// What rounds of loops choose of an array, side by side in storage.
#pragma once

#include "ir/dialect/ptl_dialect.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

#include <optional>

namespace ptl::ir {

/// A part of an array from outside of a nest of loops, which the positions of the rounds choose.
struct PartOfRound {
  SliceOp slice;
  int64_t axis; ///< of the part: the one along which the parts of the rounds lie side by side
};

/// The part that a value of a round is, in the shape that it has in the array or in another one that keeps
/// the axis. Nothing where it is computed, or where more than arithmetic says which part it is.
std::optional<PartOfRound> partOfRound(mlir::Value value, int64_t axis,
                                       llvm::ArrayRef<mlir::scf::ForOp> loops);

/// Where parts are stored.
struct SideBySide {
  mlir::Value ref;
  mlir::Value each;                    ///< how long a part is along the axis
  llvm::ArrayRef<mlir::Value> lengths; ///< of a part
  int64_t tileBytes;
  std::string name; ///< of the extents of tiles
};

/// One grid that copies the parts of all rounds, so that no round waits for another one.
void copyParts(mlir::OpBuilder &builder, PartOfRound part, llvm::ArrayRef<mlir::scf::ForOp> loops,
               const SideBySide &to);

} // namespace ptl::ir
