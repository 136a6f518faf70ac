#include "codegen/reference/bind.h"

#include "codegen/reference/dim_values.h"

namespace ptl::reference {

void bindRangeSymbols(RunState &run, const RangeInfo &info, const RangeValue &range) {
  auto bind = [&](Dim dim, int64_t number) {
    if (auto symbol = dim ? dim.symbol() : std::nullopt)
      run.bindSymbol(*symbol, number);
  };
  bind(info.start, range.start);
  bind(info.length, range.length);
  bind(info.count, range.count);
}

void bindLocal(RunState &run, const Local &which, Value value) {
  if (which.symbol && value.isScalar())
    run.bindSymbol(*which.symbol, value.asScalar().scalar.i);
  if (value.isRange() && which.type->range)
    bindRangeSymbols(run, *which.type->range, value.asRange());
  run.local(which) = std::move(value);
}

void bindDimLocals(RunState &run, const CallableDecl &decl) {
  for (const DimParam &dim : decl.dims)
    if (auto value = run.symbolValue(dim.symbol); value && dim.local)
      run.local(*dim.local) = Value::integer(*value);
}

void bindTunables(RunState &run, const CallableDecl &decl,
                  const std::map<std::string, int64_t> &overrides) {
  for (const Tunable &tunable : decl.tunables) {
    auto found = overrides.find(tunable.local->name);
    int64_t value = found != overrides.end() ? found->second : tunable.defaultValue;
    if (tunable.local->symbol)
      run.bindSymbol(*tunable.local->symbol, value);
    run.local(*tunable.local) = tunable.isBool ? Value::boolean(value != 0) : Value::integer(value);
  }
}

Value undefinedOf(const RunState &run, const Type &type) {
  if (type.isArray())
    return Value::array(undefinedArray(elemOf(run, type.elem), shapeOf(run, type)));
  if (type.kind == TypeKind::Tuple) {
    Value::Parts parts;
    for (const Type *element : type.elements)
      parts.push_back(undefinedOf(run, *element));
    return Value::parts(std::move(parts));
  }
  return Value::undefined();
}

} // namespace ptl::reference
