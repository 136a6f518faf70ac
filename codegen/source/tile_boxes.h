// Parts of arrays: what stands before and in the brackets of an index.
#pragma once

#include "codegen/source/body_code.h"
#include "ir/dialect/ptl_dialect.h"

namespace ptl::source {

/// The name of a whole array that is stored under another name, else the value in brackets.
std::string baseText(BodyCode &code, mlir::Value array);

/// Whether a box is all of its array. `steps` may be empty.
bool isWholeBox(BodyCode &code, mlir::Value base, mlir::OperandRange offsets,
                mlir::OperandRange lengths, mlir::OperandRange steps,
                llvm::ArrayRef<int64_t> dropped);

/// A box that is written to: `base[…]`, with the array of positions `scatter` on its axis unless
/// that is null.
std::string boxText(BodyCode &code, mlir::Value base, mlir::OperandRange offsets,
                    mlir::OperandRange lengths, mlir::OperandRange steps,
                    llvm::ArrayRef<int64_t> dropped, mlir::Value scatter, int64_t scatterAxis);

/// A slice, load, take or new axis as one index, together with those that it is of, if these are
/// written in it.
std::string indexedText(BodyCode &code, mlir::Operation *op);

} // namespace ptl::source
