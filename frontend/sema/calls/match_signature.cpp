#include "frontend/sema/calls/match_signature.h"

#include "frontend/sema/calls/check_op_custom_data.h"
#include "frontend/sema/calls/op_call_reports.h"
#include "frontend/sema/calls/signature_mismatch.h"
#include "frontend/sema/expressions/check_index.h"
#include "frontend/sema/types/capacity.h"
#include "frontend/sema/types/make_type.h"

#include <algorithm>

namespace ptl {

namespace {

/// One attempt at one signature.
struct Attempt {
  Context &ctx;
  const OpCall &call;
  const Signature &signature;
  std::vector<const TypePattern *> patterns; ///< parallel to `call.values`
  std::vector<std::optional<Elem>> elems;
  std::vector<size_t> elemFrom;
  std::vector<std::optional<Extent>> dims;
  std::vector<size_t> dimFrom;
  std::optional<Shape> rest;
  size_t restFrom = 0;
  Shape broadcastShape;
  size_t broadcastFrom = 0;

  Attempt(Context &ctx, const OpCall &call, const Signature &signature);
  Mismatch run();
  const Type *typeOf(const Operand &operand) const {
    return operand.expr ? operand.expr->type : nullptr;
  }
  Elem elemOf(const ElemPattern &pattern) const;
  Shape resultShape(const ShapePattern &pattern) const;

private:
  Mismatch bindElems();
  Mismatch bindElem(size_t operand);
  Mismatch bindWeak(size_t operand);
  Mismatch bindShapes();
  Mismatch bindNamedDims(size_t operand, const ShapePattern &pattern);
  Mismatch bindRest(size_t operand, Shape leading);
};

} // namespace

Attempt::Attempt(Context &ctx, const OpCall &call, const Signature &signature)
    : ctx(ctx), call(call), signature(signature) {
  elems.resize(signature.elemVars.size());
  elemFrom.resize(signature.elemVars.size());
  dims.resize(signature.dimVars.size());
  dimFrom.resize(signature.dimVars.size());
  for (size_t i = 0; i < call.values.size(); ++i) {
    size_t operand = i < call.operandIndex.size() ? call.operandIndex[i] : i;
    // The last pattern stands for all further operands.
    patterns.push_back(&signature.operands[std::min(operand, signature.operands.size() - 1)]);
  }
  // Dimensions that the call gives by name are bound before any operand.
  for (size_t i = 0; i < signature.dimVars.size(); ++i)
    for (const auto &[name, extent] : call.dims)
      if (name == signature.dimVars[i])
        dims[i] = extent;
}

/// What a pattern stands for, where `ofVariable` knows the element types of the variables.
template <typename OfVariable>
static Elem elemOfPattern(const OpCall &call, const ElemPattern &pattern, OfVariable ofVariable) {
  switch (pattern.kind) {
  case ElemPatternKind::Variable:
    return ofVariable(pattern.var);
  case ElemPatternKind::Acc:
    return accElem(ofVariable(pattern.var));
  case ElemPatternKind::Named:
    return call.named ? *call.named : call.arrayArg ? call.arrayArg->elem : Elem{};
  default:
    return Elem{pattern.concrete};
  }
}

Elem Attempt::elemOf(const ElemPattern &pattern) const {
  return elemOfPattern(call, pattern, [&](size_t var) { return elems[var].value_or(Elem{}); });
}

Mismatch Attempt::bindElem(size_t operand) {
  const Operand &value = call.values[operand];
  const Type *type = typeOf(value);
  if (!type || type->isError())
    return {};
  // Tuples and strings fit only a parameter that takes anything.
  if (!type->isScalar() && !type->isArray()) {
    if (patterns[operand]->elem.kind == ElemPatternKind::Any)
      return {};
    return {MismatchKind::NoValue, operand};
  }
  const ElemPattern &pattern = patterns[operand]->elem;
  // An `int` scalar adapts to the others, so it does not decide.
  bool weak = value.isIntScalar();
  if (pattern.kind == ElemPatternKind::Any)
    return {};
  if (pattern.kind != ElemPatternKind::Variable) {
    Elem need = elemOf(pattern);
    bool fits = type->elem == need || (weak && elemIs(need, ElemConstraint::Integer));
    Mismatch mismatch{MismatchKind::ElemExact, operand};
    mismatch.elem = need;
    return fits ? Mismatch{} : mismatch;
  }
  if (weak)
    return {};
  // All operands of one variable have one element type.
  std::optional<Elem> &bound = elems[pattern.var];
  if (bound && !(*bound == type->elem)) {
    Mismatch mismatch{MismatchKind::ElemDiffers, operand, elemFrom[pattern.var]};
    mismatch.elem = *bound;
    return mismatch;
  }
  // The type must belong to the class that the signature asks for.
  if (!elemIs(type->elem, signature.elemVars[pattern.var].constraint)) {
    Mismatch mismatch{MismatchKind::ElemClass, operand};
    mismatch.variable = constraintName(signature.elemVars[pattern.var].constraint);
    return mismatch;
  }
  if (!bound)
    elemFrom[pattern.var] = operand;
  bound = type->elem;
  return {};
}

/// Whether a constant that is written as a float meets whole numbers where the result would lose
/// what the float says: `1.5 + n`, and `1.0 / n`, which would divide without a remainder.
static bool truncates(const OpCall &call, const Operand &constant, Elem elem) {
  if (!constant.constant->isNumber() || !constant.constant->isFloat ||
      !elemIs(elem, ElemConstraint::Integer))
    return false;
  // A fraction is lost in an integer type. A whole constant is not, except that `/` would round.
  bool isWhole = constant.constant->number.isInteger();
  return call.op->name == "/" || (!isWhole && !elem.param);
}

/// `int` scalars and constants take what the others gave the variable.
Mismatch Attempt::bindWeak(size_t operand) {
  const Operand &value = call.values[operand];
  const ElemPattern &pattern = patterns[operand]->elem;
  if (pattern.kind != ElemPatternKind::Variable || value.isError() ||
      (value.expr && !value.isIntScalar()))
    return {};
  std::optional<Elem> &bound = elems[pattern.var];
  ElemConstraint constraint = signature.elemVars[pattern.var].constraint;
  if (bound) {
    bool fits = value.isUntyped() ? !truncates(call, value, *bound)
                                  : elemIs(*bound, ElemConstraint::Integer);
    Mismatch mismatch{MismatchKind::ElemDiffers, operand, elemFrom[pattern.var]};
    mismatch.elem = *bound;
    return fits ? Mismatch{} : mismatch;
  }
  Elem elem{ElemKind::Int};
  // Nothing else has decided: `int` is the default, or `float` if one of the constants is one.
  for (size_t i = 0; i < call.values.size(); ++i) {
    bool same =
        patterns[i]->elem.kind == ElemPatternKind::Variable && patterns[i]->elem.var == pattern.var;
    if (same && call.values[i].isUntyped() && !value.isIntScalar())
      if (Elem own = defaultElem(*call.values[i].constant); !elemIsInt(own))
        elem = own;
  }
  // Where the result has the same variable, the expected type decides about constants.
  bool shares = !signature.results.empty() &&
                signature.results.front().elem.kind == ElemPatternKind::Variable &&
                signature.results.front().elem.var == pattern.var;
  if (value.isUntyped() && call.expected && shares && elemIs(*call.expected, constraint))
    elem = *call.expected;
  // Constants such as `1` become floats where only these are allowed.
  if (value.isUntyped() && !elemIs(elem, constraint) && constraint == ElemConstraint::Float)
    elem = Elem{ElemKind::F32};
  if (!elemIs(elem, constraint)) {
    Mismatch mismatch{MismatchKind::ElemClass, operand};
    mismatch.variable = constraintName(constraint);
    return mismatch;
  }
  elemFrom[pattern.var] = operand;
  bound = elem;
  return {};
}

Mismatch Attempt::bindElems() {
  // Typed operands come first, because they decide for those that adapt.
  for (size_t i = 0; i < call.values.size(); ++i)
    if (call.given[i])
      if (Mismatch m = bindElem(i); m.kind != MismatchKind::None)
        return m;
  // `int` scalars decide before constants do.
  for (bool constants : {false, true})
    for (size_t i = 0; i < call.values.size(); ++i)
      if (call.given[i] && call.values[i].isUntyped() == constants)
        if (Mismatch m = bindWeak(i); m.kind != MismatchKind::None)
          return m;
  return {};
}

Mismatch Attempt::bindRest(size_t operand, Shape leading) {
  if (!rest) {
    rest = std::move(leading);
    restFrom = operand;
    return {};
  }
  Mismatch mismatch{MismatchKind::Rank, operand, restFrom};
  mismatch.prefixRank = true;
  // A plain matrix goes with every member of a batch, which a signature of its own says.
  // Other operations need equal leading axes.
  bool broadcasts = call.op->opClass == OpClass::Product && rest->isScalar() == leading.isScalar();
  if (auto both = broadcasts ? broadcast(ctx, *rest, leading, &mismatch.extents) : std::nullopt) {
    rest = std::move(both);
    return {};
  }
  if (rest->prefix != leading.prefix || rest->rank() != leading.rank())
    return mismatch;
  mismatch.kind = MismatchKind::Extent;
  if (broadcasts)
    return mismatch;
  for (size_t i = 0; i < leading.rank(); ++i)
    if (extentsEqual(ctx, rest->extents[i], leading.extents[i]) != Proof::True) {
      mismatch.extents = {rest->extents[i], leading.extents[i], 0, false};
      return mismatch;
    }
  return {};
}

Mismatch Attempt::bindNamedDims(size_t operand, const ShapePattern &pattern) {
  const Type *type = typeOf(call.values[operand]);
  Shape shape = type ? shapeOf(type) : Shape();
  size_t count = pattern.dims.size();
  // With `..` the operand may have more axes in front; otherwise the number must be the same.
  bool fits = pattern.hasRest ? shape.rank() >= count : shape.rank() == count && !shape.prefix;
  if (!fits) {
    Mismatch mismatch{MismatchKind::Rank, operand};
    mismatch.rank = count;
    return mismatch;
  }
  size_t lead = shape.rank() - count;
  for (size_t i = 0; i < count; ++i) {
    std::optional<Extent> &bound = dims[pattern.dims[i]];
    const Extent &extent = shape.extents[lead + i];
    // The first operand with a dimension binds it; the others must agree.
    if (!bound) {
      bound = extent;
      dimFrom[pattern.dims[i]] = operand;
    } else if (extentsEqual(ctx, *bound, extent) != Proof::True) {
      Mismatch mismatch{MismatchKind::Extent, operand, dimFrom[pattern.dims[i]]};
      mismatch.variable = signature.dimVars[pattern.dims[i]];
      mismatch.extents = {*bound, extent, 0, false};
      return mismatch;
    }
  }
  if (!pattern.hasRest)
    return {};
  Shape leading{shape.prefix,
                {shape.extents.begin(), shape.extents.begin() + static_cast<long>(lead)}};
  return bindRest(operand, std::move(leading));
}

Mismatch Attempt::bindShapes() {
  bool first = true;
  for (size_t i = 0; i < call.values.size(); ++i) {
    if (!call.given[i] || call.values[i].isError())
      continue;
    const Type *type = typeOf(call.values[i]);
    Shape shape = type ? shapeOf(type) : Shape();
    const ShapePattern &pattern = patterns[i]->shape;
    Mismatch mismatch{MismatchKind::None, i};
    switch (pattern.kind) {
    case ShapePatternKind::Scalar:
      if (!shape.isScalar())
        return {MismatchKind::NotScalar, i};
      break;
    case ShapePatternKind::Broadcast: {
      auto both = broadcast(ctx, broadcastShape, shape, &mismatch.extents);
      if (!both) {
        mismatch.kind = MismatchKind::Broadcast;
        mismatch.other = broadcastFrom;
        return mismatch;
      }
      // The operand that gave the shape its first axes is named in the message.
      if (first || !shape.isScalar())
        broadcastFrom = broadcastShape.isScalar() ? i : broadcastFrom;
      first = false;
      broadcastShape = *both;
      break;
    }
    case ShapePatternKind::Dims:
      if (Mismatch m = bindNamedDims(i, pattern); m.kind != MismatchKind::None)
        return m;
      break;
    default:
      break;
    }
  }
  return {};
}

Mismatch Attempt::run() {
  if (Mismatch m = bindElems(); m.kind != MismatchKind::None)
    return m;
  return bindShapes();
}

Shape Attempt::resultShape(const ShapePattern &pattern) const {
  Shape shape;
  if (pattern.kind == ShapePatternKind::Broadcast)
    return broadcastShape;
  if (pattern.kind != ShapePatternKind::Dims)
    return shape;
  if (pattern.hasRest && rest)
    shape = *rest;
  for (uint8_t dim : pattern.dims)
    shape.extents.push_back(dims[dim].value_or(Extent()));
  return shape;
}

// ---- The match ----------------------------------------------------------------------------------

static const Type *resultType(Context &ctx, const OpCall &call, const Attempt &attempt,
                              const TypePattern &pattern, OpMatch &match) {
  // The result is the type that an argument spells.
  if (pattern.fromArrayArg)
    return call.arrayArg ? call.arrayArg : errorType(ctx);
  // The built-in finds the type of its result itself.
  if (pattern.shape.kind == ShapePatternKind::Custom)
    return errorType(ctx);
  Elem elem = attempt.elemOf(pattern.elem);
  if (pattern.shape.kind != ShapePatternKind::Reduced)
    return shapedType(ctx, elem, attempt.resultShape(pattern.shape));
  if (!call.axes)
    return scalarType(ctx, elem);
  Shape shape = shapeOf(match.values.front()->type);
  auto axes = normalizeAxes(ctx, call, shape);
  if (!axes)
    return errorType(ctx);
  for (int64_t axis : *axes)
    // Reduced axes are kept with length 1.
    shape.extents[shape.rank() + static_cast<size_t>(axis)] = makeExtent(ctx, ctx.dims.constant(1));
  return shapedType(ctx, elem, shape);
}

/// A factor with the batch of its product; one whose own has extents of 1 alone is a plain matrix.
static Expr *withBatch(Context &ctx, Expr *value, const ShapePattern &pattern, const Shape &batch) {
  Shape own = shapeOf(value->type);
  auto matrix = own.extents.end() - static_cast<long>(pattern.dims.size());
  Shape leading{own.prefix, {own.extents.begin(), matrix}};
  // A batch that is the same needs nothing.
  if (leading.isScalar() || sameShape(ctx, leading, batch))
    return value;
  auto isOne = [](const Extent &extent) { return extent.length.isConstant(1); };
  // A factor whose leading axes are all 1 drops them and serves the whole batch.
  bool isPlain = !own.prefix && std::all_of(own.extents.begin(), matrix, isOne);
  Shape whole = isPlain ? Shape() : batch;
  whole.extents.insert(whole.extents.end(), matrix, own.extents.end());
  return isPlain ? reshaped(ctx, value, whole) : repeated(ctx, value, whole);
}

static Expr *operandOf(Context &ctx, const Attempt &attempt, size_t index) {
  const TypePattern &pattern = *attempt.patterns[index];
  // An operand that may be anything keeps its own type.
  if (pattern.elem.kind == ElemPatternKind::Any)
    return settle(ctx, attempt.call.values[index]);
  Expr *value = operandAs(ctx, attempt.call.values[index], attempt.elemOf(pattern.elem));
  bool isFactor = attempt.call.op->opClass == OpClass::Product && pattern.shape.hasRest;
  return isFactor ? withBatch(ctx, value, pattern.shape, *attempt.rest) : value;
}

static OpMatch finish(Context &ctx, const OpCall &call, const Attempt &attempt) {
  OpMatch match;
  match.signature = &attempt.signature;
  for (const auto &elem : attempt.elems)
    match.elems.push_back(elem.value_or(Elem{}));
  for (size_t i = 0; i < call.values.size(); ++i)
    match.values.push_back(!call.given[i] ? nullptr : operandOf(ctx, attempt, i));
  // Results come last, since they depend on the operands.
  for (const TypePattern &pattern : attempt.signature.results)
    match.results.push_back(resultType(ctx, call, attempt, pattern, match));
  if (match.results.empty())
    match.results.push_back(voidType(ctx));
  return match;
}

Elem resultElem(const OpCall &call, const OpMatch &match, const ElemPattern &pattern) {
  return elemOfPattern(call, pattern, [&](size_t var) { return match.elems[var]; });
}

OpMatch matchSignature(Context &ctx, const OpCall &call) {
  for (const Operand &operand : call.values)
    // An operand in error has been reported.
    if (operand.isError())
      return {};
  Mismatch best;
  const Signature *bestSignature = nullptr;
  for (const Signature &signature : call.op->signatures) {
    // A signature without operands is for calls without values.
    if (signature.operands.empty() && !call.values.empty())
      continue;
    Attempt attempt(ctx, call, signature);
    Mismatch mismatch = attempt.run();
    if (mismatch.kind == MismatchKind::None) {
      OpMatch match = finish(ctx, call, attempt);
      if (!checkHeldOnly(ctx, call, match))
        return {};
      warnOfKeptAxis(ctx, call, match);
      return match;
    }
    // The signature that got furthest is most likely what was meant.
    if (!bestSignature || mismatch.kind > best.kind) {
      best = mismatch;
      bestSignature = &signature;
    }
  }
  if (bestSignature)
    reportMismatch(ctx, call, *bestSignature, best);
  return {};
}

} // namespace ptl
