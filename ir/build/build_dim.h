// Builds dimensions as index values, and manages the symbols of the entry's lengths.
#pragma once

#include "ir/build/build_context.h"

namespace ptl::ir {

/// A dimension of the present declaration, in the entry's symbols.
Dim rootDim(BuildContext &c, Dim dim);
/// The dimension's value if it is constant.
std::optional<int64_t> constantDim(BuildContext &c, Dim dim);
mlir::Value emitRoot(BuildContext &c, Dim root);
inline mlir::Value emitDim(BuildContext &c, Dim dim) { return emitRoot(c, rootDim(c, dim)); }

/// A symbol for a run-time length, with a name that no other length of this entry has.
SymbolId freshSymbol(BuildContext &c, const std::string &name, SymbolKind kind, mlir::Value value);
/// Sets the value of a symbol of the present declaration.
void bindSymbol(BuildContext &c, SymbolId symbol, mlir::Value value);
void bindSymbolConstant(BuildContext &c, SymbolId symbol, int64_t value);

/// Assumes a condition from here on: lengths that it makes equal share one name.
void assume(BuildContext &c, const Expr &condition);
/// Assumes the `where`s of the declaration being built.
void assumeWheres(BuildContext &c);

} // namespace ptl::ir
