#include "compile/call/assumed_elements.h"

#include "codegen/reference/scalar_ops.h"

#include <algorithm>

namespace ptl {

/// Filling more would take longer than what it is for.
static constexpr int64_t kMostElements = 1 << 22;

namespace {

/// The possible values of an element.
struct Range {
  bool arePositions = false;
  int64_t low = 0, high = 0; ///< the least and the largest

  int64_t at(int64_t i) const { return arePositions ? low + i % (high - low + 1) : high; }
  std::string describe() const;
};

std::string Range::describe() const {
  if (!arePositions)
    return std::to_string(high);
  std::string text = std::to_string(low);
  for (int64_t i = low + 1; i <= std::min(low + 2, high); ++i)
    text += ", " + std::to_string(i);
  return text + (high - low > 2 ? " ..." : "");
}

/// `all(a < E)`: the relation, turned so that the element stands on its left, and E.
struct Bound {
  rt::Expr::Op relation;
  int64_t value;
};

std::optional<Bound> boundOf(const rt::Expr &where, int array,
                             std::span<const std::optional<int64_t>> dims) {
  using Op = rt::Expr::Op;
  if (where.op != Op::All || where.index != array)
    return std::nullopt;
  const rt::Expr &relation = where.args[0];
  static constexpr std::pair<Op, Op> turned[] = {
      {Op::Lt, Op::Gt}, {Op::Le, Op::Ge}, {Op::Gt, Op::Lt}, {Op::Ge, Op::Le}};
  auto known = std::find_if(std::begin(turned), std::end(turned),
                            [&](const auto &pair) { return pair.first == relation.op; });
  if (known == std::end(turned) || relation.args.size() != 2)
    return std::nullopt;
  bool onLeft = relation.args[0].op == Op::Elem;
  if (!onLeft && relation.args[1].op != Op::Elem)
    return std::nullopt;
  std::optional<int64_t> value =
      rt::evaluateInt(relation.args[onLeft], rt::ExprValues{dims, {}, {}, {}, nullptr});
  if (!value)
    return std::nullopt;
  return Bound{onLeft ? known->first : known->second, *value};
}

std::optional<Range> rangeOf(const rt::Entry &entry, int array,
                             std::span<const std::optional<int64_t>> dims) {
  using Op = rt::Expr::Op;
  Range range;
  bool isBounded = false;
  for (const rt::Where &where : entry.wheres) {
    auto bound = boundOf(where.expr, array, dims);
    if (!bound)
      continue;
    if (bound->relation == Op::Gt || bound->relation == Op::Ge) {
      range.low = std::max(range.low, bound->value + (bound->relation == Op::Gt));
      continue;
    }
    bool isLess = bound->relation == Op::Lt;
    int64_t high = bound->value - isLess;
    if (isBounded && range.high <= high)
      continue;
    isBounded = true;
    range.high = high;
    range.arePositions = isLess;
  }
  return isBounded && range.high >= range.low ? std::optional(range) : std::nullopt;
}

} // namespace

std::optional<AssumedArray> assumeElements(const rt::Entry &entry, const rt::Param &param,
                                           std::span<const std::optional<int64_t>> dims,
                                           const std::vector<int64_t> &extents) {
  std::optional<ElemKind> kind =
      param.elem ? elemKindByName(rt::elemName(*param.elem)) : std::nullopt;
  std::vector<const rt::Param *> arrays = entry.arrays();
  auto place = std::find(arrays.begin(), arrays.end(), &param);
  if (place == arrays.end() || !kind || !isInteger(*kind))
    return std::nullopt;
  std::optional<Range> range = rangeOf(entry, static_cast<int>(place - arrays.begin()), dims);
  double count = 1;
  for (int64_t extent : extents)
    count *= static_cast<double>(extent);
  if (!range || count > kMostElements)
    return std::nullopt;
  std::optional<rt::OwnedArray> array = rt::OwnedArray::make(*param.elem, extents);
  if (!array)
    return std::nullopt;
  auto *out = static_cast<char *>(array->data());
  for (int64_t i = 0; i < array->count(); ++i)
    storeElem(out + i * elemBytes(*kind), *kind, Scalar::integer(range->at(i)));
  return AssumedArray{std::move(*array), {param.name, range->describe()}};
}

} // namespace ptl
