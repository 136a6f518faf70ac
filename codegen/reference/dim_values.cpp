#include "codegen/reference/dim_values.h"

namespace ptl::reference {

std::optional<int64_t> tryDim(const RunState &run, Dim dim) {
  if (!dim)
    return std::nullopt;
  if (auto constant = dim.constant())
    // Most dimensions are constants or single symbols.
    return constant;
  if (auto symbol = dim.symbol())
    return run.symbolValue(*symbol);
  return evaluate(dim, [&run](SymbolId symbol) { return run.symbolValue(symbol); });
}

int64_t dimValue(const RunState &run, Dim dim, Span span) {
  if (auto value = tryDim(run, dim))
    return *value;
  // If all symbols are known, only the arithmetic can have failed.
  bool allKnown = dim.isKnown();
  forEachSymbol(dim, [&](SymbolId symbol) { allKnown = allKnown && run.symbolValue(symbol); });
  std::string text = run.program().dims->toString(dim);
  if (allKnown)
    stop(RunStatus::Arithmetic, "`" + text + "` divides by zero or overflows", span);
  stop(RunStatus::Fault, "the dimension `" + text + "` has no value", span);
}

ElemKind elemOf(const RunState &run, const Elem &elem) {
  if (!elem.param)
    return elem.kind;
  const auto &params = run.frame().decl->typeParams;
  for (size_t i = 0; i < params.size() && i < run.frame().elems.size(); ++i)
    if (params[i] == elem.param)
      return elem.acc ? accOf(run.frame().elems[i]) : run.frame().elems[i];
  stop(RunStatus::Fault, "the element type `" + elem.param->name + "` has no value");
}

int64_t lengthValue(const RunState &run, Dim dim, Span span) {
  int64_t length = dimValue(run, dim, span);
  if (length < 0)
    stop(RunStatus::Bounds,
         "the extent `" + run.program().dims->toString(dim) + "` is " + std::to_string(length),
         span);
  return length;
}

std::vector<int64_t> shapeOf(const RunState &run, const Type &type, Span span) {
  std::vector<int64_t> shape;
  if (type.prefix)
    // The leading axes are those that the call bound.
    shape = run.frame().prefix;
  for (const Extent &extent : type.extents)
    shape.push_back(lengthValue(run, extent.length, span));
  return shape;
}

} // namespace ptl::reference
