// Dimensions as index values.
#include "ir/build/build_dim.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace ptl::ir {

// ---- Symbols and dimensions ---------------------------------------------------------------------

Dim rootDim(BuildContext &c, Dim dim) { return c.dims.substitute(dim, c.frame->roots); }

std::optional<int64_t> constantDim(BuildContext &c, Dim dim) { return rootDim(c, dim).constant(); }

/// The name, or the name with a number that no other has: the source may have names with numbers, too, and equal names are equal lengths.
static std::string unusedName(BuildContext &c, const std::string &name) {
  unsigned &count = c.nameCounts[name];
  std::string unused = count++ == 0 ? name : "";
  while (unused.empty()) {
    std::string numbered = name + "_" + std::to_string(count - 1);
    if (c.nameCounts.try_emplace(numbered, 1).second)
      unused = numbered;
    else
      ++count;
  }
  return unused;
}

SymbolId freshSymbol(BuildContext &c, const std::string &name, SymbolKind kind, mlir::Value value) {
  // A length without a name in the source gets the name `_length`.
  std::string base = name.empty() || name.starts_with("(") ? "_length" : name;
  if (kind == SymbolKind::RangeLen && base.ends_with(".len"))
    base.resize(base.size() - 4);
  SymbolId symbol = c.dims.addSymbol(unusedName(c, base), kind);
  c.rootValues[symbol] = value;
  return symbol;
}

void bindSymbol(BuildContext &c, SymbolId symbol, mlir::Value value) {
  IntegerAttr constant;
  if (matchPattern(value, m_Constant(&constant)))
    return bindSymbolConstant(c, symbol, constant.getInt());
  const Symbol &info = c.dims.symbol(symbol);
  SymbolId root = freshSymbol(c, info.name, info.kind, value);
  c.frame->roots[symbol] = c.dims.symbolDim(root);
  // Types speak of it by this name.
  Operation *made = value.getDefiningOp();
  if (info.kind == SymbolKind::ScalarValue && made && !isa<NameLoc>(made->getLoc()))
    made->setLoc(NameLoc::get(c.b.getStringAttr(c.dims.symbol(root).name), made->getLoc()));
}

void bindSymbolConstant(BuildContext &c, SymbolId symbol, int64_t value) {
  c.frame->roots[symbol] = c.dims.constant(value);
}

static mlir::Value emitFactor(OpBuilder &builder, Location loc, mlir::Value product,
                              mlir::Value factor) {
  return product ? builder.createOrFold<arith::MulIOp>(loc, product, factor) : factor;
}

mlir::Value emitRoot(BuildContext &c, Dim root) {
  Location loc = c.place;
  auto emitAtom = [&](const DimAtom &atom) -> mlir::Value {
    switch (atom.kind) {
    case DimAtomKind::Symbol: {
      auto found = c.rootValues.find(atom.symbol);
      return found != c.rootValues.end() ? found->second : c.index(0);
    }
    case DimAtomKind::FloorDiv:
      return c.b.createOrFold<arith::FloorDivSIOp>(loc, emitRoot(c, atom.operands[0]),
                                                   emitRoot(c, atom.operands[1]));
    case DimAtomKind::Min:
    case DimAtomKind::Max: {
      mlir::Value value = emitRoot(c, atom.operands[0]);
      for (size_t i = 1; i < atom.operands.size(); ++i) {
        mlir::Value next = emitRoot(c, atom.operands[i]);
        value = atom.kind == DimAtomKind::Min ? c.b.createOrFold<arith::MinSIOp>(loc, value, next)
                                              : c.b.createOrFold<arith::MaxSIOp>(loc, value, next);
      }
      return value;
    }
    }
    return c.index(0);
  };
  mlir::Value sum;
  for (const DimTerm &term : root.terms()) {
    mlir::Value product = term.coefficient == 1 && !term.monomial->isOne()
                              ? mlir::Value()
                              : c.index(term.coefficient);
    for (const DimFactor &factor : term.monomial->factors)
      for (uint32_t i = 0; i < factor.power; ++i)
        product = emitFactor(c.b, loc, product, emitAtom(*factor.atom));
    sum = sum ? c.b.createOrFold<arith::AddIOp>(loc, sum, product) : product;
  }
  return sum ? sum : c.index(0);
}

void assume(BuildContext &c, const Expr &condition) {
  c.names.assume(condition, [&](Dim dim) { return rootDim(c, dim); });
}

void assumeWheres(BuildContext &c) {
  for (const WhereClause &clause : c.frame->decl->wheres)
    if (clause.condition)
      assume(c, *clause.condition);
}

} // namespace ptl::ir
