#include "codegen/reference/bind_entry.h"

#include "codegen/reference/bind.h"
#include "codegen/reference/dim_values.h"
#include "codegen/reference/eval.h"

#include <algorithm>

namespace ptl::reference {

namespace {

/// Binds what a signature leaves open by concrete arguments.
class EntryBinder {
public:
  EntryBinder(RunState &run, const CallableDecl &decl) : run_(run), decl_(decl) {}

  void bind(const std::vector<Value> &args, const RunOptions &options);

private:
  struct Pending {
    Dim dim;
    int64_t value;
    std::string name;
    bool isStride = false;
    bool mayDiffer = false; ///< nothing depends on it: it is only a way to a dimension
  };

  void bindElem(const Elem &elem, ElemKind kind, const std::string &name);
  void bindValue(const Type &type, const Value &value, const std::string &name);
  void bindStruct(const Type &type, const Value &value, const std::string &name);
  void bindShape(const Type &type, std::span<const int64_t> shape, const std::string &name);
  void bindPrefix(std::span<const int64_t> lead, const std::string &name);
  void bindStrides(const Type &type, std::span<const int64_t> shape, const std::string &name);
  void bindExtent(Dim dim, int64_t value, const std::string &name);
  void bindLength(const Pending &length);
  bool solveOne(const Pending &pending);
  void settle();
  [[noreturn]] void mismatch(const std::string &name, const std::string &why) {
    stop(RunStatus::Arguments, "`" + name + "`: " + why, decl_.nameSpan);
  }

