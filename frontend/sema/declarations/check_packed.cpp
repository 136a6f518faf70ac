#include "frontend/sema/declarations/check_packed.h"

#include "frontend/sema/analysis/condition_facts.h"
#include "frontend/sema/make_node.h"
#include "frontend/sema/placement/placement.h"
#include "frontend/sema/types/make_type.h"
#include "ir/ops/op_table.h"

namespace ptl {

/// Whether a type has elements of four bits, whatever a generic one stands for.
static bool hasPackedElements(const Type &type) {
  return (type.isArray() || type.isScalar()) && !type.elem.param && isPacked(type.elem.kind);
}

/// What else the type of a parameter can be.
static std::string otherType(const Type &type) {
  return isFloat(type.elem.kind) ? "declare `u8` or `i8` bytes and use `std.mx` inside"
                                 : "declare `i8` and convert inside: `i4(x)`";
}

static DiagnosticBuilder cannotPack(Context &ctx, const Local &local, std::string_view why) {
  return ctx.sink.report(DiagId::CannotPack, local.span,
                         {local.name + ": " + toString(ctx, local.type),
                          std::string(elemName(local.type->elem.kind)), std::string(why)});
}

/// Why memory cannot hold such a value, whatever its lengths are; empty: it can.
static std::string_view whyNot(const Context &ctx, const Type &type) {
  if (ctx.isKind(DeclKind::ManualKernel))
    return "a `manual kernel` works on bytes";
  if (ctx.isKind(DeclKind::ExternKernel))
    return "an `extern kernel` gets bytes";
  if (!type.isArray())
    return "a scalar would be half of a byte";
  if (type.extents.empty())
    return "the length of the last axis, along which they are stored, must be known to be even, "
           "but `..` does not name it";
  if (!type.strides.empty())
    return "strides count whole elements";
  if (isPlaced(ctx.tree, ctx.decl->syntax))
    return "the parts of a program cannot divide a byte";
  return "";
}

/// `length % 2 == 0` as a condition.
static Expr *evenness(Context &ctx, Dim length) {
  Dim two = ctx.dims.constant(2), zero = ctx.dims.constant(0);
  OpExpr *rest = makeOp(ctx, findOps("%").front(), kNoNode, intType(ctx),
                        {dimValue(ctx, length, kNoNode), dimValue(ctx, two, kNoNode)});
  rest->dim = ctx.dims.mod(length, two);
  return makeOp(ctx, findOps("==").front(), kNoNode, boolType(ctx),
                {rest, dimValue(ctx, zero, kNoNode)});
}

static void checkPackedArray(Context &ctx, const Local &local) {
  const Type &type = *local.type;
  if (!hasPackedElements(type))
    return;
  if (std::string_view why = whyNot(ctx, type); !why.empty()) {
    auto report = cannotPack(ctx, local, why);
    if (type.isArray() && type.extents.empty())
      report.help("write `" + std::string(elemName(type.elem.kind)) + "[.., N]`");
    else
      report.help(otherType(type));
    return;
  }
  Dim length = type.extents.back().length;
  if (!length || ctx.facts.proveDivides(ctx.dims.constant(2), length).isTrue())
    return;
  if (length.isConstant()) {
    cannotPack(ctx, local, "its last axis has an odd length, " + ctx.dims.toString(length))
        .help("add a column that nothing reads");
    return;
  }
  // Whether the length is even is left to the call: the condition becomes one of the header, as if the author had written it.
  WhereClause clause;
  clause.condition = evenness(ctx, length);
  clause.condition->span = local.span;
  std::string text = ctx.dims.toString(length);
  bool isName = length.symbol().has_value();
  clause.text = (isName ? text : "(" + text + ")") + " % 2 == 0";
  clause.span = local.span;
  assumeCondition(ctx, clause.condition);
  ctx.decl->wheres.push_back(std::move(clause));
}

void checkPackedArrays(Context &ctx) {
  // Values of a `fn` lie nowhere; where it is called from outside, the call is checked.
  if (ctx.inFn())
    return;
  for (const Local *param : ctx.decl->params)
    checkPackedArray(ctx, *param);
  for (const Local *output : ctx.decl->outputs)
    checkPackedArray(ctx, *output);
}

bool isPackedArray(const Context &ctx, const Expr *expr) {
  auto *ref = dyn_cast_if_present<LocalRefExpr>(expr);
  bool isGlobal =
      ref && (ref->local->kind == LocalKind::Param || ref->local->kind == LocalKind::Output);
  return isGlobal && !ctx.inFn() && ref->local->type->isArray() &&
         hasPackedElements(*ref->local->type);
}

/// Whether a range of an even axis consists of whole bytes.
static bool isOfBytes(Context &ctx, const RangeInfo &range, Dim extent) {
  Dim two = ctx.dims.constant(2);
  if (!range.step.isConstant(1) || !ctx.facts.proveDivides(two, range.start).isTrue())
    return false;
  return ctx.facts.proveDivides(two, range.length).isTrue() ||
         ctx.facts.proveEqual(ctx.dims.add(range.start, range.length), extent).isTrue();
}

static std::string_view helpWith(IndexItemKind kind, ElementUse use) {
  if (use == ElementUse::Region)
    return "load what lies inside of the array, with an index of its own";
  if (kind == IndexItemKind::Range)
    return "a range of whole bytes begins at an even position and has an even length: state it, as "
           "in `where T % 2 == 0` "
           "for a tile size `T`";
  return use == ElementUse::Write ? "store two neighbouring elements at a time"
                                  : "load all of the axis, and index that";
}

bool checkBytes(Context &ctx, IndexExpr &index, ElementUse use) {
  if (!isPackedArray(ctx, index.base))
    return true;
  const Type &type = *index.base->type;
  for (IndexItem &item : index.items) {
    bool isRest = item.kind == IndexItemKind::Rest;
    if (item.kind == IndexItemKind::NewAxis || (item.axis != -1 && !isRest))
      continue;
    item.keepsBytes =
        use != ElementUse::Region && (isRest || item.kind == IndexItemKind::Full ||
                                      (item.kind == IndexItemKind::Range &&
                                       isOfBytes(ctx, *item.range, type.extents.back().length)));
    // One element is a part of a byte that is loaded. Elsewhere all of the array is unpacked first.
    bool isElement = item.kind == IndexItemKind::Position && use == ElementUse::Read;
    if (item.keepsBytes || isElement || (use != ElementUse::Write && !ctx.inKernel()))
      continue;
    ctx.sink
        .report(DiagId::CutsByte, item.span,
                {std::string(ctx.text(item.span)), toString(ctx, index.base->type)})
        .help(std::string(helpWith(item.kind, use)));
    return false;
  }
  return true;
}

bool checkAtomicElements(Context &ctx, const Local &target, Span span) {
  if (ctx.inFn() || !hasPackedElements(*target.type))
    return true;
  ctx.sink.report(DiagId::CannotPack, span,
                  {target.name + ": " + toString(ctx, target.type),
                   std::string(elemName(target.type->elem.kind)),
                   "`atomic` updates whole elements"});
  return false;
}

} // namespace ptl
