#include "frontend/sema/expressions/check_index.h"

#include "frontend/dim/facts_explain.h"
#include "frontend/sema/analysis/data_facts.h"
#include "frontend/sema/analysis/value_bounds.h"
#include "frontend/sema/block/check_block_tile.h"
#include "frontend/sema/declarations/check_packed.h"
#include "frontend/sema/expressions/check_expr.h"
#include "frontend/sema/expressions/convert.h"
#include "frontend/sema/expressions/foreign_index.h"
#include "frontend/sema/make_node.h"
#include "frontend/sema/names/lookup.h"
#include "frontend/sema/placement/pool_call.h"
#include "frontend/sema/types/capacity.h"
#include "frontend/sema/types/make_type.h"
#include "frontend/sema/walk.h"
#include "frontend/syntax/typed_nodes.h"
#include "ir/ops/op_table.h"

namespace ptl {

namespace {

/// One `IndexExpr` while it is checked.
struct Indexing {
  Context &ctx;
  NodeId node;
  IndexExpr *expr;
  Shape base;
  bool checkBounds = true;
  std::vector<Extent> result;
  std::vector<Extent> written; ///< `result` with all axes of the index array
  bool resultPrefix = false;
  bool hasGather = false;
  bool failed = false;

  Indexing(Context &ctx, NodeId node, IndexExpr *expr)
      : ctx(ctx), node(node), expr(expr), base(shapeOf(expr->base->type)) {}
  void run(std::span<const NodeId> indices);
  Extent bounded(Extent extent) const;
  void addFull(size_t axis, Span span);
  void addRest(size_t first, size_t count, Span span);
  void addIndex(size_t axis, NodeId index);
  void addRange(size_t axis, IndexItem item, const RangeInfo &range, Dim stop);
  void addWritten(size_t axis, IndexItem item, const RangeInfo &info, Dim stop);
  void addSlice(size_t axis, NodeId index);
  void addPosition(size_t axis, IndexItem item);
  void addGather(size_t axis, IndexItem item);
  void add(const Extent &extent) {
    result.push_back(extent);
    written.push_back(extent);
  }
  bool countAxes(std::span<const NodeId> indices, size_t *restCount);
  int64_t fromEnd(size_t axis) const {
    return static_cast<int64_t>(axis) - static_cast<int64_t>(base.rank());
  }
  std::string axisText(int64_t fromEnd) const;
  bool countsFromEnd(size_t axis, const Extent &extent, NodeId bound, Dim value);
  void offerFromEnd(DiagnosticBuilder report, const IndexItem &item, const Extent &extent,
                    Dim value);
  DiagnosticBuilder reportBound(const IndexItem &item, const Extent &extent,
                                const std::string &value, Verdict verdict);
};

} // namespace

/// An axis that stays whole: what is loaded has its bound, which the parameter's type need not say.
Extent Indexing::bounded(Extent extent) const {
  // The bound may follow from the facts of the callable.
  if (!extent.capacity)
    extent.capacity = capacityOf(ctx, extent.length);
  return extent;
}

void Indexing::addFull(size_t axis, Span span) {
  IndexItem item;
  item.kind = IndexItemKind::Full;
  item.axis = fromEnd(axis);
  item.needsCheck = false;
  item.span = span;
  expr->items.push_back(item);
  add(bounded(base.extents[axis]));
}

void Indexing::addRest(size_t first, size_t count, Span span) {
  IndexItem item;
  item.kind = IndexItemKind::Rest;
  item.restCount = static_cast<uint32_t>(count);
  // The leading axes without names are covered only from the front.
  item.restHasPrefix = base.prefix && first == 0;
  item.axis = fromEnd(first);
  item.needsCheck = false;
  item.span = span;
  expr->items.push_back(item);
  resultPrefix = item.restHasPrefix;
  for (size_t i = 0; i < count; ++i)
    add(bounded(base.extents[first + i]));
}

/// Reports a bound of a slice that is a negative constant, as other languages count from the end.
bool Indexing::countsFromEnd(size_t axis, const Extent &extent, NodeId bound, Dim value) {
  if (!checkBounds || bound == kNoNode || !value.isConstant() || !extent.length ||
      *value.constant() >= 0)
    return false;
  IndexItem item;
  item.axis = fromEnd(axis);
  item.span = ctx.span(bound);
  offerFromEnd(
      reportBound(item, extent, ctx.dims.toString(value), ctx.facts.proveNonNegative(value)), item,
      extent, value);
  return true;
}

void Indexing::offerFromEnd(DiagnosticBuilder report, const IndexItem &item, const Extent &extent,
                            Dim value) {
  std::string counted = ctx.dims.toString(ctx.dims.add(extent.length, value));
  report.fix(FixId::CountFromEnd, "positions count from 0; from the end it is `" + counted + "`",
             {{item.span, counted}});
}

/// Axes are counted from the end where leading axes of any number come before them.
std::string Indexing::axisText(int64_t fromEnd) const {
  int64_t axis = base.prefix ? fromEnd : static_cast<int64_t>(base.rank()) + fromEnd;
  return std::to_string(axis);
}

DiagnosticBuilder Indexing::reportBound(const IndexItem &item, const Extent &extent,
                                        const std::string &value, Verdict verdict) {
  std::string text(ctx.text(item.span));
  auto report = ctx.sink.report(DiagId::OutOfBounds, item.span,
                                {text, axisText(item.axis), toString(ctx, expr->base->type),
                                 ctx.dims.toString(extent.length)});
  // The message shows the value if it is not what the source says.
  if (value != text)
    report.note("its last position is `" + value + "`");
  // Of two numbers the message says it all.
  if (!verdict.a.isConstant() || !verdict.b.isConstant())
    report.note(explain(ctx.facts, verdict));
  if (const Local *local = rootLocal(expr->base))
    report.label(local->span, local->name + ": " + toString(ctx, local->type));
  failed = true;
  return report;
}

void Indexing::addPosition(size_t axis, IndexItem item) {
  item.kind = IndexItemKind::Position;
  item.axis = fromEnd(axis);
  const Extent &extent = base.extents[axis];
  item.needsCheck = checkBounds;
  // Positions that are dimensions can be compared with the extent.
  if (checkBounds && item.value->dim && extent.length) {
    Verdict low = ctx.facts.proveNonNegative(item.value->dim);
    Verdict high = ctx.facts.proveLess(item.value->dim, extent.length);
    std::string value = ctx.dims.toString(item.value->dim);
    if (low.isFalse()) {
      auto report = reportBound(item, extent, value, low);
      if (item.value->dim.constant())
        offerFromEnd(report, item, extent, item.value->dim);
    } else if (high.isFalse()) {
      reportBound(item, extent, value, high);
    }
    // Facts about the array's elements may prove what facts about dimensions do not.
    item.needsCheck =
        (!low.isTrue() || !high.isTrue()) && !elementsWithin(ctx, item.value, extent.length);
  } else if (checkBounds) {
    item.needsCheck = !positionsWithin(ctx, item.value, extent.length);
  }
  expr->items.push_back(item);
}

/// `stop` is the end as a slice says it, which is within the axis even when the slice is empty.
void Indexing::addRange(size_t axis, IndexItem item, const RangeInfo &range, Dim stop) {
  item.kind = IndexItemKind::Range;
  item.axis = fromEnd(axis);
  item.range = ctx.program.make<RangeInfo>(range);
  const Extent &extent = base.extents[axis];
  item.needsCheck = checkBounds;
  if (checkBounds && range.start && range.length && extent.length) {
    Dim one = ctx.dims.constant(1);
    // A range that may be empty reaches nothing, so its bounds are not certain to be wrong.
    bool empty = !stop && !ctx.facts.proveLessEqual(one, range.length).isTrue();
    if (!stop)
      // The end is the last position plus one: start + (length - 1) * step + 1.
      stop = ctx.dims.add(
          ctx.dims.sub(ctx.dims.add(range.start, ctx.dims.mul(range.step, range.length)),
                       range.step),
          one);
    Verdict low = ctx.facts.proveNonNegative(range.start);
    Verdict high = ctx.facts.proveLessEqual(stop, extent.length);
    if (low.isFalse() && !empty)
      reportBound(item, extent, ctx.dims.toString(range.start), low);
    else if (high.isFalse() && !empty)
      reportBound(item, extent, ctx.dims.toString(ctx.dims.sub(stop, one)), high);
    item.needsCheck = !low.isTrue() || !high.isTrue();
  }
  expr->items.push_back(item);
  // A named range passes its name on to the extent.
  const RangeInfo *shown =
      item.value && item.value->type->kind == TypeKind::Range && !range.name.empty()
          ? item.value->type->range
          : nullptr;
  Extent out = makeExtent(ctx, range.length, shown);
  // The bound is that of the range or of the axis that it is taken from.
  if (!out.capacity)
    out.capacity = range.capacity ? range.capacity : extent.capacity;
  add(out);
}

/// An operation that gives a value the shape `shape`.
static Expr *withShape(Context &ctx, const char *operation, Expr *value, const Shape &shape) {
  const OpRecord *op = findOps(operation).front();
  OpExpr *expr =
      makeOp(ctx, op, value->syntax, shapedType(ctx, value->type->elem, shape), {value, nullptr});
  for (const Extent &extent : shape.extents)
    expr->shape.push_back(extent.length);
  expr->shapeHasPrefix = shape.prefix;
  return expr;
}

Expr *reshaped(Context &ctx, Expr *value, const Shape &shape) {
  return withShape(ctx, "reshape", value, shape);
}

Expr *repeated(Context &ctx, Expr *value, const Shape &shape) {
  return withShape(ctx, "broadcast", value, shape);
}

static Expr *asWritten(Context &ctx, IndexExpr *expr) {
  auto written = ctx.writtenTypes.find(expr);
  return written == ctx.writtenTypes.end() ? expr : reshaped(ctx, expr, shapeOf(written->second));
}

Expr *withOneAxis(Context &ctx, Expr *array) {
  // Arrays of one axis are flat already.
  if (array->type->prefix || array->type->extents.size() < 2)
    return array;
  Dim one = ctx.dims.constant(1);
  Extent flat{one, one};
  for (const Extent &extent : array->type->extents) {
    flat.length = ctx.dims.mul(flat.length, extent.length);
    flat.capacity =
        flat.capacity && extent.capacity ? ctx.dims.mul(flat.capacity, extent.capacity) : Dim();
  }
  return reshaped(ctx, array, {false, {flat}});
}

void Indexing::addGather(size_t axis, IndexItem item) {
  item.kind = IndexItemKind::Gather;
  item.axis = fromEnd(axis);
  item.needsCheck = !positionsWithin(ctx, item.value, base.extents[axis].length);
  const Type *type = item.value->type;
  // At most one axis can be gathered, and the index array's shape has to be known.
  if (!checkBounds || hasGather || type->prefix) {
    std::string what = !checkBounds ? "an index array in `load(…, outside:)`"
                       : hasGather  ? "a second index array"
                                    : "`" + toString(ctx, type) + "`";
    ctx.sink.report(DiagId::BadIndex, item.span, {what});
    failed = true;
    return;
  }
  hasGather = true;
  // The tree has one axis for the index array; `asWritten` gives the result the axes that were
  // written.
  item.value = withOneAxis(ctx, item.value);
  expr->items.push_back(item);
  result.push_back(item.value->type->extents.front());
  written.insert(written.end(), type->extents.begin(), type->extents.end());
}

/// Whether two expressions are the same tokens.
static bool isSameText(const Context &ctx, NodeId a, NodeId b) {
  const Node &left = ctx.tree.node(a), &right = ctx.tree.node(b);
  uint32_t count = left.endToken - left.firstToken;
  if (count != right.endToken - right.firstToken)
    return false;
  for (uint32_t i = 0; i < count; ++i)
    if (ctx.tree.tokenText(left.firstToken + i) != ctx.tree.tokenText(right.firstToken + i))
      return false;
  return true;
}

/// The `n` of `x[i:i + n]`: whatever `i` is, that is how long the slice is. Null if the end is no
/// such sum.
static Expr *lengthOfSlice(Context &ctx, const SliceIndexView &view, Expr *stop) {
  // The start may be no dimension at all, and its slice still has a known length.
  // An end of another integer type was converted; the sum is what it holds.
  bool isConverted = !isMissing(stop) && stop->kind == ExprKind::Convert;
  if (isConverted)
    stop = cast<ConvertExpr>(stop)->arg;
  bool isSum = !isMissing(stop) && !stop->dim && stop->kind == ExprKind::Op &&
               ctx.tree.is(stop->syntax, NodeKind::BinaryExpr) && view.start() != kNoNode;
  // The sum has to begin with the very expression that the slice begins with.
  const auto *sum = isSum ? cast<OpExpr>(stop) : nullptr;
  if (!sum || !sum->op || sum->op->id != OpId::Add || sum->args.size() != 2 ||
      !isSameText(ctx, ctx.tree.child(stop->syntax, 0), view.start()))
    return nullptr;
  if (!isConverted)
    return sum->args[1];
  return checkIntScalar(ctx, ctx.tree.child(stop->syntax, 1), "the length of a slice");
}

void Indexing::addSlice(size_t axis, NodeId index) {
  SliceIndexView view(ctx.tree, index);
  const Extent &extent = base.extents[axis];
  Dim one = ctx.dims.constant(1);
  auto bound = [&](NodeId node, Dim otherwise, std::string_view what) -> Dim {
    return node == kNoNode ? otherwise : dimOrHoist(ctx, checkIntScalar(ctx, node, what));
  };
  RangeInfo info;
  info.span = ctx.span(index);
  info.start = bound(view.start(), ctx.dims.constant(0), "the start of a slice");
  Dim stop = extent.length;
  if (view.stop() != kNoNode) {
    Expr *end = checkIntScalar(ctx, view.stop(), "the end of a slice");
    Expr *length = info.start ? lengthOfSlice(ctx, view, end) : nullptr;
    // The sum is written as start + length, so that start cancels in the length.
    stop = length ? ctx.dims.add(info.start, dimOrHoist(ctx, length)) : dimOrHoist(ctx, end);
  }
  info.step = bound(view.step(), one, "the step of a slice");
  if (!info.start || !stop || !info.step || countsFromEnd(axis, extent, view.start(), info.start) ||
      countsFromEnd(axis, extent, view.stop(), stop)) {
    failed = true;
    return;
  }
  if (ctx.facts.proveLessEqual(info.step, ctx.dims.constant(0)).isTrue()) {
    auto report =
        ctx.sink.report(DiagId::RangeStepNotPositive, info.span, {ctx.dims.toString(info.step)});
    std::string length = ctx.dims.toString(extent.length);
    if (info.step.isConstant(-1) && view.start() == kNoNode && view.stop() == kNoNode)
      report.help("an index array reverses the axis: `" + length + " - 1 - index(0.." + length +
                  ")`");
    failed = true;
    return;
  }
  Dim distance = ctx.dims.sub(stop, info.start);
  // With a step the length is rounded up.
  info.length = info.step.isConstant(1) ? distance : ctx.dims.ceilDiv(distance, info.step);
  info.capacity = capacityOf(ctx, info.length);
  IndexItem item;
  item.span = info.span;
  auto *range = newExpr<RangeExpr>(ctx, index, rangeType(ctx, ctx.program.make<RangeInfo>(info)));
  range->lo = dimValue(ctx, info.start, view.start());
  range->hi = dimValue(ctx, stop, view.stop());
  range->step = view.step() == kNoNode ? nullptr : dimValue(ctx, info.step, view.step());
  item.value = range;
  addWritten(axis, item, info, stop);
}

/// A slice whose end lies before its start is an error; one that may do so is checked at run time.
void Indexing::addWritten(size_t axis, IndexItem item, const RangeInfo &info, Dim stop) {
  Verdict ordered = ctx.facts.proveLessEqual(info.start, stop);
  if (ordered.isFalse()) {
    auto report = ctx.sink.report(DiagId::SliceEndsBeforeStart, item.span,
                                  {ctx.dims.toString(info.start), ctx.dims.toString(stop)});
    if (!info.start.isConstant() || !stop.isConstant())
      report.note(explain(ctx.facts, ordered));
    failed = true;
    return;
  }
  addRange(axis, item, info, stop);
  if (!expr->items.empty() && !ordered.isTrue()) {
    expr->items.back().needsCheck = true;
    expr->items.back().mayEndBeforeStart = true;
  }
}

void Indexing::addIndex(size_t axis, NodeId index) {
  if (ctx.tree.is(index, NodeKind::SliceIndex)) {
    SliceIndexView view(ctx.tree, index);
    if (view.start() == kNoNode && view.stop() == kNoNode && view.step() == kNoNode)
      return addFull(axis, ctx.span(index));
    return addSlice(axis, index);
  }
  IndexItem item;
  item.span = ctx.span(index);
  Operand operand = checkOperand(ctx, index);
  // An untyped constant is an index as an integer.
  item.value = operand.isUntyped() && operand.constant->isIntegral()
                   ? makeConst(ctx, *operand.constant, intType(ctx), index)
                   : settle(ctx, operand);
  const Type *type = item.value->type;
  if (type->isError()) {
    failed = true;
    return;
  }
  bool integers =
      (type->isScalar() || type->isArray()) && elemIs(type->elem, ElemConstraint::Integer);
  if (type->kind == TypeKind::Range) {
    // A range that is written in place has its ends at hand.
    if (auto *range = dyn_cast<RangeExpr>(item.value)) {
      RangeInfo info = *type->range;
      info.start = dimOrHoist(ctx, range->lo);
      Dim hi = dimOrHoist(ctx, range->hi);
      info.step = range->step ? dimOrHoist(ctx, range->step) : ctx.dims.constant(1);
      if (!info.length)
        info.length = ctx.dims.ceilDiv(ctx.dims.sub(hi, info.start), info.step);
      if (info.start && hi)
        return addWritten(axis, item, info, hi);
      return addRange(axis, item, info, hi);
    }
    return addRange(axis, item, *type->range, Dim());
  }
  if (integers && type->isScalar())
    return addPosition(axis, item);
  if (integers && type->isArray())
    return addGather(axis, item);
  ctx.sink.report(DiagId::BadIndex, item.span, {"`" + toString(ctx, type) + "`"});
  failed = true;
}

/// How many axes `..` covers; false when the indices do not fit the base.
bool Indexing::countAxes(std::span<const NodeId> indices, size_t *restCount) {
  size_t used = 0;
  NodeId rest = kNoNode;
  bool beforeRest = false;
  for (NodeId index : indices) {
    if (ctx.tree.is(index, NodeKind::RestIndex)) {
      if (rest != kNoNode) {
        ctx.sink.report(DiagId::RestTwice, ctx.span(index), {});
        return false;
      }
      rest = index;
      beforeRest = used > 0;
    } else if (!ctx.tree.is(index, NodeKind::NewIndex)) {
      // At most one `..` can stand for the axes that are left.
      ++used;
    }
  }
  auto type = [&] { return toString(ctx, expr->base->type); };
  if (used > base.rank()) {
    ctx.sink.report(DiagId::TooManyIndices, ctx.span(node),
                    {type(), std::to_string(base.rank()), std::to_string(used)});
    return false;
  }
  // Leading axes without names can only be kept by `..` at the front.
  if (base.prefix && (rest == kNoNode || beforeRest)) {
    Span first = ctx.span(indices.empty() ? node : indices.front());
    auto report = ctx.sink.report(DiagId::PrefixNotIndexed, first, {type()});
    if (rest == kNoNode)
      report.fix(FixId::KeepLeadingAxes, "keep the leading axes: `[.., …]`",
                 {{{first.file, first.begin, first.begin}, ".., "}});
    return false;
  }
  *restCount = base.rank() - used;
  return true;
}

void Indexing::run(std::span<const NodeId> indices) {
  size_t restCount = 0;
  if (reportForeignIndex(ctx, node, indices)) {
    failed = true;
    return;
  }
  if (!countAxes(indices, &restCount)) {
    failed = true;
    return;
  }
  size_t axis = 0;
  bool hadRest = false;
  for (NodeId index : indices) {
    if (ctx.tree.is(index, NodeKind::NewIndex)) {
      IndexItem item;
      item.kind = IndexItemKind::NewAxis;
      item.needsCheck = false;
      item.span = ctx.span(index);
      expr->items.push_back(item);
      add(makeExtent(ctx, ctx.dims.constant(1)));
    } else if (ctx.tree.is(index, NodeKind::RestIndex)) {
      hadRest = true;
      addRest(axis, restCount, ctx.span(index));
      axis += restCount;
    } else {
      addIndex(axis++, index);
    }
  }
  // Axes that are not named stay whole.
  for (; !hadRest && axis < base.rank(); ++axis)
    addFull(axis, ctx.span(node));
}

static bool isGlobal(const Local *local) {
  return local && (local->kind == LocalKind::Param || local->kind == LocalKind::Output);
}

/// `list[n]`: one element of a fixed array of scalars.
static Expr *indexList(Context &ctx, IndexExpr *expr, std::span<const NodeId> indices) {
  if (indices.size() != 1) {
    ctx.sink.report(DiagId::TooManyIndices, expr->span,
                    {toString(ctx, expr->base->type), "1", std::to_string(indices.size())});
    return errorExpr(ctx, expr->syntax);
  }
  Indexing indexing(ctx, expr->syntax, expr);
  IndexItem item;
  item.span = ctx.span(indices[0]);
  item.value = checkIntScalar(ctx, indices[0], "an index");
  if (isMissing(item.value))
    return errorExpr(ctx, expr->syntax);
  indexing.addPosition(0, item);
  expr->type = indexing.failed ? errorType(ctx) : expr->base->type->elements.front();
  return expr;
}

static Expr *checkIndexed(Context &ctx, NodeId node, ElementUse use,
                          const Type *expected = nullptr) {
  IndexExprView view(ctx.tree, node);
  auto *expr = newExpr<IndexExpr>(ctx, node, errorType(ctx));
  expr->base = checkBase(ctx, view.base(), elementExpected(ctx, expected));
  if (Expr *page = checkPoolPage(ctx, node, expr->base, view.indices()))
    return page;
  const Type *type = expr->base->type;
  if (type->kind == TypeKind::List)
    return indexList(ctx, expr, view.indices());
  bool indexable =
      type->isArray() || type->kind == TypeKind::Buffer || type->kind == TypeKind::Event;
  // Even if the base cannot be indexed, errors in the indices are told.
  if (type->isError() || !indexable) {
    for (NodeId index : view.indices())
      if (!ctx.tree.is(index, NodeKind::SliceIndex) && !ctx.tree.is(index, NodeKind::NewIndex) &&
          !ctx.tree.is(index, NodeKind::RestIndex))
        checkExpr(ctx, index);
    if (!type->isError())
      ctx.sink.report(DiagId::NotIndexable, ctx.span(node), {toString(ctx, type)});
    return expr;
  }
  if (type->kind != TypeKind::Array)
    return checkTileIndex(ctx, node, expr->base, view.indices());
  Indexing indexing(ctx, node, expr);
  indexing.checkBounds = use != ElementUse::Region;
  indexing.run(view.indices());
  if (indexing.failed || !checkBytes(ctx, *expr, use))
    return expr;
  expr->type = shapedType(ctx, type->elem, {indexing.resultPrefix, indexing.result});
  // The written shape differs if the index array has several axes.
  if (indexing.written.size() > indexing.result.size())
    ctx.writtenTypes[expr] = shapedType(ctx, type->elem, {indexing.resultPrefix, indexing.written});
  // In a kernel an index of global memory is a load.
  expr->isLoad = use != ElementUse::Write && ctx.inKernel() && isGlobal(rootLocal(expr->base));
  if (use != ElementUse::Write && expr->type->isArray() && ctx.isKind(DeclKind::Kernel) &&
      !ctx.inWhere &&
      !requireCapacity(ctx, expr->type, expr->span, expr->isLoad ? "this load" : "this array"))
    expr->type = errorType(ctx);
  return use == ElementUse::Read && !isMissing(expr) ? asWritten(ctx, expr) : expr;
}

Expr *checkIndex(Context &ctx, NodeId node, const Type *expected) {
  return checkIndexed(ctx, node, ElementUse::Read, expected);
}

IndexExpr *checkRegion(Context &ctx, NodeId node) {
  Expr *expr = checkIndexed(ctx, node, ElementUse::Region);
  return dyn_cast<IndexExpr>(expr);
}

Expr *checkTarget(Context &ctx, NodeId node) {
  node = skipParens(ctx, node);
  Expr *target = ctx.tree.is(node, NodeKind::IndexExpr) ? checkIndexed(ctx, node, ElementUse::Write)
                                                        : checkBase(ctx, node);
  note(ctx, node, target);
  const auto *index = dyn_cast<IndexExpr>(target);
  // `d[1:3, :][0, :]` would have to be the row 1 of `d`; later phases take the last index for one of
  // the variable. Buffers of manual kernels have slots, which are chosen by an index of their own.
  if (!index || !index->base || index->base->kind != ExprKind::Index ||
      ctx.isKind(DeclKind::ManualKernel))
    return target;
  ctx.sink.report(DiagId::NotAPlace, target->span, {})
      .note("a part of a part is a value, of which nothing is stored")
      .help("write one index, which says where the elements lie in the variable");
  return errorExpr(ctx, node);
}

} // namespace ptl
