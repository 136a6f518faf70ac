#include "frontend/sema/calls/check_op_custom_data.h"
#include "frontend/sema/analysis/value_bounds.h"

#include "frontend/dim/facts_explain.h"
#include "frontend/sema/calls/check_op_custom_shape.h"
#include "frontend/sema/calls/match_signature.h"
#include "frontend/sema/expressions/broadcast.h"
#include "frontend/sema/expressions/check_expr.h"
#include "frontend/sema/expressions/convert.h"
#include "frontend/sema/make_node.h"
#include "frontend/sema/types/capacity.h"
#include "frontend/sema/types/make_type.h"

#include <algorithm>
#include <map>

namespace ptl {

/// Reports the first axis but one along which two operands differ; true when there is none.
static bool sameBut(Context &ctx, const OpCall &call, const OpMatch &match, size_t a, size_t b,
                    std::optional<size_t> except) {
  Shape x = operandShape(match, a), y = operandShape(match, b);
  // Only operands of one rank can be compared axis by axis.
  if (x.rank() != y.rank() || x.prefix != y.prefix) {
    ctx.sink
        .report(DiagId::RanksDiffer, call.values[b].span,
                {std::string(call.op->name), toString(ctx, match.values[a]->type),
                 toString(ctx, match.values[b]->type)})
        .label(call.values[a].span, toString(ctx, match.values[a]->type));
    return false;
  }
  for (size_t i = 0; i < x.rank(); ++i) {
    if (except == i || extentsEqual(ctx, x.extents[i], y.extents[i]) == Proof::True)
      continue;
    auto report = ctx.sink.report(DiagId::ShapesDoNotMatch, call.values[b].span,
                                  {std::string(call.op->name), toString(ctx.dims, x.extents[i]),
                                   toString(ctx.dims, y.extents[i])});
    report.label(call.values[a].span, toString(ctx, match.values[a]->type));
    explainExtents(ctx, report, x.extents[i], y.extents[i]);
    return false;
  }
  return true;
}

static std::optional<size_t> singleAxis(Context &ctx, const OpCall &call, const Shape &shape,
                                        OpExpr *expr) {
  auto axes = normalizeAxes(ctx, call, shape);
  if (!axes)
    return std::nullopt;
  expr->axes = *axes;
  // Axes are stored from the end.
  return shape.rank() + static_cast<size_t>(axes->front());
}

/// Notes whether the positions of a `gather` or `scatter` have to be checked at run time.
static void provePositions(Context &ctx, const OpMatch &match, size_t axis, OpExpr *expr) {
  Dim length = operandShape(match, 0).extents[axis].length;
  expr->needsCheck = !positionsWithin(ctx, match.values[1], length);
}

static const Type *checkGather(Context &ctx, const OpCall &call, const OpMatch &match,
                               OpExpr *expr) {
  // The index array has the shape of the result; along the axis it may have another length.
  auto axis = singleAxis(ctx, call, operandShape(match, 0), expr);
  if (!axis || !sameBut(ctx, call, match, 0, 1, axis))
    return errorType(ctx);
  provePositions(ctx, match, *axis, expr);
  return shapedType(ctx, elemOfResult(call, match), operandShape(match, 1));
}

static const Type *checkScatter(Context &ctx, const OpCall &call, const OpMatch &match,
                                OpExpr *expr) {
  auto axis = singleAxis(ctx, call, operandShape(match, 0), expr);
  // Values and index array have one shape, and the array only agrees beside the axis.
  if (!axis || !sameBut(ctx, call, match, 0, 1, axis) ||
      !sameBut(ctx, call, match, 1, 2, std::nullopt))
    return errorType(ctx);
  provePositions(ctx, match, *axis, expr);
  return shapedType(ctx, elemOfResult(call, match), operandShape(match, 0));
}

/// The operand's shape with the axis checked: scans, `sort`, `argsort`.
static const Type *checkAlongAxis(Context &ctx, const OpCall &call, const OpMatch &match,
                                  OpExpr *expr) {
  Shape shape = operandShape(match, 0);
  if (shape.rank() == 0) {
    ctx.sink.report(DiagId::RankTooSmall, call.values[0].span,
                    {std::string(call.op->name), "1", toString(ctx, match.values[0]->type)});
    return errorType(ctx);
  }
  return singleAxis(ctx, call, shape, expr) ? shapedType(ctx, elemOfResult(call, match), shape)
                                            : errorType(ctx);
}

static const Type *checkTopk(Context &ctx, const OpCall &call, const OpMatch &match, OpExpr *expr) {
  Shape shape = operandShape(match, 0);
  const Extent &k = *call.dim("k");
  Extent last = shape.extents.back();
  // More elements than there are cannot be chosen, which the checker must be able to prove.
  Verdict verdict = ctx.facts.proveLessEqual(k.length, last.length);
  if (!verdict.isTrue()) {
    std::string need = ctx.dims.toString(k.length) + " <= " + ctx.dims.toString(last.length);
    auto report = ctx.sink.report(DiagId::TopkTooMany, call.spanOf("k"),
                                  {ctx.dims.toString(k.length), ctx.dims.toString(last.length)});
    report.label(call.values[0].span, toString(ctx, match.values[0]->type));
    report.note(explain(ctx.facts, verdict));
    if (!verdict.isFalse())
      report.help("if this always holds, state it: `where " + need + "` or `assert(" + need + ")`");
    return errorType(ctx);
  }
  shape.extents.back() = k;
  return tupleType(ctx, {shapedType(ctx, elemOfResult(call, match, 0), shape),
                         shapedType(ctx, elemOfResult(call, match, 1), shape)});
}

// ---- einsum -------------------------------------------------------------------------------------

namespace {
struct Equation {
  std::vector<std::string> operands;
  std::string result;
};
} // namespace

/// The letters that NumPy takes for the result where none are written: those that occur once, in the
/// order of the alphabet.
static std::string impliedResult(const std::string &operands) {
  std::string result;
  for (char c = 'A'; c <= 'z'; ++c)
    if (std::isalpha(static_cast<unsigned char>(c)) &&
        std::count(operands.begin(), operands.end(), c) == 1)
      result += c;
  return result;
}

static std::optional<Equation> parseEquation(const std::string &text, std::string *error) {
  size_t arrow = text.find("->");
  if (arrow == std::string::npos) {
    *error = "it has no `->` with the letters of the result, as in `" + text + "->" +
             impliedResult(text) + "`";
    return std::nullopt;
  }
  Equation equation;
  equation.operands.emplace_back();
  for (char c : text.substr(0, arrow)) {
    if (c == ',')
      equation.operands.emplace_back();
    else if (c != ' ')
      equation.operands.back() += c;
  }
  for (char c : text.substr(arrow + 2))
    if (c != ' ')
      equation.result += c;
  std::string all = equation.result;
  for (const std::string &operand : equation.operands)
    all += operand;
  for (char c : all)
    if (!std::isalpha(static_cast<unsigned char>(c))) {
      *error = std::string("`") + c + "` is not a letter";
      return std::nullopt;
    }
  return equation;
}

static const Type *reportEquation(Context &ctx, const OpCall &call, const std::string &text,
                                  std::string error) {
  ctx.sink.report(DiagId::EinsumEquation, call.spanOf("spec"), {text, std::move(error)});
  return errorType(ctx);
}

static const Type *checkEinsum(Context &ctx, const OpCall &call, const OpMatch &match,
                               OpExpr *expr) {
  auto *spec = dyn_cast_if_present<StringExpr>(call.other("spec"));
  std::string error;
  auto equation = parseEquation(spec->value, &error);
  if (!equation)
    return reportEquation(ctx, call, spec->value, error);
  if (equation->operands.size() != match.values.size())
    return reportEquation(ctx, call, spec->value,
                          "it names " + std::to_string(equation->operands.size()) +
                              " operands, but " + std::to_string(match.values.size()) +
                              " are given");
  std::map<char, std::pair<Extent, size_t>> extents;
  for (size_t i = 0; i < match.values.size(); ++i) {
    Shape shape = operandShape(match, i);
    const std::string &letters = equation->operands[i];
    if (shape.rank() != letters.size() || shape.prefix)
      return reportEquation(ctx, call, spec->value,
                            "`" + letters + "` has " + std::to_string(letters.size()) +
                                " letters, but the operand is `" +
                                toString(ctx, match.values[i]->type) + "`");
    for (size_t a = 0; a < letters.size(); ++a) {
      // A letter has one extent wherever it occurs.
      auto [it, isNew] = extents.try_emplace(letters[a], shape.extents[a], i);
      if (isNew || extentsEqual(ctx, it->second.first, shape.extents[a]) == Proof::True)
        continue;
      auto report = ctx.sink.report(DiagId::ShapesDoNotMatch, call.span,
                                    {std::string("einsum` for the letter `") + letters[a],
                                     toString(ctx.dims, it->second.first),
                                     toString(ctx.dims, shape.extents[a])});
      report.label(call.values[it->second.second].span,
                   toString(ctx, match.values[it->second.second]->type));
      report.label(call.values[i].span, toString(ctx, match.values[i]->type));
      explainExtents(ctx, report, it->second.first, shape.extents[a]);
      return errorType(ctx);
    }
  }
  Shape result;
  for (size_t i = 0; i < equation->result.size(); ++i) {
    char letter = equation->result[i];
    auto it = extents.find(letter);
    if (it == extents.end())
      return reportEquation(ctx, call, spec->value,
                            std::string("no operand has the letter `") + letter + "`");
    // A diagonal can be read but not written.
    if (equation->result.find(letter) != i)
      return reportEquation(ctx, call, spec->value,
                            std::string("`") + letter + "` occurs twice in the result");
    result.extents.push_back(it->second.first);
  }
  expr->equation = spec->value;
  // Later phases read the equation without blanks.
  expr->equation.erase(std::remove(expr->equation.begin(), expr->equation.end(), ' '),
                       expr->equation.end());
  return shapedType(ctx, elemOfResult(call, match), result);
}

// ---- Types that only hold numbers ---------------------------------------------------------------

bool onlyMoves(const OpRecord &op) {
  switch (op.id) {
  case OpId::Tril: // the rest becomes 0, which not all types have
  case OpId::Triu:
    return false;
  case OpId::Full:
  case OpId::Bitcast:
  case OpId::ScaledDot:
  case OpId::ExpectEqual:
    return true;
  default:
    return op.opClass == OpClass::Shape || op.opClass == OpClass::Select ||
           op.opClass == OpClass::Load;
  }
}

bool checkHeldOnly(Context &ctx, const OpCall &call, const OpMatch &match) {
  auto isHeld = [](const Type *type) {
    return (type->isArray() || type->isScalar()) && !type->elem.param &&
           isHeldOnly(type->elem.kind);
  };
  if (onlyMoves(*call.op))
    return true;
  auto report = [&](Span span, const Type *type) {
    ctx.sink.report(DiagId::OnlyHeld, span, {std::string(call.op->name), toString(type->elem)})
        .help("convert it first: `f32(x)`");
    return false;
  };
  for (size_t i = 0; i < match.values.size(); ++i)
    if (match.values[i] && isHeld(match.values[i]->type))
      return report(call.values[i].span, match.values[i]->type);
  for (const Type *result : match.results)
    if (isHeld(result))
      return report(call.span, result);
  return true;
}

// ---- Block-scaled products ----------------------------------------------------------------------

/// The factor `values[at]` of a block-scaled product, and its scales behind it.
static bool checkBlocks(Context &ctx, const OpCall &call, const OpMatch &match, size_t at) {
  const Type &factor = *match.values[at]->type;
  bool isBlocked = !factor.elem.param &&
                   (factor.elem.kind == ElemKind::F8E4M3 || factor.elem.kind == ElemKind::F8E5M2 ||
                    factor.elem.kind == ElemKind::F4E2M1);
  if (!isBlocked) {
    ctx.sink.report(DiagId::NotInBlocks, call.values[at].span,
                    {std::string(call.op->name), toString(factor.elem)});
    return false;
  }
  Dim length = operandShape(match, at).extents.back().length;
  // Each block has one scale, so none may be cut off at the end.
  Dim block = ctx.dims.constant(kBlockLength);
  if (Verdict whole = ctx.facts.proveDivides(block, length); !whole.isTrue()) {
    std::string text = ctx.dims.toString(length);
    auto report = ctx.sink.report(DiagId::BlocksNotWhole, call.values[at].span,
                                  {std::string(call.op->name), text});
    if (whole.isFalse())
      report.help("fill the last block with zeros: `pad`");
    else
      report.help("if it always is, state it: `where " + text + " % 32 == 0`");
    return false;
  }
  Dim blocks = ctx.dims.floorDiv(length, block);
  Dim scales = operandShape(match, at + 1).extents.back().length;
  if (ctx.facts.proveEqual(scales, blocks).isTrue())
    return true;
  ctx.sink
      .report(DiagId::ScalesDoNotMatch, call.values[at + 1].span,
              {std::string(ctx.text(call.values[at + 1].span)), ctx.dims.toString(scales),
               ctx.dims.toString(length), ctx.dims.toString(blocks)})
      .label(call.values[at].span, toString(ctx, match.values[at]->type));
  return false;
}

static const Type *checkScaledDot(Context &ctx, const OpCall &call, const OpMatch &match,
                                  OpExpr *expr) {
  return checkBlocks(ctx, call, match, 0) && checkBlocks(ctx, call, match, 2) ? expr->type
                                                                              : errorType(ctx);
}

// ---- Creation, conversion, loads ----------------------------------------------------------------

static const Type *checkIndexOp(Context &ctx, const OpCall &call, const OpMatch &match,
                                OpExpr *expr) {
  Expr *value = call.other("r");
  Elem elem{ElemKind::I32};
  // `index(n)` is `index(0..n)`.
  if (value->type->isInt()) {
    Dim length = dimOrHoist(ctx, value);
    return shapedType(ctx, elem, {false, {makeExtent(ctx, length)}});
  }
  const RangeInfo *range = value->type->range;
  Dim length = range->length;
  // The length of a range that was written out may be no dimension yet.
  if (!length && value->kind == ExprKind::Range) {
    auto *bounds = cast<RangeExpr>(value);
    Dim step = bounds->step ? dimOrHoist(ctx, bounds->step) : ctx.dims.constant(1);
    length = ctx.dims.ceilDiv(
        ctx.dims.sub(dimOrHoist(ctx, bounds->hi), dimOrHoist(ctx, bounds->lo)), step);
  }
  Extent extent = makeExtent(ctx, length, range->name.empty() ? nullptr : range);
  if (!extent.capacity)
    extent.capacity = range->capacity;
  return shapedType(ctx, elem, {false, {extent}});
}

static const Type *checkBitcast(Context &ctx, const OpCall &call, const OpMatch &match,
                                OpExpr *expr) {
  Elem from = match.values[0]->type->elem, to = *call.named;
  bool known = !from.param && !to.param && elemBits(from.kind) >= 8;
  // Both types must have a known width, and the same one.
  if (!known || elemBits(from.kind) != elemBits(to.kind) || elemIsInt(to) != elemIsInt(from)) {
    auto width = [](Elem elem) {
      return elem.param ? std::string("any number of") : std::to_string(elemBits(elem.kind));
    };
    ctx.sink.report(DiagId::BitcastWidth, call.span,
                    {toString(from), width(from), toString(to), width(to)});
    return errorType(ctx);
  }
  return shapedType(ctx, to, operandShape(match, 0));
}

/// `load(x[…], outside: v)` is the index expression itself, without bounds.
static const Type *checkLoad(Context &ctx, const OpCall &call, const OpMatch &match, OpExpr *expr) {
  // The index expression becomes the result, so that later phases see a load with a value outside.
  auto *region = dyn_cast_if_present<IndexExpr>(call.other("region"));
  Operand outside = call.values.front();
  Expr *value = operandAs(ctx, outside, region->type->elem);
  value = convertTo(ctx, value, scalarType(ctx, region->type->elem), "`outside`");
  region->outside = value;
  if (isMissing(value))
    return errorType(ctx);
  return region->type;
}

static CustomCheck customDataCheck(std::string_view name) {
  static constexpr std::pair<std::string_view, CustomCheck> checks[] = {
      {"gather", checkGather},     {"scatter", checkScatter},      {"cumsum", checkAlongAxis},
      {"cumprod", checkAlongAxis}, {"cummax", checkAlongAxis},     {"cummin", checkAlongAxis},
      {"sort", checkAlongAxis},    {"argsort", checkAlongAxis},    {"topk", checkTopk},
      {"einsum", checkEinsum},     {"index", checkIndexOp},        {"bitcast", checkBitcast},
      {"load", checkLoad},         {"scaled_dot", checkScaledDot},
  };
  for (const auto &[each, check] : checks)
    if (each == name)
      return check;
  return nullptr;
}

const Type *checkCustomOp(Context &ctx, const OpCall &call, const OpMatch &match, OpExpr *expr) {
  std::string_view name = call.op->name;
  // Shapes and data have a table each.
  CustomCheck check = customShapeCheck(name);
  if (!check)
    check = customDataCheck(name);
  return check ? check(ctx, call, match, expr) : expr->type;
}

} // namespace ptl