  RunState &run_;
  const CallableDecl &decl_;
  std::map<const TypeParam *, ElemKind> elems_;
  std::map<SymbolId, std::string> sources_;
  std::optional<std::vector<int64_t>> prefix_;
  std::vector<Pending> pending_;
};

void EntryBinder::bindElem(const Elem &elem, ElemKind kind, const std::string &name) {
  ElemKind need = elem.kind;
  if (elem.param) {
    // The accumulator's type follows from the parameter, which another argument binds.
    if (elem.acc && !elems_.count(elem.param))
      return;
    need = elems_.try_emplace(elem.param, kind).first->second;
    if (elem.acc)
      need = accOf(need);
    else if (!satisfies(need, elem.param->constraint))
      mismatch(name, "`" + elem.param->name + "` is any `" +
                         std::string(constraintName(elem.param->constraint)) + "` type, not `" +
                         std::string(elemName(kind)) + "`");
  }
  if (need != kind)
    mismatch(name, "needs elements of type `" + std::string(elemName(need)) + "`, got `" +
                       std::string(elemName(kind)) + "`");
}

void EntryBinder::bindExtent(Dim dim, int64_t value, const std::string &name) {
  bindLength({dim, value, name});
}

void EntryBinder::bindLength(const Pending &length) {
  auto symbol = length.dim.symbol();
  // Only the callee's own dimensions are bound here; other symbols are computed.
  bool isOwn = symbol && std::any_of(decl_.dims.begin(), decl_.dims.end(),
                                     [&](const DimParam &each) { return each.symbol == *symbol; });
  if (isOwn && !run_.symbolValue(*symbol)) {
    run_.bindSymbol(*symbol, length.value);
    sources_[*symbol] = length.name;
    return;
  }
  // What is no single open symbol is settled when all arguments are bound.
  pending_.push_back(length);
}

/// Arguments are dense here. The strides of an empty array say nothing, and neither does that of an
/// axis of one element.
void EntryBinder::bindStrides(const Type &type, std::span<const int64_t> shape,
                              const std::string &name) {
  bool isEmpty = elementCount(shape) == 0;
  int64_t dense = 1;
  // Strides are compared from the last axis on, whose elements are neighbours.
  for (size_t axis = type.strides.size(); axis-- > 0;) {
    bindLength({type.strides[axis], dense, name, true, isEmpty || shape[axis] == 1});
    dense *= shape[axis];
  }
}

// All arguments with `..` share the same leading axes.
void EntryBinder::bindPrefix(std::span<const int64_t> lead, const std::string &name) {
  if (!prefix_)
    prefix_.emplace(lead.begin(), lead.end());
  else if (!std::equal(lead.begin(), lead.end(), prefix_->begin(), prefix_->end()))
    mismatch(name, "`..` is " + shapeText(*prefix_) + " by another argument, " + shapeText(lead) +
                       " by this");
}

void EntryBinder::bindShape(const Type &type, std::span<const int64_t> shape,
                            const std::string &name) {
  size_t count = type.extents.size();
  if (shape.size() < count || (shape.size() > count && !type.prefix))
    mismatch(name, "has " + std::to_string(shape.size()) + " axes, needs " +
                       (type.prefix ? "at least " : "") + std::to_string(count));
  size_t lead = shape.size() - count;
  if (type.prefix)
    bindPrefix(shape.first(lead), name);
  for (size_t i = 0; i < count; ++i)
    bindExtent(type.extents[i].length, shape[lead + i], name);
}

/// The fields say what the struct's own dimensions are; these are then the parameter's.
void EntryBinder::bindStruct(const Type &type, const Value &value, const std::string &name) {
  const StructDecl &decl = *type.structDecl;
  if (!value.isParts() || value.asParts().size() != decl.fields.size())
    mismatch(name, "needs a `" + decl.name + "`");
  // The struct's dimensions have names of their own, which map to the parameter's arguments.
  std::map<SymbolId, int64_t> own;
  for (size_t f = 0; f < decl.fields.size(); ++f) {
    const Value &field = value.asParts()[f];
    const Type &fieldType = *decl.fields[f].type;
    if (field.isParts() || field.shape().size() != fieldType.extents.size())
      continue;
    for (size_t i = 0; i < fieldType.extents.size(); ++i)
      if (auto symbol = fieldType.extents[i].length.symbol())
        own.try_emplace(*symbol, field.shape()[i]);
    for (size_t i = 0; i < decl.typeParams.size() && i < type.elemArgs.size(); ++i)
      if (fieldType.elem.param == decl.typeParams[i] && !fieldType.elem.acc)
        bindElem(type.elemArgs[i], field.elem(), name);
  }
  for (size_t i = 0; i < decl.dims.size() && i < type.dimArgs.size(); ++i)
    if (auto found = own.find(decl.dims[i].symbol); found != own.end())
      bindExtent(type.dimArgs[i], found->second, name);
}

void EntryBinder::bindValue(const Type &type, const Value &value, const std::string &name) {
  if (type.kind == TypeKind::Struct)
    return bindStruct(type, value, name);
  if (type.kind == TypeKind::Tuple || type.kind == TypeKind::List) {
    if (!value.isParts())
      mismatch(name, "needs a tuple or list");
    for (size_t i = 0; i < value.asParts().size(); ++i)
      // A list has one type for all elements, a tuple one for each.
      bindValue(*type.elements[std::min(i, type.elements.size() - 1)], value.asParts()[i], name);
    if (type.kind == TypeKind::List && !type.extents.empty())
      bindExtent(type.extents[0].length, static_cast<int64_t>(value.asParts().size()), name);
    return;
  }
  if (!value.isScalar() && !value.isArray())
    mismatch(name, "has no value");
  bindElem(type.elem, value.elem(), name);
  if (type.isScalar() && value.isArray())
    mismatch(name, "needs a scalar, got " + typeText(value.elem(), value.shape()));
  if (type.isArray()) {
    bindShape(type, value.shape(), name);
    bindStrides(type, value.shape(), name);
  }
}

/// `2*D` against 8 gives `D`: the extent as a function of its one open symbol is linear.
bool EntryBinder::solveOne(const Pending &pending) {
  // A formula with one open symbol can be solved.
  std::vector<SymbolId> open;
  forEachSymbol(pending.dim, [&](SymbolId symbol) {
    if (!run_.symbolValue(symbol))
      open.push_back(symbol);
  });
  if (open.size() != 1)
    return false;
  auto at = [&](int64_t x) {
    return evaluate(pending.dim, [&](SymbolId symbol) {
      return symbol == open[0] ? std::optional(x) : run_.symbolValue(symbol);
    });
  };
  // Three values tell whether the formula is linear.
  auto zero = at(0), one = at(1), two = at(2);
  if (!zero || !one || !two || *two - *one != *one - *zero || *one == *zero)
    return false;
  // An inexact division is found below, where each formula is compared with its value.
  run_.bindSymbol(open[0], (pending.value - *zero) / (*one - *zero));
  return true;
}

void EntryBinder::settle() {
  bool progress = true;
  // Each solved symbol may make another formula solvable.
  while (progress) {
    progress = false;
    for (const Pending &pending : pending_)
      progress |= solveOne(pending);
  }
  for (const Pending &pending : pending_) {
    auto value = tryDim(run_, pending.dim);
    // Strides of empty arrays and of single elements may differ.
    if (value == pending.value || (value && pending.mayDiffer))
      continue;
    std::string what = pending.isStride ? "the stride `" : "the extent `";
    std::string text = run_.program().dims->toString(pending.dim);
    auto symbol = pending.dim.symbol();
    std::string source = symbol && sources_.count(*symbol) ? " by `" + sources_[*symbol] + "`" : "";
    mismatch(pending.name, value ? what + text + "` is " + std::to_string(*value) + source +
                                       ", but " + std::to_string(pending.value) + " here"
                                 : what + text + "` cannot be determined");
  }
}

void EntryBinder::bind(const std::vector<Value> &args, const RunOptions &options) {
  // Dimensions that the caller names come first, so that arguments have to agree with them.
  for (const auto &[name, value] : options.dims)
    for (const DimParam &dim : decl_.dims)
      if (dim.name == name) {
        run_.bindSymbol(dim.symbol, value);
        sources_[dim.symbol] = name;
      }
  for (const TypeParam *param : decl_.typeParams)
    if (auto found = options.elems.find(param->name); found != options.elems.end())
      elems_[param] = found->second;
  for (size_t i = 0; i < args.size(); ++i) {
    // A parameter without an argument has a default, which is evaluated when all is bound.
    if (args[i].isNone())
      continue;
    bindValue(*decl_.params[i]->type, args[i], decl_.params[i]->name);
    if (decl_.params[i]->symbol && args[i].isScalar())
      run_.bindSymbol(*decl_.params[i]->symbol, args[i].asScalar().scalar.i);
  }
  settle();
  for (const DimParam &dim : decl_.dims) {
    auto value = run_.symbolValue(dim.symbol);
    if (!value && dim.isCount())
      mismatch(dim.name,
               "it is known when the program runs on parts, with `--shape`; without, give it by "
               "name, as in `" +
                   dim.name + "=1`");
    if (!value)
      mismatch(dim.name, "no argument determines this dimension");
    if (dim.isCount() && *value < 1)
      mismatch(dim.name, "a level has at least one part, not " + std::to_string(*value));
    if (*value < 0)
      mismatch(dim.name, "a dimension cannot be " + std::to_string(*value));
  }
  for (const TypeParam *param : decl_.typeParams) {
    if (!elems_.count(param))
      mismatch(param->name, "no argument determines this element type");
    run_.frame().elems.push_back(elems_[param]);
  }
  run_.frame().prefix = prefix_.value_or(std::vector<int64_t>());
}

} // namespace

void bindEntry(RunState &run, const CallableDecl &decl, std::vector<Value> &args) {
  if (args.size() > decl.params.size())
    stop(RunStatus::Arguments,
         "`" + decl.name + "` takes " + std::to_string(decl.params.size()) + " arguments, got " +
             std::to_string(args.size()),
         decl.nameSpan);
  args.resize(decl.params.size());
  for (size_t i = 0; i < args.size(); ++i)
    if (args[i].isNone() && (i >= decl.paramDefaults.size() || !decl.paramDefaults[i]))
      stop(RunStatus::Arguments, "`" + decl.params[i]->name + "` has no value", decl.nameSpan);
  EntryBinder(run, decl).bind(args, run.options());
  bindDimLocals(run, decl);
  // Defaults may speak of dimensions, so they are evaluated when these have values.
  for (size_t i = 0; i < args.size(); ++i)
    bindLocal(run, *decl.params[i],
              args[i].isNone() ? eval(run, *decl.paramDefaults[i]) : std::move(args[i]));
  bindTunables(run, decl, run.options().tunables);
}

} // namespace ptl::reference
