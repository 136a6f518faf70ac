// Arrays of four-bit elements that an entry shares with its callers: bytes, each of which holds two elements, the one at the
// even position of the last axis in the lower four bits. They stay bytes in the IR, and parts of them are unpacked where
// they are read and packed where they are written.
#pragma once

#include "ir/build/build_index.h"

namespace ptl::ir {

/// Whether an argument or a result of the entry has such a type.
bool isPackedType(BuildContext &c, const Type &type);
/// The types of the bytes, as a value and as storage.
ArrayType packedType(BuildContext &c, const Type &type);
RefType packedRefType(BuildContext &c, const Type &type);
/// The value of a local whose bytes are `bytes`.
Bound packedBound(BuildContext &c, const Type &type, mlir::Value bytes);
/// The bound of a local that an expression names, if it is packed; else null.
const Bound *packedBehind(BuildContext &c, const Expr &expr);

/// All elements.
mlir::Value unpackedWhole(BuildContext &c, const Bound &packed, mlir::Location loc);
/// Whether a box can be loaded without the rest of the array: it consists of whole bytes, or of one position of the last axis.
bool isBoxOfBytes(const Box &box);
/// The elements of such a box, which has the shape `boxExtents` (without dropped axes), and `extents` after its gathers.
mlir::Value loadPacked(BuildContext &c, const Bound &packed, const Box &box,
                       llvm::ArrayRef<Extent> boxExtents, llvm::ArrayRef<Extent> extents,
                       mlir::Location loc);
/// Stores a value to a box of whole bytes.
void storePacked(BuildContext &c, mlir::Value value, const Bound &packed, const Box &box,
                 mlir::Location loc);

/// The same numbers in a float type that has been there before they became elements of four bits; null: none has.
mlir::Value floatsBehind(BuildContext &c, mlir::Value elements);

} // namespace ptl::ir
