// Types of the language as types of the IR.
#include "ir/build/build_type.h"
#include "ir/build/build_dim.h"

using namespace mlir;

namespace ptl::ir {

ElemKind elemKind(BuildContext &c, const Elem &elem) {
  if (!elem.param)
    return elem.kind;
  const auto &params = c.frame->decl->typeParams;
  for (size_t i = 0; i < params.size(); ++i)
    if (params[i] == elem.param)
      return elem.acc ? accOf(c.frame->elems[i]) : c.frame->elems[i];
  return ElemKind::F32;
}

Extent rootExtent(BuildContext &c, Dim length, Dim capacity) {
  if (std::optional<int64_t> constant = length.constant())
    return Extent::constant(*constant);
  std::optional<int64_t> bound = capacity.constant();
  if (Dim name = c.names.nameOf(length); name != length) {
    length = name;
    if (std::optional<int64_t> least = bound ? c.names.upperBound(name) : std::nullopt)
      bound = std::min(*bound, *least);
  }
  if (std::optional<SymbolId> symbol = length.symbol(); symbol && !bound)
    if (auto found = c.capacities.find(*symbol); found != c.capacities.end())
      bound = found->second;
  return Extent::named(c.b.getStringAttr(c.dims.toString(length)),
                       bound.value_or(Extent::kUnknown));
}

static Extent irExtent(BuildContext &c, const ptl::Extent &extent) {
  Dim capacity = extent.capacity ? rootDim(c, extent.capacity) : Dim();
  return rootExtent(c, rootDim(c, extent.length), capacity);
}

llvm::SmallVector<Extent> irExtents(BuildContext &c, const Type &type) {
  llvm::SmallVector<Extent> extents;
  if (type.prefix)
    for (Dim length : c.frame->prefix)
      extents.push_back(rootExtent(c, length, Dim()));
  for (const ptl::Extent &extent : type.extents)
    extents.push_back(irExtent(c, extent));
  return extents;
}

mlir::Type irType(BuildContext &c, const Type &type) {
  mlir::Type element = scalarType(c.context, elemKind(c, type.elem));
  if (!type.isArray())
    return element;
  return ArrayType::get(&c.context, element, irExtents(c, type), static_cast<Place>(type.place));
}

RefType refType(BuildContext &c, const Type &type) {
  return RefType::get(&c.context, scalarType(c.context, elemKind(c, type.elem)), irExtents(c, type),
                      Place::Gm);
}

llvm::SmallVector<mlir::Value> namedLengths(BuildContext &c, const Type &type) {
  llvm::SmallVector<mlir::Value> lengths;
  auto add = [&](Dim root) {
    if (!root.isConstant())
      lengths.push_back(emitRoot(c, root));
  };
  if (type.prefix)
    for (Dim length : c.frame->prefix)
      add(length);
  for (const ptl::Extent &extent : type.extents)
    add(rootDim(c, extent.length));
  return lengths;
}

mlir::Value lengthOf(BuildContext &c, mlir::Value arrayOrRef, int64_t axis) {
  auto array = dyn_cast<ArrayType>(arrayOrRef.getType());
  auto extents = array ? array.getExtents() : cast<RefType>(arrayOrRef.getType()).getExtents();
  const Extent &extent = extents[static_cast<size_t>(axis)];
  if (extent.isConstant())
    return c.index(extent.length);
  return c.make<DimOp>(c.place, c.b.getIndexType(), arrayOrRef, static_cast<uint64_t>(axis));
}

} // namespace ptl::ir
