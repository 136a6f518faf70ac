#include "frontend/sema/types/capacity.h"

#include "frontend/sema/types/make_type.h"

#include <algorithm>

namespace ptl {

static bool isStaticSymbol(const Context &ctx, SymbolId symbol) {
  if (ctx.dims.symbol(symbol).kind == SymbolKind::Tunable)
    return true;
  return std::find(ctx.staticSymbols.begin(), ctx.staticSymbols.end(), symbol) !=
         ctx.staticSymbols.end();
}

bool isStaticDim(Context &ctx, Dim dim) {
  bool isStatic = true;
  forEachSymbol(dim, [&](SymbolId symbol) { isStatic = isStatic && isStaticSymbol(ctx, symbol); });
  return isStatic;
}

Dim capacityOf(Context &ctx, Dim length) {
  if (!length || isStaticDim(ctx, length))
    return length;
  // Only kernels need bounds; in a `fn` the argument brings its own.
  if (!ctx.inKernel())
    return {};
  if (!ctx.capacityFacts.isSame(ctx.facts)) {
    ctx.capacityCache.clear();
    ctx.capacityFacts = ctx.facts;
  }
  auto [slot, isNew] = ctx.capacityCache.try_emplace(length.id());
  if (isNew)
    slot->second = ctx.facts.symbolicUpperBound(
        length, [&](SymbolId symbol) { return isStaticSymbol(ctx, symbol); });
  return slot->second;
}

Extent makeExtent(Context &ctx, Dim length, const RangeInfo *range) {
  Extent extent;
  extent.length = length;
  extent.range = range;
  extent.capacity = isStaticDim(ctx, length)   ? length
                    : range && range->capacity ? range->capacity
                                               : capacityOf(ctx, length);
  return extent;
}

/// The dimension parameters that keep an extent from being bounded.
static std::vector<const DimParam *> openDims(Context &ctx, Dim length) {
  std::vector<const DimParam *> found;
  if (!ctx.decl)
    return found;
  forEachSymbol(length, [&](SymbolId symbol) {
    for (const DimParam &dim : ctx.decl->dims)
      if (dim.symbol == symbol && !dim.isStatic)
        found.push_back(&dim);
  });
  return found;
}

/// Where a further `where` condition goes, and what it needs before it.
static TextEdit whereEdit(Context &ctx, const std::string &condition) {
  NodeId node = ctx.decl->syntax;
  constexpr uint32_t resultsSlot = 3, clauseSlot = 4, whereSlot = 5;
  NodeId where = ctx.tree.child(node, whereSlot);
  NodeId before = where;
  for (NodeId slot : {ctx.tree.child(node, clauseSlot), ctx.tree.child(node, resultsSlot),
                      ctx.tree.child(node, 2)})
    if (before == kNoNode)
      before = slot;
  Span span = ctx.span(before);
  span.begin = span.end;
  return {span, (where == kNoNode ? "\nwhere " : ", ") + condition};
}

bool requireCapacity(Context &ctx, const Type *type, Span span, std::string_view what) {
  // A kernel that says for which targets it is, is judged by what they need, when it is compiled.
  if (ctx.decl && !ctx.decl->targets.empty() && ctx.decl->kind == DeclKind::Kernel)
    return true;
  bool all = true;
  for (const Extent &extent : type->extents) {
    if (!extent.length || extent.capacity || capacityOf(ctx, extent.length))
      continue;
    all = false;
    // A length without a bound is one mistake, however often it is loaded.
    if (!ctx.reportedLengths.insert(extent.length.id()).second)
      continue;
    std::string length = toString(ctx.dims, extent);
    auto builder = ctx.sink.report(DiagId::NoStaticBound, span,
                                   {length, std::string(what), toString(ctx, type)});
    for (const DimParam *dim : openDims(ctx, extent.length)) {
      builder.label(dim->span, "`" + dim->name + "` may have any value");
      Span at = {dim->span.file, dim->span.begin, dim->span.begin};
      builder.fix(FixId::MakeStatic, "compile it for each value: `static " + dim->name + "`",
                  {{at, "static "}});
      std::string bound = dim->name + " <= 8192";
      builder.fix(FixId::AddBound, "or bound it: `where " + bound + "`", {whereEdit(ctx, bound)});
    }
  }
  return all;
}

bool isKnown(const Type *type) {
  auto has = [](const auto &all, auto test) { return std::all_of(all.begin(), all.end(), test); };
  return has(type->extents, [](const Extent &extent) { return extent.length.isKnown(); }) &&
         has(type->dimArgs, [](Dim dim) { return dim.isKnown(); }) &&
         has(type->elements, [](const Type *element) { return isKnown(element); });
}

void requireKnown(Context &ctx, const Type *computed, Span span) {
  if (!isKnown(computed) && !ctx.sink.hasErrors())
    ctx.sink.report(DiagId::DimensionTooLarge, span);
}

} // namespace ptl
