// Parts of arrays: the text in front of and inside the brackets of an index expression.
#pragma once

#include "codegen/source/body_code.h"
#include "ir/dialect/ptl_dialect.h"

namespace ptl::source {

/// The name of an array that is stored as a whole under another name, otherwise the value in
/// parentheses.
std::string baseText(BodyCode &code, mlir::Value array);

/// Whether a box covers all of its array. `steps` may be empty.
bool isWholeBox(BodyCode &code, mlir::Value base, mlir::OperandRange offsets,
                mlir::OperandRange lengths, mlir::OperandRange steps,
                llvm::ArrayRef<int64_t> dropped);

/// A box that is written to: `base[…]`, with the array of positions `scatter` on its axis if that
/// is not null.
std::string boxText(BodyCode &code, mlir::Value base, mlir::OperandRange offsets,
                    mlir::OperandRange lengths, mlir::OperandRange steps,
                    llvm::ArrayRef<int64_t> dropped, mlir::Value scatter, int64_t scatterAxis);

/// A slice, load, take or new axis as one index expression; nested ones are merged into it if they
/// are printed inline.
std::string indexedText(BodyCode &code, mlir::Operation *op);

} // namespace ptl::source
