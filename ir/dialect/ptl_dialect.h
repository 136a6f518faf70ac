// The `ptl` dialect: types and operations. See README.md in this folder.
#pragma once

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/DenseMap.h"

#include <cstdint>

namespace mlir {
class PatternRewriter;
} // namespace mlir

namespace ptl::ir {

/// The memory of an array; `Inferred` until it is decided. `ScaleLeft` and `ScaleRight` hold the
/// scales of the operands of block-scaled products.
enum class Place : uint8_t {
  Inferred,
  Gm,
  Vec,
  Mat,
  Left,
  Right,
  Acc,
  Bias,
  Scale,
  ScaleLeft,
  ScaleRight
};

/// One axis: a constant, or the name of a run-time length with an optional capacity.
struct Extent {
  static constexpr int64_t kUnknown = -1;

  int64_t length = kUnknown;   ///< the constant, or `kUnknown` if `symbol` names it
  int64_t capacity = kUnknown; ///< static upper bound of the length; equals `length` for a constant
  mlir::StringAttr symbol;     ///< null for constants

  static Extent constant(int64_t length) { return {length, length, {}}; }
  static Extent named(mlir::StringAttr symbol, int64_t capacity = kUnknown) {
    return {kUnknown, capacity, symbol};
  }
  bool isConstant() const { return length != kUnknown; }
  bool isOne() const { return length == 1; }
  bool operator==(const Extent &) const = default;
};

inline llvm::hash_code hash_value(const Extent &extent) {
  return llvm::hash_combine(extent.length, extent.capacity, extent.symbol);
}

llvm::StringRef placeName(Place place);

} // namespace ptl::ir

#include "ir/dialect/ptl_dialect.h.inc"

#define GET_TYPEDEF_CLASSES
#include "ir/dialect/ptl_types.h.inc"

#define GET_OP_CLASSES
#include "ir/dialect/structure.h.inc"

#define GET_OP_CLASSES
#include "ir/dialect/ops.h.inc"

namespace ptl::ir {

/// The extents of an array or ref; empty for scalars.
llvm::ArrayRef<Extent> extentsOf(mlir::Type type);
/// The element type of an array or ref; the type itself for scalars.
mlir::Type elementTypeOf(mlir::Type type);
/// Whether values of the type are arrays: as values, or as storage of them.
inline bool isArrayLike(mlir::Type type) { return mlir::isa<ArrayType, RefType>(type); }
/// The type of an array whose place is not chosen yet.
inline ArrayType arrayTypeOf(mlir::Type elem, llvm::ArrayRef<Extent> extents) {
  return ArrayType::get(elem.getContext(), elem, extents, Place::Inferred);
}
inline int64_t rankOf(mlir::Type type) { return static_cast<int64_t>(extentsOf(type).size()); }

} // namespace ptl::ir
