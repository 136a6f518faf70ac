// Dimensions as index values, and the symbols that lengths of the entry have.
#pragma once

#include "ir/build/build_context.h"

namespace ptl::ir {

/// A dimension of the present declaration in terms of the entry's symbols.
Dim rootDim(BuildContext &c, Dim dim);
/// Its value if it is a number.
std::optional<int64_t> constantDim(BuildContext &c, Dim dim);
mlir::Value emitRoot(BuildContext &c, Dim root);
inline mlir::Value emitDim(BuildContext &c, Dim dim) { return emitRoot(c, rootDim(c, dim)); }

/// A name for a run-time length that no other length of this entry has.
SymbolId freshSymbol(BuildContext &c, const std::string &name, SymbolKind kind, mlir::Value value);
/// Says what a symbol of the present declaration is.
void bindSymbol(BuildContext &c, SymbolId symbol, mlir::Value value);
void bindSymbolConstant(BuildContext &c, SymbolId symbol, int64_t value);

/// Takes a condition for true from here on: lengths that are equal by it have one name.
void assume(BuildContext &c, const Expr &condition);
/// Those that the declaration being built asks for.
void assumeWheres(BuildContext &c);

} // namespace ptl::ir
