#include "frontend/sema/calls/unify.h"

#include "frontend/sema/expressions/broadcast.h"
#include "frontend/sema/expressions/convert.h"
#include "frontend/sema/types/capacity.h"
#include "frontend/sema/types/make_type.h"

#include <algorithm>

namespace ptl {

Unifier::Unifier(Context &ctx, const std::vector<DimParam> &dims,
                 const std::vector<TypeParam *> &typeParams)
    : ctx_(ctx), typeParams_(typeParams.begin(), typeParams.end()) {
  for (const DimParam &dim : dims) {
    open_.push_back(dim.symbol);
    names_.push_back(dim.name);
  }
}

bool Unifier::isOpen(SymbolId symbol) const {
  return std::find(open_.begin(), open_.end(), symbol) != open_.end();
}

std::optional<Extent> Unifier::extentOf(SymbolId symbol) const {
  auto it = extents_.find(symbol);
  return it == extents_.end() ? std::nullopt : std::optional(it->second);
}

std::optional<Elem> Unifier::elemOf(const TypeParam *param) const {
  auto it = elems_.find(param);
  return it == elems_.end() ? std::nullopt : std::optional(it->second.first);
}

bool Unifier::bindDim(SymbolId symbol, const Extent &extent, const BindingSource &source) {
  auto [it, isNew] = extents_.try_emplace(symbol, extent);
  if (isNew) {
    sources_[symbol] = source;
    map_[symbol] = extent.length;
    return true;
  }
  if (extentsEqual(ctx_, it->second, extent) == Proof::True) {
    // Equal lengths may come with different knowledge; a capacity is worth keeping.
    if (!it->second.capacity)
      it->second.capacity = extent.capacity;
    return true;
  }
  size_t index = static_cast<size_t>(std::find(open_.begin(), open_.end(), symbol) - open_.begin());
  auto report = ctx_.sink.report(DiagId::DimensionBoundTwice, source.span,
                                 {names_[index], toString(ctx_.dims, it->second),
                                  sources_[symbol].text, toString(ctx_.dims, extent), source.text});
  report.label(sources_[symbol].span,
               "`" + names_[index] + "` is `" + toString(ctx_.dims, it->second) + "` by this");
  explainExtents(ctx_, report, it->second, extent);
  return false;
}

bool Unifier::bindElem(const TypeParam *param, Elem elem, const BindingSource &source) {
  // The first argument binds the parameter, and later ones must agree.
  auto [it, isNew] = elems_.try_emplace(param, std::pair{elem, source});
  if (!isNew && !(it->second.first == elem)) {
    auto report = ctx_.sink.report(DiagId::ElementTypeBoundTwice, source.span,
                                   {param->name, toString(it->second.first), it->second.second.text,
                                    toString(elem), source.text});
    report.label(it->second.second.span,
                 "`" + param->name + "` is `" + toString(it->second.first) + "` by this");
    return false;
  }
  if (isNew && !elemIs(elem, param->constraint)) {
    ctx_.sink
        .report(DiagId::ElementTypeNotAllowed, source.span,
                {param->name, std::string(constraintName(param->constraint)), toString(elem)})
        .label(param->span, "declared here");
    return false;
  }
  return true;
}

DiagnosticBuilder Unifier::mismatch(const Type *param, const Type *arg,
                                    const BindingSource &source) {
  auto report = ctx_.sink.report(DiagId::ArgumentMismatch, source.span,
                                 {source.text, toString(ctx_, arg), toString(ctx_, param)});
  if (arg->kind == TypeKind::List && param->isArray())
    helpWithList(report);
  return report;
}

/// Offers to convert an argument to the element type that is needed, when that is known.
void Unifier::offerConversion(Elem param, Elem arg, Span span, DiagnosticBuilder report) const {
  auto bound = param.param ? elemOf(param.param) : std::nullopt;
  if (param.param && !bound)
    // Nothing is known yet that could be converted to.
    return;
  Elem need = bound ? (param.acc ? accElem(*bound) : *bound) : param;
  ptl::offerConversion(ctx_, report, span, arg, need);
}

bool Unifier::unifyElem(Elem param, Elem arg, const std::string &paramName, Span span) {
  // A parameter of an enclosing declaration is a type like any other here.
  if (!param.param ||
      std::find(typeParams_.begin(), typeParams_.end(), param.param) == typeParams_.end())
    return param == arg;
  if (!param.acc)
    return bindElem(param.param, arg, {paramName, span});
  // What accumulates a type does not determine it, so the parameter must be bound by another
  // argument.
  auto bound = elemOf(param.param);
  return bound && accElem(*bound) == arg;
}

bool Unifier::unifyExtent(Dim param, const Extent &arg, const BindingSource &source) {
  // An extent in error fits everything.
  if (!param || !arg.length)
    return true;
  if (auto symbol = param.symbol(); symbol && isOpen(*symbol))
    return bindDim(*symbol, arg, source);
  // An expression over open dimensions is solved when all names are bound.
  pending_.push_back({param, arg, source});
  return true;
}

bool Unifier::unifyPrefix(Shape leading, const BindingSource &source) {
  if (!prefix_) {
    prefix_ = std::move(leading);
    prefixSource_ = source;
    return true;
  }
  if (sameShape(ctx_, *prefix_, leading))
    return true;
  auto report = ctx_.sink.report(
      DiagId::PrefixBoundTwice, source.span,
      {toString(ctx_, *prefix_), prefixSource_.text, toString(ctx_, leading), source.text});
  report.label(prefixSource_.span, "`..` is `" + toString(ctx_, *prefix_) + "` by this");
  return false;
}

bool Unifier::unifyShape(const Type *param, const Shape &arg, const Type *argType,
                         const BindingSource &source) {
  size_t count = param->extents.size();
  // A prefix takes up further axes in front.
  bool fits = param->prefix ? arg.rank() >= count : arg.rank() == count && !arg.prefix;
  if (!fits)
    return mismatch(param, argType, source), false;
  size_t lead = arg.rank() - count;
  bool ok = true;
  if (param->prefix)
    ok = unifyPrefix(
        {arg.prefix, {arg.extents.begin(), arg.extents.begin() + static_cast<long>(lead)}}, source);
  for (size_t i = 0; ok && i < count; ++i)
    ok = unifyExtent(param->extents[i].length, arg.extents[lead + i], source);
  return ok && unifyStrides(param, arg, argType, source);
}

bool Unifier::unifyStrides(const Type *param, const Shape &arg, const Type *argType,
                           const BindingSource &source) {
  bool ok = true;
  // An argument without strides is dense: each stride is the product of the extents behind it.
  Dim dense = ctx_.dims.constant(1);
  for (size_t i = param->strides.size(); ok && i-- > 0;) {
    bool isSaid = i < argType->strides.size();
    ok = unifyExtent(param->strides[i], makeExtent(ctx_, isSaid ? argType->strides[i] : dense),
                     source);
    // From an unknown length on no stride is known.
    dense = dense && arg.extents[i].length ? ctx_.dims.mul(dense, arg.extents[i].length) : Dim();
  }
  return ok;
}

bool Unifier::unifyStruct(const Type *param, const Type *arg, const BindingSource &source) {
  if (param->structDecl != arg->structDecl)
    return mismatch(param, arg, source), false;
  bool ok = true;
  for (size_t i = 0; ok && i < param->elemArgs.size() && i < arg->elemArgs.size(); ++i)
    ok = unifyElem(param->elemArgs[i], arg->elemArgs[i], source.text, source.span) ||
         (mismatch(param, arg, source), false);
  for (size_t i = 0; ok && i < param->dimArgs.size() && i < arg->dimArgs.size(); ++i)
    ok = unifyExtent(param->dimArgs[i], makeExtent(ctx_, arg->dimArgs[i]), source);
  return ok;
}

bool Unifier::unify(const Type *param, const Type *arg, const std::string &paramName, Span span) {
  BindingSource source{paramName, span};
  if (param->isError() || arg->isError())
    // The argument in error was reported; a parameter in error does no harm.
    return !arg->isError();
  bool bothNumeric = (param->isArray() || param->isScalar()) && (arg->isArray() || arg->isScalar());
  if (bothNumeric) {
    if (param->isScalar() && arg->isArray())
      return mismatch(param, arg, source), false;
    size_t errors = ctx_.sink.errorCount();
    if (!unifyElem(param->elem, arg->elem, paramName, span)) {
      // The element type itself was reported.
      if (ctx_.sink.errorCount() > errors)
        return false;
      offerConversion(param->elem, arg->elem, span, mismatch(param, arg, source));
      return false;
    }
    return param->isScalar() || unifyShape(param, shapeOf(arg), arg, source);
  }
  if (param->kind != arg->kind)
    return mismatch(param, arg, source), false;
  if (param->kind == TypeKind::Struct)
    return unifyStruct(param, arg, source);
  if (param->kind == TypeKind::Tuple) {
    if (param->elements.size() != arg->elements.size())
      return mismatch(param, arg, source), false;
    for (size_t i = 0; i < param->elements.size(); ++i)
      if (!unify(param->elements[i], arg->elements[i], paramName, span))
        return false;
  }
  if (param->kind == TypeKind::List)
    return unifyShape(param, shapeOf(arg), arg, source);
  return true;
}

Dim Unifier::substitute(Dim dim) const { return dim ? ctx_.dims.substitute(dim, map_) : dim; }

/// `2*D` against `C`: `D` is `C / 2` where that is exact. `G*R` against `G*H`, with `G` known: `R`
/// is `H`.
bool Unifier::solve(const Pending &pending) {
  Dim param = substitute(pending.param);
  std::optional<SymbolId> unknown;
  size_t unknowns = 0;
  forEachSymbol(param, [&](SymbolId symbol) {
    if (isOpen(symbol) && !map_.count(symbol)) {
      unknown = symbol;
      ++unknowns;
    }
  });
  // With two unknowns there are many solutions, and with none there is nothing to find.
  if (unknowns != 1)
    return true;
  // The coefficient is the difference between the values at 1 and at 0.
  DimSubstitution atZero{{*unknown, ctx_.dims.constant(0)}},
      atOne{{*unknown, ctx_.dims.constant(1)}};
  Dim rest = ctx_.dims.substitute(param, atZero);
  Dim coefficient = ctx_.dims.sub(ctx_.dims.substitute(param, atOne), rest);
  Dim linear = ctx_.dims.add(rest, ctx_.dims.mul(coefficient, ctx_.dims.symbolDim(*unknown)));
  // The equation is linear if this is the same expression; others are left to the comparison below.
  if (!coefficient || !(linear == param))
    return true;
  auto factor = coefficient.constant();
  if (factor && *factor < 1)
    return true;
  Dim value = ctx_.dims.sub(pending.arg.length, rest);
  // The division by a number is checked when the value is substituted back. That by a dimension, of
  // which nothing says that it is at least 1, is taken only where the product is the same
  // polynomial.
  if (!factor || *factor != 1) {
    Dim quotient = ctx_.dims.floorDiv(value, coefficient);
    if (!factor && (!quotient || !(ctx_.dims.mul(quotient, coefficient) == value)))
      return true;
    value = quotient;
  }
  return bindDim(*unknown, makeExtent(ctx_, value), pending.source);
}

bool Unifier::hasKnownParts(Dim dim) const {
  bool isKnown = dim.isKnown();
  forEachSymbol(dim, [&](SymbolId symbol) {
    auto found = map_.find(symbol);
    isKnown &= found == map_.end() || found->second.isKnown();
  });
  return isKnown;
}

bool Unifier::settle() {
  // All equations are solved before any is compared, because one may give what another needs.
  for (const Pending &pending : pending_)
    if (!solve(pending))
      return false;
  bool ok = true;
  for (const Pending &pending : pending_) {
    Extent need = makeExtent(ctx_, substitute(pending.param));
    bool open = false;
    forEachSymbol(need.length,
                  [&](SymbolId symbol) { open = open || (isOpen(symbol) && !map_.count(symbol)); });
    // A formula of the parameter's type is too large with these arguments.
    if (!need.length && hasKnownParts(pending.param)) {
      ctx_.sink.report(DiagId::DimensionTooLarge, pending.source.span);
      ok = false;
      continue;
    }
    // An open dimension was not determined, which the caller reports.
    if (open || extentsEqual(ctx_, need, pending.arg) == Proof::True)
      continue;
    auto report =
        ctx_.sink.report(DiagId::ArgumentExtentDiffers, pending.source.span,
                         {pending.source.text, toString(ctx_.dims, pending.arg),
                          ctx_.dims.toString(pending.param), ctx_.dims.toString(need.length)});
    explainExtents(ctx_, report, need, pending.arg);
    ok = false;
  }
  return ok;
}

const Type *Unifier::substitute(const Type *type) const {
  if (!type || type->isError())
    return errorType(ctx_);
  Type *copy = copyType(ctx_, *type);
  auto replaceElem = [&](Elem elem) {
    auto bound = elem.param ? elemOf(elem.param) : std::nullopt;
    return !bound ? elem : elem.acc ? accElem(*bound) : *bound;
  };
  copy->elem = replaceElem(type->elem);
  for (Elem &elem : copy->elemArgs)
    elem = replaceElem(elem);
  for (Extent &extent : copy->extents) {
    auto symbol = extent.length ? extent.length.symbol() : std::nullopt;
    auto bound = symbol ? extentOf(*symbol) : std::nullopt;
    // A bound extent keeps its range and capacity; others are computed.
    extent = bound ? *bound : makeExtent(ctx_, substitute(extent.length));
  }
  for (Dim &dim : copy->dimArgs)
    dim = substitute(dim);
  for (const Type *&element : copy->elements)
    element = substitute(element);
  // Strides and places belong to the array that was passed, not to the result.
  copy->strides.clear();
  copy->place = Place::Inferred;
  if (type->prefix) {
    copy->prefix = prefix_ && prefix_->prefix;
    if (prefix_)
      copy->extents.insert(copy->extents.begin(), prefix_->extents.begin(), prefix_->extents.end());
  }
  // With an empty prefix nothing may be left of the shape.
  if (copy->isArray() && copy->extents.empty() && !copy->prefix)
    return scalarType(ctx_, copy->elem);
  return copy;
}

} // namespace ptl
