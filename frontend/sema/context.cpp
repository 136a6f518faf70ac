#include "frontend/sema/context.h"

#include <algorithm>

namespace ptl {

ProgramState::ProgramState(SourceManager &sources, const CheckOptions &options,
                           DiagnosticSink &sink, CheckedProgram &program)
    : sources(sources), options(options), sink(sink), program(program), dims(*program.dims),
      scalarTypes(elemInfos.size()) {
  auto make = [&](TypeKind kind) {
    Type *type = program.make<Type>();
    type->kind = kind;
    return type;
  };
  errorType = make(TypeKind::Error);
  voidType = make(TypeKind::Void);
  stringType = make(TypeKind::String);
}

ProgramState::~ProgramState() = default;

Context::Context(ProgramState &state, CheckedModule &module, const Tree &tree)
    : state(state), sink(state.sinkOf(tree)), program(state.program), dims(state.dims),
      module(module), tree(tree), moduleScope(*state.scopes.at(&module)), facts(state.dims),
      capacityFacts(state.dims) {
  scope.push();
}

bool Context::inParallel() const {
  return std::any_of(loops.begin(), loops.end(),
                     [](const LoopFrame &loop) { return loop.kind == LoopKind::Parallel; });
}

Span Context::span(NodeId node) const { return tree.span(node); }
std::string_view Context::text(NodeId node) const { return tree.text(node); }
std::string_view Context::text(Span span) const {
  return tree.fileText().substr(span.begin, span.end - span.begin);
}

bool isRootModule(const Context &ctx) {
  return ctx.program.modules.front().get() == &ctx.module && ctx.state.isChecked(ctx.tree);
}

const Type *errorType(Context &ctx) { return ctx.state.errorType; }
const Type *voidType(Context &ctx) { return ctx.state.voidType; }
const Type *stringType(Context &ctx) { return ctx.state.stringType; }
const Type *intType(Context &ctx) { return scalarType(ctx, ElemKind::Int); }
const Type *boolType(Context &ctx) { return scalarType(ctx, ElemKind::Bool); }

const Type *scalarType(Context &ctx, Elem elem) {
  if (!elem.param)
    if (const Type *known = ctx.state.scalarTypes[static_cast<size_t>(elem.kind)])
      return known;
  Type *type = ctx.program.make<Type>();
  type->kind = TypeKind::Scalar;
  type->elem = elem;
  if (!elem.param)
    ctx.state.scalarTypes[static_cast<size_t>(elem.kind)] = type;
  return type;
}

const Type *arrayType(Context &ctx, Elem elem, std::vector<Extent> extents, bool prefix) {
  Type *type = ctx.program.make<Type>();
  type->kind = TypeKind::Array;
  type->elem = elem;
  type->extents = std::move(extents);
  type->prefix = prefix;
  return type;
}

const Type *rangeType(Context &ctx, const RangeInfo *range) {
  Type *type = ctx.program.make<Type>();
  type->kind = TypeKind::Range;
  type->range = range;
  return type;
}

const Type *tupleType(Context &ctx, std::vector<const Type *> elements) {
  Type *type = ctx.program.make<Type>();
  type->kind = TypeKind::Tuple;
  type->elements = std::move(elements);
  return type;
}

Type *copyType(Context &ctx, const Type &type) { return ctx.program.make<Type>(type); }

const Type *withPlace(Context &ctx, const Type *type, Place place, Layout layout) {
  if (type->place == place && type->layout == layout)
    return type;
  Type *copy = copyType(ctx, *type);
  copy->place = place;
  copy->layout = layout;
  return copy;
}

// ---- Capacity -----------------------------------------------------------------------------------

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

void requireAtMost(Context &ctx, Span span, std::string_view what, int64_t value, int64_t most) {
  if (value > most)
    ctx.sink
        .report(DiagId::CountTooLarge, span,
                {std::string(what), std::to_string(most), std::to_string(value)})
        .note("the compiler multiplies by it, so it bounds what compiling takes");
}

} // namespace ptl
