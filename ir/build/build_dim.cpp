// Dimensions as index values, and types of the language as types of the IR.
#include "ir/build/build_context.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace ptl::ir {

// ---- Symbols and dimensions ---------------------------------------------------------------------

Dim Builder::rootDim(Dim dim) { return dims_.substitute(dim, frame_->roots); }

std::optional<int64_t> Builder::constantDim(Dim dim) { return rootDim(dim).constant(); }

/// A name for a run-time length that no other length of this entry has.
SymbolId Builder::freshSymbol(const std::string &name, SymbolKind kind, mlir::Value value) {
  // What the source has no name for is no name of its own.
  std::string base = name.empty() || name.starts_with("(") ? "_length" : name;
  if (kind == SymbolKind::RangeLen && base.ends_with(".len"))
    base.resize(base.size() - 4);
  unsigned count = nameCounts_[base]++;
  if (count > 0)
    base += "_" + std::to_string(count);
  SymbolId symbol = dims_.addSymbol(base, kind);
  rootValues_[symbol] = value;
  return symbol;
}

void Builder::bindSymbol(SymbolId symbol, mlir::Value value) {
  IntegerAttr constant;
  if (matchPattern(value, m_Constant(&constant)))
    return bindSymbolConstant(symbol, constant.getInt());
  const Symbol &info = dims_.symbol(symbol);
  SymbolId root = freshSymbol(info.name, info.kind, value);
  frame_->roots[symbol] = dims_.symbolDim(root);
  // Types speak of it by this name.
  Operation *made = value.getDefiningOp();
  if (info.kind == SymbolKind::ScalarValue && made && !isa<NameLoc>(made->getLoc()))
    made->setLoc(NameLoc::get(builder_.getStringAttr(dims_.symbol(root).name), made->getLoc()));
}

void Builder::bindSymbolConstant(SymbolId symbol, int64_t value) {
  frame_->roots[symbol] = dims_.constant(value);
}

static mlir::Value emitFactor(OpBuilder &builder, Location loc, mlir::Value product,
                              mlir::Value factor) {
  return product ? builder.createOrFold<arith::MulIOp>(loc, product, factor) : factor;
}

mlir::Value Builder::emitRoot(Dim root) {
  Location loc = place_;
  auto emitAtom = [&](const DimAtom &atom) -> mlir::Value {
    switch (atom.kind) {
    case DimAtomKind::Symbol: {
      auto found = rootValues_.find(atom.symbol);
      return found != rootValues_.end() ? found->second : index(0);
    }
    case DimAtomKind::FloorDiv:
      return builder_.createOrFold<arith::FloorDivSIOp>(loc, emitRoot(atom.operands[0]),
                                                        emitRoot(atom.operands[1]));
    case DimAtomKind::Min:
    case DimAtomKind::Max: {
      mlir::Value value = emitRoot(atom.operands[0]);
      for (size_t i = 1; i < atom.operands.size(); ++i) {
        mlir::Value next = emitRoot(atom.operands[i]);
        value = atom.kind == DimAtomKind::Min
                    ? builder_.createOrFold<arith::MinSIOp>(loc, value, next)
                    : builder_.createOrFold<arith::MaxSIOp>(loc, value, next);
      }
      return value;
    }
    }
    return index(0);
  };
  mlir::Value sum;
  for (const DimTerm &term : root.terms()) {
    mlir::Value product =
        term.coefficient == 1 && !term.monomial->isOne() ? mlir::Value() : index(term.coefficient);
    for (const DimFactor &factor : term.monomial->factors)
      for (uint32_t i = 0; i < factor.power; ++i)
        product = emitFactor(builder_, loc, product, emitAtom(*factor.atom));
    sum = sum ? builder_.createOrFold<arith::AddIOp>(loc, sum, product) : product;
  }
  return sum ? sum : index(0);
}

mlir::Value Builder::index(int64_t value) {
  return builder_.create<arith::ConstantIndexOp>(place_, value);
}

// ---- Types --------------------------------------------------------------------------------------

ElemKind Builder::elemKind(const Elem &elem) {
  if (!elem.param)
    return elem.kind;
  const auto &params = frame_->decl->typeParams;
  for (size_t i = 0; i < params.size(); ++i)
    if (params[i] == elem.param)
      return elem.acc ? accOf(frame_->elems[i]) : frame_->elems[i];
  return ElemKind::F32;
}

void Builder::assume(const Expr &condition) {
  names_.assume(condition, [&](Dim dim) { return rootDim(dim); });
}

void Builder::assumeWheres() {
  for (const WhereClause &clause : frame_->decl->wheres)
    if (clause.condition)
      assume(*clause.condition);
}

Extent Builder::irRootExtent(Dim length, Dim capacity) {
  if (std::optional<int64_t> constant = length.constant())
    return Extent::constant(*constant);
  std::optional<int64_t> bound = capacity.constant();
  if (Dim name = names_.nameOf(length); name != length) {
    length = name;
    if (std::optional<int64_t> least = bound ? names_.upperBound(name) : std::nullopt)
      bound = std::min(*bound, *least);
  }
  if (std::optional<SymbolId> symbol = length.symbol(); symbol && !bound)
    if (auto found = capacities_.find(*symbol); found != capacities_.end())
      bound = found->second;
  return Extent::named(builder_.getStringAttr(dims_.toString(length)),
                       bound.value_or(Extent::kUnknown));
}

Extent Builder::irExtent(const ptl::Extent &extent) {
  Dim capacity = extent.capacity ? rootDim(extent.capacity) : Dim();
  return irRootExtent(rootDim(extent.length), capacity);
}

llvm::SmallVector<Extent> Builder::irExtents(const Type &type) {
  llvm::SmallVector<Extent> extents;
  if (type.prefix)
    for (Dim length : frame_->prefix)
      extents.push_back(irRootExtent(length, Dim()));
  for (const ptl::Extent &extent : type.extents)
    extents.push_back(irExtent(extent));
  return extents;
}

mlir::Type Builder::irType(const Type &type) {
  mlir::Type element = scalarType(context_, elemKind(type.elem));
  if (!type.isArray())
    return element;
  return ArrayType::get(&context_, element, irExtents(type), static_cast<Place>(type.place));
}

RefType Builder::refType(const Type &type) {
  return RefType::get(&context_, scalarType(context_, elemKind(type.elem)), irExtents(type),
                      Place::Gm);
}

llvm::SmallVector<mlir::Value> Builder::namedLengths(const Type &type) {
  llvm::SmallVector<mlir::Value> lengths;
  auto add = [&](Dim root) {
    if (!root.isConstant())
      lengths.push_back(emitRoot(root));
  };
  if (type.prefix)
    for (Dim length : frame_->prefix)
      add(length);
  for (const ptl::Extent &extent : type.extents)
    add(rootDim(extent.length));
  return lengths;
}

mlir::Value Builder::lengthOf(mlir::Value arrayOrRef, int64_t axis) {
  auto array = dyn_cast<ArrayType>(arrayOrRef.getType());
  auto extents = array ? array.getExtents() : cast<RefType>(arrayOrRef.getType()).getExtents();
  const Extent &extent = extents[static_cast<size_t>(axis)];
  if (extent.isConstant())
    return index(extent.length);
  return make<DimOp>(place_, builder_.getIndexType(), arrayOrRef, static_cast<uint64_t>(axis));
}

} // namespace ptl::ir
