#include "runtime/bind.h"

#include "common/words.h"
#include "runtime/array_walk.h"
#include "runtime/bind_internal.h"
#include "runtime/data_facts.h"
#include "runtime/format_value.h"

#include <algorithm>

namespace ptl::rt {

Binder::Binder(const Entry &entry, const CallArguments &arguments, Binding &binding)
    : entry_(entry), arguments_(arguments), binding_(binding) {}

bool Binder::fail(int32_t code, const std::string &message, int line) {
  failure_ = {code, "`" + entry_.name + "`: " + message, entry_.file, line ? line : entry_.line};
  return false;
}

ExprValues Binder::values() const {
  return {binding_.dims, arguments_.scalars, binding_.scalarElems, arguments_.arrays, nullptr};
}

std::string Binder::describe(const Param &param) const {
  const char *role = param.kind == PTL_PARAM_OUTPUT ? "output" : "parameter";
  return std::string(role) + " `" + param.name + ": " + param.elemName + param.shapeText + "`";
}

std::string Binder::originOf(int dim) const {
  const Origin &origin = binding_.origins[dim];
  if (!origin.param)
    return "given by name";
  return std::string("from ") + (origin.stride ? "stride " : "axis ") +
         std::to_string(origin.axis) + " of `" + origin.param->name + "`";
}

std::string Binder::valuesOf(const Expr &expr) const {
  std::string text;
  std::vector<const Expr *> seen;
  auto add = [&](const std::string &name, const std::string &value) {
    text += (text.empty() ? "`" : ", `") + name + "` is " + value;
  };
  forEachName(expr, [&](const Expr &name) {
    // A name that an expression uses twice is explained once.
    auto same = [&](const Expr *other) {
      return other->op == name.op && other->index == name.index;
    };
    if (std::any_of(seen.begin(), seen.end(), same))
      return;
    seen.push_back(&name);
    auto index = static_cast<size_t>(name.index);
    if (name.op == Expr::Op::Dim && binding_.dims[index])
      add(entry_.dims[index].name,
          std::to_string(*binding_.dims[index]) + " (" + originOf(name.index) + ")");
    else if (name.op == Expr::Op::Scalar && index < arguments_.scalars.size())
      add(entry_.scalars()[index]->name,
          formatElem(binding_.scalarElems[index], &arguments_.scalars[index]));
  });
  return text;
}

void Binder::bindDim(int dim, int64_t value, Origin origin) {
  binding_.dims[dim] = value;
  binding_.origins[dim] = origin;
}

bool Binder::bindInputs() {
  binding_.dims.resize(entry_.dims.size());
  binding_.elems.resize(entry_.types.size());
  binding_.origins.resize(entry_.dims.size());
  binding_.elemOrigins.resize(entry_.types.size());
  size_t scalarCount = 0, arrayCount = 0;
  for (const Param &param : entry_.params) {
    scalarCount += !param.isArray();
    arrayCount += param.isArray() && param.kind != PTL_PARAM_OUTPUT;
    if (!param.isArray())
      binding_.scalarElems.push_back(param.elem.value_or(PTL_F64));
  }
  if (arguments_.arrays.size() < arrayCount)
    return fail(PTL_ERROR_ARGUMENT, "takes " + std::to_string(arrayCount) + " arrays, not " +
                                        std::to_string(arguments_.arrays.size()));
  if (arguments_.scalars.size() != scalarCount)
    return fail(PTL_ERROR_ARGUMENT, "takes " + std::to_string(scalarCount) + " scalars, not " +
                                        std::to_string(arguments_.scalars.size()));
  // Dimensions that are given by name come first, so that arrays are checked against them and not
  // the other way round.
  if (!bindNamedDims())
    return false;
  size_t next = 0;
  for (const Param &param : entry_.params)
    if (param.isArray() && param.kind != PTL_PARAM_OUTPUT)
      if (!checkArray(param, arguments_.arrays[next++]))
        return false;
  // Element types of generic scalars are known only once the arrays have bound them.
  for (size_t i = 0, scalar = 0; i < entry_.params.size(); ++i) {
    const Param &param = entry_.params[i];
    if (!param.isArray() && param.typeParam >= 0 && binding_.elems[param.typeParam])
      binding_.scalarElems[scalar] = *binding_.elems[param.typeParam];
    scalar += !param.isArray();
  }
  if (!settlePending())
    return false;
  if (!checkAllBound())
    return false;
  return checkWheres();
}

bool Binder::bindNamedDims() {
  for (const PtlDim &given : arguments_.dims) {
    int dim = -1;
    for (size_t i = 0; given.name && i < entry_.dims.size(); ++i)
      if (entry_.dims[i].name == given.name)
        dim = static_cast<int>(i);
    std::string name = given.name ? given.name : "";
    if (dim < 0)
      return fail(PTL_ERROR_NAME, "has no dimension `" + name + "`");
    if (given.value < 0)
      return fail(PTL_ERROR_SHAPE,
                  "dimension `" + name + "` is given as " + std::to_string(given.value));
    bindDim(dim, given.value, {});
  }
  return true;
}

bool Binder::checkArray(const Param &param, const PtlArray *array) {
  if (!array)
    return fail(PTL_ERROR_ARGUMENT, describe(param) + " is not given an array");
  if (!checkElem(param, *array) || !checkRank(param, *array) || !checkExtents(param, *array))
    return false;
  bool empty = elementCount(array->rank, array->extents) == 0;
  return (empty || checkData(param, *array)) && checkStrides(param, *array, empty);
}

bool Binder::checkElem(const Param &param, const PtlArray &array) {
  const ElemInfo *info = elemInfo(array.elem);
  if (!info || info->size() == 0)
    return fail(PTL_ERROR_ELEM, describe(param) + " is given an array whose element type (" +
                                    std::to_string(array.elem) + ") cannot be stored");
  if (param.elem) {
    // Bytes that hold two elements each may count as numbers with a sign, too.
    bool isByte = param.packed && array.elem == PTL_I8;
    if (!isByte && !sameStorage(*param.elem, array.elem))
      return fail(PTL_ERROR_ELEM, describe(param) + " is given `" + info->name + "` elements");
    return true;
  }
  std::optional<int32_t> &bound = binding_.elems[param.typeParam];
  if (!bound) {
    bound = array.elem;
    binding_.elemOrigins[param.typeParam] = &param;
  } else if (!sameStorage(*bound, array.elem)) {
    const Param *origin = binding_.elemOrigins[param.typeParam];
    return fail(PTL_ERROR_ELEM, describe(param) + " is given `" + info->name + "` elements, but `" +
                                    param.elemName + "` is `" + elemName(*bound) + "`" +
                                    (origin ? " (from `" + origin->name + "`)" : ""));
  }
  return true;
}

bool Binder::checkRank(const Param &param, const PtlArray &array) {
  int64_t named = static_cast<int64_t>(param.shape.size());
  bool wrong =
      array.rank < named || array.rank > PTL_MAX_RANK || (!param.hasLeading && array.rank != named);
  if (!wrong && array.rank > 0 && (!array.extents || !array.strides))
    return fail(PTL_ERROR_ARGUMENT, describe(param) + " is given no extents or no strides");
  for (int64_t axis = 0; !wrong && axis < array.rank; ++axis)
    if (array.extents[axis] < 0)
      return fail(PTL_ERROR_SHAPE, describe(param) + " is given the negative extent " +
                                       std::to_string(array.extents[axis]) + " on axis " +
                                       std::to_string(axis));
  if (!wrong)
    return true;
  bool showShape = array.extents && array.rank >= 0 && array.rank <= PTL_MAX_RANK;
  return fail(PTL_ERROR_RANK,
              describe(param) + " has " + (param.hasLeading ? "at least " : "") +
                  std::to_string(named) + " axes, the argument has " + std::to_string(array.rank) +
                  (showShape ? ", its shape is " + formatShape(array.rank, array.extents) : ""));
}

bool Binder::checkLeading(const Param &param, const PtlArray &array, size_t count) {
  std::span<const int64_t> given(array.extents, count);
  if (!binding_.leadingOrigin && binding_.leading.empty() && param.kind != PTL_PARAM_OUTPUT) {
    binding_.leading.assign(given.begin(), given.end());
    binding_.leadingOrigin = &param;
    return true;
  }
  if (std::equal(given.begin(), given.end(), binding_.leading.begin(), binding_.leading.end()))
    return true;
  return fail(PTL_ERROR_SHAPE,
              describe(param) + " has the leading extents " + formatShape(count, given.data()) +
                  ", but `..` is " + formatShape(binding_.leading.size(), binding_.leading.data()) +
                  (binding_.leadingOrigin ? " (from `" + binding_.leadingOrigin->name + "`)" : ""));
}

bool Binder::checkExtents(const Param &param, const PtlArray &array) {
  size_t leading = array.rank - param.shape.size();
  if (param.hasLeading)
    if (!checkLeading(param, array, leading))
      return false;
  for (size_t axis = 0; axis < param.shape.size(); ++axis) {
    const Expr &expr = param.shape[axis];
    int64_t given = array.extents[axis + leading];
    // Nearly every extent is a name.
    if (expr.op == Expr::Op::Dim) {
      const std::optional<int64_t> &known = binding_.dims[static_cast<size_t>(expr.index)];
      if (!known)
        bindDim(expr.index, given, {&param, axis + leading, false});
      if (*known == given)
        continue;
    }
    Pending pending{&param, axis + leading, &expr, &param.axisTexts[axis], given, false};
    bool open = false;
    if (!compare(pending, open))
      return false;
    if (open)
      pending_.push_back(pending);
  }
  return true;
}

bool Binder::compare(const Pending &pending, bool &open) {
  std::optional<int64_t> wanted = evaluateInt(*pending.expr, values());
  // All names are known, so the extent is only compared.
  if (wanted)
    return *wanted == pending.given || mismatch(pending, *wanted);
  if (pending.param->packed && pending.expr->op == Expr::Op::ExactDiv &&
      evaluateInt(pending.expr->args[0], values()))
    return fail(PTL_ERROR_SHAPE, describe(*pending.param) + " holds two elements of `" +
                                     elemName(*pending.param->packed) + "` in a byte, but " +
                                     valuesOf(*pending.expr) + ", which is odd");
  std::optional<Solution> solution = solve(*pending.expr, pending.given, values());
  if (solution && solution->value < 0)
    return fail(PTL_ERROR_SHAPE, describe(*pending.param) + " has extent " +
                                     std::to_string(pending.given) + " on axis " +
                                     std::to_string(pending.axis) + ", which makes `" +
                                     entry_.dims[solution->dim].name + "` negative");
  if (solution)
    bindDim(solution->dim, solution->value, {pending.param, pending.axis, pending.stride});
  open = !solution;
  return true;
}

bool Binder::mismatch(const Pending &pending, int64_t wanted) {
  std::string where = valuesOf(*pending.expr);
  bool plain = pending.expr->op == Expr::Op::Dim || pending.expr->op == Expr::Op::Const;
  std::string message = describe(*pending.param) + " has " +
                        (pending.stride ? "stride " : "extent ") + std::to_string(pending.given) +
                        " on axis " + std::to_string(pending.axis);
  if (!plain)
    message += ", but `" + *pending.text + "` is " + std::to_string(wanted) +
               (where.empty() ? "" : "; " + where);
  else if (where.empty())
    message += " instead of " + std::to_string(wanted);
  else
    message += ", but " + where;
  return fail(pending.stride ? PTL_ERROR_STRIDES : PTL_ERROR_SHAPE, message);
}

bool Binder::settlePending() {
  // An extent such as `2*N + M` is settled once all its names but one are known. Each round settles
  // one at least, so there are as many rounds as open extents at most.
  for (bool progress = true; progress && !pending_.empty();) {
    progress = false;
    std::vector<Pending> still;
    for (const Pending &pending : pending_) {
      bool open = false;
      if (!compare(pending, open))
        return false;
      progress |= !open;
      if (open)
        still.push_back(pending);
    }
    pending_ = std::move(still);
  }
  return true;
}

bool Binder::failOpen(const Pending &pending) {
  std::vector<std::string> open;
  forEachDim(*pending.expr, [&](int dim) {
    std::string name = "`" + entry_.dims[dim].name + "`";
    if (!binding_.dims[dim] && std::find(open.begin(), open.end(), name) == open.end())
      open.push_back(name);
  });
  std::string known = valuesOf(*pending.expr), given = std::to_string(pending.given);
  std::string message = describe(*pending.param) + " has extent " + given + " on axis " +
                        std::to_string(pending.axis) + ": from `" + *pending.text + " == " + given +
                        "` does not follow what " + joined(open, " and ") +
                        (open.size() == 1 ? " is" : " are");
  if (!known.empty())
    message += "; " + known;
  // With several open, one more value lets the rest be solved.
  if (open.size() > 1)
    message += "; give " + joined(open, " or ") + " by name";
  return fail(PTL_ERROR_UNBOUND, message);
}

bool Binder::checkAllBound() {
  for (size_t i = 0; i < entry_.dims.size(); ++i) {
    if (binding_.dims[i])
      continue;
    // An extent that names the dimension tells more than that no argument determines it.
    for (const Pending &pending : pending_) {
      bool isNamed = false;
      forEachDim(*pending.expr, [&](int dim) { isNamed |= static_cast<size_t>(dim) == i; });
      if (isNamed && !pending.stride)
        return failOpen(pending);
    }
    return fail(PTL_ERROR_UNBOUND, "no argument determines the dimension `" + entry_.dims[i].name +
                                       "`; give it by name");
  }
  if (pending_.empty())
    return true;
  // Every name has a value, and still the expression has none: it overflows or divides by zero.
  const Pending &first = pending_.front();
  return fail(PTL_ERROR_SHAPE, describe(*first.param) + ": `" + *first.text +
                                   "` has no value: " + valuesOf(*first.expr));
}

bool Binder::checkData(const Param &param, const PtlArray &array) {
  if (arguments_.isShapesOnly)
    return true;
  if (!array.data)
    return fail(PTL_ERROR_ARGUMENT, describe(param) + " is given no data");
  auto address = reinterpret_cast<uintptr_t>(array.data);
  // Sizes are powers of two, and dividing takes longer than the rest of this check.
  if ((address & static_cast<uintptr_t>(elemInfo(array.elem)->size() - 1)) != 0)
    return fail(PTL_ERROR_ALIGNMENT, describe(param) + " is not aligned to its elements of " +
                                         std::to_string(elemInfo(array.elem)->size()) + " bytes");
  return true;
}

bool Binder::checkStrides(const Param &param, const PtlArray &array, bool empty) {
  // The strides of an empty array say nothing, and neither does that of an axis of one element.
  if (param.strides == PTL_STRIDES_ANY || (param.strides == PTL_STRIDES_DENSE && empty))
    return true;
  int64_t dense = 1;
  for (int64_t axis = array.rank - 1; axis >= 0; --axis) {
    if (param.strides == PTL_STRIDES_DENSE) {
      if (array.extents[axis] != 1 && array.strides[axis] != dense)
        return fail(PTL_ERROR_STRIDES,
                    describe(param) + " must be dense, but the strides of the argument are " +
                        formatShape(array.rank, array.strides) + " for the shape " +
                        formatShape(array.rank, array.extents));
      if (__builtin_mul_overflow(dense, array.extents[axis], &dense))
        return fail(PTL_ERROR_SHAPE,
                    describe(param) + " is given more elements than fit into memory");
      continue;
    }
    static const std::string text = "the declared stride";
    Pending pending{&param, size_t(axis),        &param.strideExprs[axis],
                    &text,  array.strides[axis], true};
    bool open = false;
    if (!compare(pending, open)) {
      if (!empty && array.extents[axis] != 1)
        return false;
      failure_ = {};
    }
    if (open)
      pending_.push_back(pending);
  }
  return true;
}

bool Binder::checkWheres() {
  DataBounds bounds;
  ExprValues known = values();
  known.bounds = &bounds;
  for (const Where &where : entry_.wheres) {
    // Callers that only ask for the shapes of results have no elements yet.
    if (arguments_.isShapesOnly && readsElements(where.expr))
      continue;
    std::string detail;
    std::optional<Number> holds = evaluate(where.expr, known, &detail);
    if (holds && (holds->isFloat ? holds->f != 0 : holds->i != 0))
      continue;
    if (std::string names = valuesOf(where.expr); !names.empty())
      detail += (detail.empty() ? "" : "; ") + names;
    return fail(PTL_ERROR_WHERE,
                "requires `" + where.text + "`" + (detail.empty() ? "" : ": " + detail),
                where.line);
  }
  return true;
}

bool Binder::wantedExtents(const Param &param, Extents &extents) {
  extents.rank = 0;
  auto add = [&](int64_t extent) {
    if (extents.rank < extents.values.size())
      extents.values[extents.rank] = extent;
    ++extents.rank;
  };
  if (param.hasLeading)
    std::for_each(binding_.leading.begin(), binding_.leading.end(), add);
  for (size_t axis = 0; axis < param.shape.size(); ++axis) {
    const Expr &expr = param.shape[axis];
    std::optional<int64_t> extent = expr.op == Expr::Op::Dim
                                        ? binding_.dims[static_cast<size_t>(expr.index)]
                                        : evaluateInt(expr, values());
    if (!extent || *extent < 0)
      return fail(PTL_ERROR_SHAPE, describe(param) + ": `" + param.axisTexts[axis] + "` " +
                                       (extent ? "is " + std::to_string(*extent) : "has no value") +
                                       "; " + valuesOf(expr));
    add(*extent);
  }
  if (extents.rank > PTL_MAX_RANK)
    return fail(PTL_ERROR_RANK, describe(param) + " has more axes than the runtime supports");
  // Sizes in bytes stay below 2^63 for elements of up to 64 bits, so later products do not
  // overflow.
  if (elementCount(static_cast<int64_t>(extents.rank), extents.values.data()) > (int64_t(1) << 56))
    return fail(PTL_ERROR_SHAPE, describe(param) + " has more elements than fit into memory: " +
                                     formatShape(extents.rank, extents.values.data()));
  return true;
}

} // namespace ptl::rt
