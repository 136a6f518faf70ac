// The state of building one manual kernel.
#pragma once

#include "frontend/sema/block/checked_block.h"
#include "ir/build/build_context.h"
#include "ir/dialect/instruction_op.h"
#include "machines/machine.h"

#include "mlir/IR/Matchers.h"

namespace ptl::ir {

/// An array in global memory: a pointer, extents and strides in elements.
struct TensorView {
  mlir::Value pointer;
  llvm::SmallVector<mlir::Value> dims, strides;
  mlir::Type element;
  mlir::StringAttr name;
  bool transposed = false; ///< `dn`
};

struct ManualState {
  const Machine *machine = nullptr;
  ParallelOp grid;
  std::map<const Local *, PointerOp> pointers;
  std::map<const Local *, std::pair<bool, bool>> uses; ///< of arrays: read, written
  std::map<const Local *, TensorView> views;           ///< of `let v = make_tensor_view(…)`
  std::map<const Local *, const Local *> tensors;      ///< of `let`s that are parts of a tensor
  std::map<const Local *, int64_t> ids;                ///< first id of each event
};

/// The value's constant if it is known, otherwise `pto::kDynamic`.
inline int64_t extentOf(mlir::Value value) {
  mlir::IntegerAttr number;
  return mlir::matchPattern(value, mlir::m_Constant(&number)) ? number.getInt() : pto::kDynamic;
}
inline bool isZero(mlir::Value value) { return mlir::matchPattern(value, mlir::m_Zero()); }

} // namespace ptl::ir
