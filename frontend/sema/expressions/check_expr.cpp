#include "frontend/sema/expressions/check_expr.h"

#include "frontend/lex/literal.h"
#include "frontend/sema/analysis/value_bounds.h"
#include "frontend/sema/calls/check_call.h"
#include "frontend/sema/expressions/check_index.h"
#include "frontend/sema/expressions/check_operator.h"
#include "frontend/sema/make_node.h"
#include "frontend/sema/names/declare_local.h"
#include "frontend/sema/names/lookup.h"
#include "frontend/sema/names/unknown_names.h"
#include "frontend/sema/operand_text.h"
#include "frontend/sema/statements/check_if.h"
#include "frontend/sema/types/capacity.h"
#include "frontend/sema/types/const_eval.h"
#include "frontend/sema/types/make_type.h"
#include "frontend/sema/types/resolve_type.h"
#include "frontend/sema/walk.h"
#include "frontend/syntax/typed_nodes.h"

#include <algorithm>

namespace ptl {

NodeId skipParens(Context &ctx, NodeId node) {
  while (ctx.tree.is(node, NodeKind::ParenExpr))
    node = ParenExprView(ctx.tree, node).inner();
  return node;
}

// ---- Operands -----------------------------------------------------------------------------------

/// Whether a node may be a constant expression: literals, names, operators.
static bool mayBeConstant(Context &ctx, NodeId node) {
  switch (ctx.tree.kind(node)) {
  case NodeKind::IntLiteral:
  case NodeKind::SizeLiteral:
  case NodeKind::FloatLiteral:
  case NodeKind::BoolLiteral:
  case NodeKind::UnaryExpr:
  case NodeKind::BinaryExpr:
  case NodeKind::ParenExpr:
  case NodeKind::NameExpr:
  case NodeKind::MemberExpr:
    return true;
  default:
    return false;
  }
}

static std::optional<ConstValue> constantOf(Context &ctx, NodeId node) {
  // The quick test by kind keeps most expressions from being evaluated twice.
  if (node == kNoNode || !mayBeConstant(ctx, node))
    return std::nullopt;
  return evalConst(ctx, node);
}

Operand checkOperand(Context &ctx, NodeId node, const Type *expected) {
  Operand operand;
  operand.node = node;
  operand.span = node == kNoNode ? kNoSpan : ctx.span(node);
  if (auto constant = constantOf(ctx, node)) {
    // A constant without a type adapts to the other operand, so it has no expression yet.
    if (!constant->type && constant->kind != ConstKind::Bool) {
      operand.constant = constant;
      return operand;
    }
    operand.expr = makeConst(ctx, *constant, scalarType(ctx, defaultElem(*constant)), node);
    note(ctx, node, operand.expr);
    return operand;
  }
  operand.expr = checkExpr(ctx, node, expected);
  return operand;
}

static Expr *constantAs(Context &ctx, const ConstValue &constant, NodeId node,
                        const Type *expected) {
  // A constant takes the expected type only if that is a number.
  bool takesType = expected && (expected->isScalar() || expected->isArray()) && !constant.type &&
                   constant.kind != ConstKind::Bool &&
                   !(expected->elem.kind == ElemKind::Bool && !expected->elem.param);
  return makeConst(ctx, constant,
                   scalarType(ctx, takesType ? expected->elem : defaultElem(constant)), node);
}

// ---- Names --------------------------------------------------------------------------------------

static bool isGlobalTensor(const Local &local) {
  bool fromOutside = local.kind == LocalKind::Param || local.kind == LocalKind::Output;
  return fromOutside && local.type && local.type->isArray();
}

/// The range of an enclosing loop that lies within an axis and is not taken yet; null if none.
static const RangeInfo *fittingRange(Context &ctx, const Extent &extent,
                                     std::vector<const RangeInfo *> &taken) {
  if (!ctx.decl || !extent.length)
    return nullptr;
  for (const Local *local : ctx.decl->locals) {
    bool isRange =
        local->kind == LocalKind::Loop && local->type && local->type->kind == TypeKind::Range;
    // A name that is hidden cannot be suggested.
    if (!isRange || ctx.scope.find(local->name) != local)
      continue;
    const RangeInfo *range = local->type->range;
    bool isTaken = std::find(taken.begin(), taken.end(), range) != taken.end();
    // Each range is suggested for one axis only.
    if (isTaken ||
        !ctx.facts.proveLessEqual(ctx.dims.add(range->start, range->length), extent.length)
             .isTrue())
      continue;
    taken.push_back(range);
    return range;
  }
  return nullptr;
}

std::string suggestIndex(Context &ctx, const Type &type) {
  std::string text = type.prefix ? "[.." : "[";
  std::vector<const RangeInfo *> taken;
  for (size_t i = 0; i < type.extents.size(); ++i) {
    const RangeInfo *range = fittingRange(ctx, type.extents[i], taken);
    text += (i || type.prefix ? ", " : "") + (range ? range->name : ":");
  }
  return text + "]";
}

/// A field of a struct parameter of a kernel lies in global memory like any tensor.
static Expr *requireIndexed(Context &ctx, Expr *member) {
  const Local *root = member->kind == ExprKind::Field ? rootLocal(member) : nullptr;
  bool isTensor = root && root->kind == LocalKind::Param && member->type->isArray();
  if (!isTensor || !ctx.isKind(DeclKind::Kernel) || ctx.inWhere)
    return member;
  Span span = member->span;
  std::string name(ctx.text(span)), index = suggestIndex(ctx, *member->type);
  ctx.sink.report(DiagId::TensorMustBeIndexed, span, {name})
      .label(root->span, "it lies in global memory: `" + toString(ctx, member->type) + "`")
      .fix(FixId::IndexOfIteration,
           "load the part that this iteration works on: `" + name + index + "`",
           {{{span.file, span.end, span.end}, index}});
  return errorExpr(ctx, member->syntax);
}

static Expr *checkName(Context &ctx, NodeId node, bool asBase) {
  std::string_view name = ctx.text(node);
  if (name.empty())
    return errorExpr(ctx, node);
  ValueRef ref = lookupValue(ctx, name);
  Span span = ctx.span(node);
  if (!ref) {
    // An element type is no value, but its name is known.
    if (findElem(ctx, name))
      ctx.sink.report(DiagId::NotAValue, span, {std::string(name), "an element type"});
    else
      reportUnknownValue(ctx, name, span);
    return errorExpr(ctx, node);
  }
  if (ref.module) {
    ctx.sink.report(DiagId::NotAValue, span, {std::string(name), "a module"});
    return errorExpr(ctx, node);
  }
  // The value of a constant in error is missing.
  if (ref.constant) {
    auto it = ctx.state.constValues.find(ref.constant);
    return it == ctx.state.constValues.end() ? errorExpr(ctx, node)
                                             : constantAs(ctx, it->second, node, nullptr);
  }
  Local *local = ref.local;
  note(ctx, node, local);
  // Of a number of parts that follows from the header nothing has the value when the program runs.
  if (local->kind == LocalKind::Dimension && !local->symbol && local->dim)
    return dimValue(ctx, local->dim, node);
  // In a kernel a tensor must be indexed, except as the base of an index or in a requirement.
  if (!asBase && ctx.isKind(DeclKind::Kernel) && !ctx.inWhere && isGlobalTensor(*local)) {
    std::string index = suggestIndex(ctx, *local->type);
    ctx.sink.report(DiagId::TensorMustBeIndexed, span, {local->name})
        .label(local->span,
               "`" + local->name + "` lies in global memory: `" + toString(ctx, local->type) + "`")
        .fix(FixId::IndexOfIteration,
             "load the part that this iteration works on: `" + local->name + index + "`",
             {{{span.file, span.end, span.end}, index}});
    return errorExpr(ctx, node);
  }
  return refTo(ctx, local, node);
}

// ---- Tuples, lists ------------------------------------------------------------------------------

static Expr *checkTuple(Context &ctx, NodeId node, const Type *expected) {
  auto elements = TupleExprView(ctx.tree, node).elements();
  bool typed =
      expected && expected->kind == TypeKind::Tuple && expected->elements.size() == elements.size();
  auto *tuple = newExpr<TupleExpr>(ctx, node, errorType(ctx));
  std::vector<const Type *> types;
  for (size_t i = 0; i < elements.size(); ++i) {
    Expr *element = checkExpr(ctx, elements[i], typed ? expected->elements[i] : nullptr);
    tuple->elements.push_back(element);
    types.push_back(element->type);
  }
  tuple->type = tupleType(ctx, std::move(types));
  return tuple;
}

static Expr *checkList(Context &ctx, NodeId node, const Type *expected) {
  auto nodes = ListExprView(ctx.tree, node).elements();
  const Type *elementType =
      // The expected type decides, then the first element that has one.
      expected && expected->kind == TypeKind::List ? expected->elements.front() : nullptr;
  std::vector<Operand> operands;
  for (NodeId element : nodes) {
    operands.push_back(checkOperand(ctx, element));
    if (operands.back().isError())
      return errorExpr(ctx, node);
    if (operands.back().expr && !elementType)
      elementType = operands.back().expr->type;
  }
  if (!elementType) {
    // Constants alone are integers if all of them are.
    bool integral = true;
    for (const Operand &operand : operands)
      integral = integral && operand.constant && operand.constant->isIntegral();
    elementType = scalarType(ctx, integral ? ElemKind::Int : ElemKind::F32);
  }
  auto *list = newExpr<ListExpr>(ctx, node, errorType(ctx));
  if (!elementType->isScalar()) {
    Span span = ctx.span(node);
    auto report = ctx.sink.report(DiagId::NotScalar, span,
                                  {"each element of a list", toString(ctx, elementType)});
    // `concat` and its like take a list of arrays elsewhere.
    if (elementType->isArray())
      report.fix(
          FixId::DropBrackets,
          "a function of several arrays takes them one by one, as in `concat(a, b, axis: 0)`",
          {{{span.file, span.begin, span.begin + 1}, ""},
           {{span.file, span.end - 1, span.end}, ""}});
    return list;
  }
  for (const Operand &operand : operands) {
    Expr *element = operandAs(ctx, operand, elementType->elem);
    list->elements.push_back(convertTo(ctx, element, elementType, "this element of the list"));
  }
  Type *type = copyType(ctx, *errorType(ctx));
  type->kind = TypeKind::List;
  type->elements = {elementType};
  // A list has a length like an array.
  type->extents = {makeExtent(ctx, ctx.dims.constant(static_cast<int64_t>(operands.size())))};
  list->type = type;
  return list;
}

static Expr *checkString(Context &ctx, NodeId node) {
  auto *text = newExpr<StringExpr>(ctx, node, stringType(ctx));
  text->value = stringLiteralValue(ctx.text(node));
  return text;
}

// ---- Ranges -------------------------------------------------------------------------------------

Expr *checkIntScalar(Context &ctx, NodeId node, std::string_view what) {
  return asIntScalar(ctx, node, checkOperand(ctx, node), what);
}

Expr *asIntScalar(Context &ctx, NodeId node, const Operand &operand, std::string_view what) {
  // An untyped constant becomes an `int` here.
  if (operand.isUntyped())
    return makeConst(ctx, *operand.constant, intType(ctx), node);
  Expr *value = operand.expr;
  if (isMissing(value) || value->type->isInt())
    return value;
  // Other integer types are converted, since positions are `int`.
  if (value->type->isScalar() && elemIs(value->type->elem, ElemConstraint::Integer)) {
    auto *convert = newExpr<ConvertExpr>(ctx, node, intType(ctx));
    convert->arg = value;
    return convert;
  }
  ctx.sink.report(DiagId::NotAnInteger, value->span,
                  {std::string(what), toString(ctx, value->type)});
  return errorExpr(ctx, node);
}

/// What types and messages call a value without a name: its text in parentheses.
static std::string hoistedName(const Context &ctx, const Expr *value) {
  constexpr size_t longest = 40;
  std::string_view text = ctx.text(value->span);
  // A long text, or one of several lines, would make messages unreadable.
  bool isShort = text.size() <= longest && text.find('\n') == text.npos;
  return "(" + std::string(isShort ? text : "...") + ")";
}

Dim dimOrHoist(Context &ctx, Expr *value) {
  if (isMissing(value) || value->dim)
    return value ? value->dim : Dim();
  if (!ctx.canHoist) {
    ctx.sink.report(DiagId::LengthNeedsName, value->span, {})
        .help("bind it first: `let n = " + std::string(ctx.text(value->span)) + "`");
    return Dim();
  }
  if (const Local *held = ctx.hoistedValues.find(value))
    return held->dim;
  SymbolId symbol =
      ctx.dims.addSymbol(hoistedName(ctx, value), SymbolKind::ScalarValue, value->span);
  // The local has no name, so the program cannot refer to it.
  Local *local = declareLocal(ctx, LocalKind::Let, "", value->span, intType(ctx), kNoNode,
                              ctx.dims.symbolDim(symbol));
  local->symbol = symbol;
  ctx.hoistedValues.add(value, local);
  // The implicit `let` stands before the statement at hand.
  auto *let = newStmt<LetStmt>(ctx, value->syntax);
  let->span = value->span;
  let->locals = {local};
  let->value = value;
  // What bounds the value also bounds the dimension.
  assumeBounds(ctx, local, value);
  ctx.hoisted.push_back(let);
  return local->dim;
}

Expr *checkRange(Context &ctx, NodeId node) {
  RangeExprView view(ctx.tree, node);
  auto *range = newExpr<RangeExpr>(ctx, node, errorType(ctx));
  range->lo = checkIntScalar(ctx, view.start(), "the start of a range");
  range->hi = checkIntScalar(ctx, view.stop(), "the end of a range");
  if (view.step() != kNoNode)
    range->step = checkIntScalar(ctx, view.step(), "the step of a range");
  if (isMissing(range->lo) || isMissing(range->hi) || (range->step && isMissing(range->step)))
    return range;
  RangeInfo *info = ctx.program.make<RangeInfo>();
  Dim hi = range->hi->dim;
  info->span = range->span;
  info->start = range->lo->dim;
  info->step = range->step ? range->step->dim : ctx.dims.constant(1);
  Dim distance = ctx.dims.sub(hi, info->start);
  // A range with steps has a position for each step that begins in it.
  info->length = info->step.isConstant(1) ? distance : ctx.dims.ceilDiv(distance, info->step);
  // A range that may be empty must not have a negative length.
  if (hi && info->start && !ctx.facts.proveLessEqual(info->start, hi).isTrue())
    info->length = ctx.dims.max(info->length, ctx.dims.constant(0));
  info->capacity = info->length ? capacityOf(ctx, info->length) : Dim();
  range->type = rangeType(ctx, info);
  return range;
}

// ---- Dispatch -----------------------------------------------------------------------------------

static Expr *checkForm(Context &ctx, NodeId node, const Type *expected, bool asBase) {
  switch (ctx.tree.kind(node)) {
  case NodeKind::ParenExpr:
    return checkForm(ctx, ParenExprView(ctx.tree, node).inner(), expected, asBase);
  case NodeKind::NameExpr:
    return checkName(ctx, node, asBase);
  case NodeKind::MemberExpr: {
    Expr *member = checkMember(ctx, node, expected);
    return asBase ? member : requireIndexed(ctx, member);
  }
  case NodeKind::UnaryExpr:
    return checkUnary(ctx, node, expected);
  case NodeKind::BinaryExpr:
    return checkBinary(ctx, node, expected);
  case NodeKind::CallExpr:
    return checkCall(ctx, node, expected);
  case NodeKind::IndexExpr:
    return checkIndex(ctx, node, expected);
  case NodeKind::RangeExpr:
    return checkRange(ctx, node);
  case NodeKind::TupleExpr:
    return checkTuple(ctx, node, expected);
  case NodeKind::ListExpr:
    return checkList(ctx, node, expected);
  case NodeKind::StringLiteral:
    return checkString(ctx, node);
  case NodeKind::If:
    return checkIfValue(ctx, node, expected);
  case NodeKind::DotName: {
    auto *tag = newExpr<EnumTagExpr>(ctx, node, errorType(ctx));
    ctx.sink.report(DiagId::EnumNotExpected, ctx.span(node), {std::string(ctx.text(node))});
    return tag;
  }
  case NodeKind::ElementType:
  case NodeKind::NamedType:
  case NodeKind::ArrayType:
    ctx.sink.report(DiagId::NotAValue, ctx.span(node), {std::string(ctx.text(node)), "a type"});
    return errorExpr(ctx, node);
  default:
    return errorExpr(ctx, node); // the parser has reported it
  }
}

/// Whether the lengths of a value are computed, and from nothing that is unknown.
static bool isComputedFromKnown(const Expr *expr) {
  auto areKnown = [](const auto &all, auto valueOf) {
    return std::all_of(all.begin(), all.end(), [&](const auto &each) {
      const Expr *value = valueOf(each);
      return !value || isKnown(value->type);
    });
  };
  auto self = [](const Expr *value) { return value; };
  if (const auto *op = dyn_cast<OpExpr>(expr))
    return areKnown(op->args, self) && areKnown(op->rest, self) &&
           std::all_of(op->shape.begin(), op->shape.end(), [](Dim dim) { return dim.isKnown(); });
  if (const auto *call = dyn_cast<CallExpr>(expr))
    return call->callee->returnType && isKnown(call->callee->returnType) &&
           areKnown(call->args, [](const CallArg &arg) { return arg.value; }) &&
           std::all_of(call->dimArgs.begin(), call->dimArgs.end(),
                       [](Dim dim) { return dim.isKnown(); });
  if (const auto *field = dyn_cast<FieldExpr>(expr)) {
    const Type *base = field->base->type;
    if (base->kind != TypeKind::Struct || !isKnown(base))
      return false;
    const Type *declared = base->structDecl->fields[field->fieldIndex].type;
    return declared && isKnown(declared);
  }
  return false;
}

static Expr *checkAny(Context &ctx, NodeId node, const Type *expected, bool asBase) {
  if (node == kNoNode)
    return errorExpr(ctx, node);
  Expr *expr = nullptr;
  // A constant expression is evaluated as a whole, so `2 * 3` is one constant.
  if (auto constant = constantOf(ctx, node))
    expr = constantAs(ctx, *constant, node, expected);
  else
    expr = checkForm(ctx, node, expected, asBase);
  if (isComputedFromKnown(expr))
    requireKnown(ctx, expr->type, ctx.span(node));
  note(ctx, node, expr);
  return expr;
}

Expr *checkExpr(Context &ctx, NodeId node, const Type *expected) {
  return checkAny(ctx, node, expected, false);
}

Expr *checkBase(Context &ctx, NodeId node, const Type *expected) {
  return checkAny(ctx, node, expected, true);
}

const Type *elementExpected(Context &ctx, const Type *expected) {
  bool isNumber = expected && (expected->isScalar() || expected->isArray());
  return isNumber ? scalarType(ctx, expected->elem) : nullptr;
}

static void offerZero(Context &ctx, DiagnosticBuilder report, Span span) {
  // Comparisons do not chain, so an operand of one has to bind more tightly.
  OperandText compared = operandBefore(ctx, span, " != 0", tighter(Precedence::Comparison));
  report.fix(FixId::CompareWithZero, "compare it: `" + compared.around(excerpt(ctx, span)) + "`",
             compared.edits());
}

Expr *checkCondition(Context &ctx, NodeId node) {
  Expr *condition = checkExpr(ctx, node);
  const Type *type = condition->type;
  bool isBool = type->isScalar() && !type->elem.param && type->elem.kind == ElemKind::Bool;
  if (isMissing(condition) || isBool)
    return condition;
  auto report = ctx.sink.report(DiagId::ConditionNotBool, condition->span, {toString(ctx, type)});
  Span span = condition->span;
  if (type->isArray() && type->elem == Elem{ElemKind::Bool})
    report.fix(
        FixId::WhichOfAll, "reduce it to one `bool`, for example `all(" + excerpt(ctx, span) + ")`",
        {{{span.file, span.begin, span.begin}, "all("}, {{span.file, span.end, span.end}, ")"}});
  if (type->isArray())
    report.help("to choose for each element, write `select(" + excerpt(ctx, span) + ", a, b)`");
  else if (type->isScalar() && elemIs(type->elem, ElemConstraint::Number))
    offerZero(ctx, report, span);
  return errorExpr(ctx, node);
}

} // namespace ptl
