#include "frontend/sema/placement/placement_table.h"

#include "frontend/dim/dim.h"
#include "frontend/sema/placement/placement_rules.h"

#include <algorithm>
#include <bit>
#include <map>
#include <optional>

namespace ptl {

namespace {

/// One call of an operation on arrays whose axes have names.
struct Sample {
  std::vector<std::vector<std::string>> operands;
  std::vector<std::string> result;
  std::vector<int64_t> axes;
};

using Names = std::vector<std::string>;

/// The axes of a pattern; nothing if it is of another kind. `..` is one axis, `B`.
std::optional<Names> axesOf(const Signature &signature, const ShapePattern &pattern) {
  switch (pattern.kind) {
  case ShapePatternKind::Broadcast:
    return Names{"M", "N"};
  case ShapePatternKind::Scalar:
    return Names{};
  case ShapePatternKind::Dims: {
    Names names;
    if (pattern.hasRest)
      names.push_back("B");
    for (uint8_t dim : pattern.dims)
      names.emplace_back(signature.dimVars[dim]);
    return names;
  }
  default:
    return std::nullopt;
  }
}

/// Operations whose result has another length than the operands; `P` is that length.
std::optional<Sample> sampleOfLengths(const OpRecord &op) {
  switch (op.id) {
  case OpId::Concat:
    return Sample{{{"M", "N"}, {"M", "K"}}, {"M", "P"}, {-1}};
  case OpId::Interleave:
    return Sample{{{"M", "N"}, {"M", "N"}}, {"M", "P"}, {}};
  case OpId::Deinterleave:
  case OpId::Topk:
    return Sample{{{"M", "N"}}, {"M", "P"}, {}};
  case OpId::Gather:
    return Sample{{{"M", "N"}, {"M", "K"}}, {"M", "K"}, {-1}};
  case OpId::Scatter:
    return Sample{{{"M", "N"}, {"M", "K"}, {"M", "K"}}, {"M", "N"}, {-1}};
  case OpId::Pad:
    return Sample{{{"M", "N"}, {}}, {"M", "P"}, {}};
  case OpId::OneHot:
    return Sample{{{"M"}}, {"M", "P"}, {}};
  case OpId::Einsum:
    return Sample{{{"B", "M", "K"}, {"B", "K", "N"}}, {"B", "M", "N"}, {}};
  default:
    return std::nullopt;
  }
}

std::optional<Sample> sampleOf(const OpRecord &op) {
  if (op.axisFlow == AxisFlow::Permuted)
    return Sample{{{"M", "N"}}, {"N", "M"}, {}};
  if (op.axisFlow == AxisFlow::Repeated)
    return Sample{{{"M", "1"}}, {"M", "N"}, {}};
  if (op.axisFlow == AxisFlow::Reshaped)
    return Sample{{{"M", "N"}}, {"1", "M", "N"}, {}};
  if (std::optional<Sample> sample = sampleOfLengths(op))
    return sample;
  if (op.signatures.empty() || op.signatures[0].results.size() != 1)
    return std::nullopt;
  const Signature &signature = op.signatures[0];
  if (op.axisFlow == AxisFlow::Along)
    return Sample{{signature.operands.size(), {"M", "N"}}, {"M", "N"}, {-1}};
  Sample sample;
  for (const TypePattern &operand : signature.operands) {
    std::optional<Names> axes = axesOf(signature, operand.shape);
    if (!axes)
      return std::nullopt;
    sample.operands.push_back(std::move(*axes));
  }
  if (sample.operands.empty())
    return std::nullopt;
  if (signature.results[0].shape.kind == ShapePatternKind::Reduced) {
    sample.operands.assign(sample.operands.size(), {"M", "N"});
    sample.result = {"M", "1"};
    sample.axes = {-1};
    return sample;
  }
  std::optional<Names> result = axesOf(signature, signature.results[0].shape);
  if (!result)
    return std::nullopt;
  sample.result = std::move(*result);
  return sample;
}

/// Asks the rules about one operation.
class Row {
public:
  Row(const OpRecord &op, Sample sample) : sample_(std::move(sample)) {
    expr_.op = &op;
    expr_.axes = sample_.axes;
    for (const Names &names : sample_.operands)
      shapes_.push_back(shapeOf(names));
    shape_ = shapeOf(sample_.result);
    if (op.id == OpId::Einsum)
      expr_.equation = "bmk,bkn->bmn";
    if (op.id == OpId::Pad) // in front of the last axis
      expr_.shape = {dims_.constant(0), dims_.constant(1), dims_.constant(0), dims_.constant(0)};
  }

  std::string text() {
    std::string row = "| `" + std::string(expr_.op->name) + "` | ";
    for (size_t i = 0; i < sample_.operands.size(); ++i)
      row += (i ? ", `" : "`") + listed(sample_.operands[i]) + "`";
    return row + " → `" + listed(sample_.result) + "` | " + cuts() + " | " + partial() + " |\n";
  }

private:
  static std::string listed(const Names &names) {
    std::string text = "[";
    for (const std::string &name : names)
      text += (text.size() > 1 ? ", " : "") + name;
    return text + "]";
  }

  std::vector<Dim> shapeOf(const Names &names) {
    std::vector<Dim> shape;
    for (const std::string &name : names) {
      if (name == "1") {
        shape.push_back(dims_.constant(1));
        continue;
      }
      auto [found, isNew] = symbols_.try_emplace(name);
      if (isNew)
        found->second = dims_.symbolDim(dims_.addSymbol(name, SymbolKind::DimensionParam));
      shape.push_back(found->second);
    }
    return shape;
  }

  PlacementVerdict judge(const std::vector<LevelPlacement> &placements) {
    std::vector<PlacedOperand> operands;
    for (size_t i = 0; i < shapes_.size(); ++i)
      operands.push_back({shapes_[i], placements[i]});
    return placeOp(dims_, expr_, operands, shape_, ElemKind::F32);
  }

  /// What becomes of a cut of each axis, each operand that has it cut alike.
  std::string cuts() {
    std::string text;
    for (const auto &[name, dim] : symbols_) {
      std::vector<LevelPlacement> placements(shapes_.size());
      bool isUsed = false;
      for (size_t i = 0; i < shapes_.size(); ++i)
        if (auto axis = std::ranges::find(shapes_[i], dim); axis != shapes_[i].end()) {
          placements[i] = {PlacementKind::Cut,
                           (axis - shapes_[i].begin()) - static_cast<int64_t>(shapes_[i].size())};
          isUsed = true;
        }
      if (isUsed)
        text += (text.empty() ? "`" : "; `") + name + "`: " + outcome(judge(placements));
    }
    return text.empty() ? "–" : text;
  }

  std::string outcome(const PlacementVerdict &verdict) {
    constexpr std::string_view folds[] = {"+", "max", "min"};
    if (verdict.kind != PlacementVerdict::Kind::Fine)
      return "whole only";
    if (verdict.result.isPartial())
      return "partial (" + std::string(folds[static_cast<size_t>(verdict.result.fold)]) + ")";
    if (verdict.result.isCut())
      return "cut";
    return "the same everywhere";
  }

  /// Which operands may be partial, the others being the same everywhere. Of sets of operands only
  /// those without a smaller one.
  std::string partial() {
    constexpr std::string_view folds[] = {"+", "max", "min"};
    std::string text;
    for (Fold fold : {Fold::Sum, Fold::Max, Fold::Min}) {
      std::vector<size_t> accepted;
      for (size_t count = 1; count <= shapes_.size(); ++count)
        for (size_t set = 1; set < size_t(1) << shapes_.size(); ++set) {
          bool isWider = std::ranges::any_of(accepted, [&](size_t s) { return (s & set) == s; });
          if (static_cast<size_t>(std::popcount(set)) != count || isWider || !mayBe(fold, set))
            continue;
          accepted.push_back(set);
          text += (text.empty() ? "" : ", ") + operands(set) + " (" +
                  std::string(folds[static_cast<size_t>(fold)]) + ")";
        }
    }
    return text.empty() ? "none" : text;
  }

  /// Whether the operands of a set, bit `i` for operand `i`, may be partial.
  bool mayBe(Fold fold, size_t set) {
    std::vector<LevelPlacement> placements(shapes_.size());
    for (size_t i = 0; i < shapes_.size(); ++i)
      if (set >> i & 1)
        placements[i] = {PlacementKind::Partial, 0, fold};
    PlacementVerdict verdict = judge(placements);
    return verdict.kind == PlacementVerdict::Kind::Fine && verdict.result.isPartial();
  }

  std::string operands(size_t set) const {
    if (shapes_.size() == 1)
      return "it";
    if (set + 1 == size_t(1) << shapes_.size())
      return "all";
    std::string text = std::popcount(set) > 1 ? "operands" : "operand";
    for (size_t i = 0, count = 0; i < shapes_.size(); ++i)
      if (set >> i & 1)
        text += (count++ ? " and " : " ") + std::to_string(i + 1);
    return text;
  }

  Sample sample_;
  OpExpr expr_;
  DimContext dims_;
  std::map<std::string, Dim> symbols_;
  std::vector<std::vector<Dim>> shapes_;
  std::vector<Dim> shape_;
};

} // namespace

std::string placementTable() {
  std::string page =
      "# Where results lie\n\n"
      "Where the result of each operation lies when its operands are cut over the parts of a level "
      "([placement](language.md#8-the-machine-hierarchy)). "
      "The compiler writes this page from its rules, which come from the records of the "
      "operations; "
      "the test `parts` renews it when `PTL_UPDATE_DOCS=1` is set.\n\n"
      "- *An axis that is cut*: the result is cut along it, too, or is partial, which means that "
      "every part has a "
      "summand, a maximum or a minimum. *Whole only*: the operand has to be gathered "
      "first. All operands that have the axis are cut along it; one that is the same everywhere is "
      "as good, since each part takes its block.\n"
      "- *May be partial* lists the operands whose sum, maximum or minimum may be taken after the "
      "operation; "
      "the others are the same everywhere.\n"
      "- `B` stands for any leading axes. Of operations along an axis it is the last one, of "
      "`pad` the last one has margins. `P` is a length of its own.\n"
      "- Where a sum may be taken afterwards, an operand that is 0 may also be the same "
      "everywhere, "
      "and where a maximum or minimum may be taken, any operand.\n"
      "- `scatter` is the one that replaces elements. With `combine: .add` into zeros, `.max` or "
      "`.min`, `K` may be cut: the result is a partial sum, maximum or minimum.\n"
      "- An index `x[a..b, :, i]` keeps cuts of axes with `:`; the others must be whole. In "
      "`x[rows, :]` the result is cut along its first axis if `rows` is.\n\n"
      "| Operation | operands → result | an axis that is cut | may be partial "
      "|\n|---|---|---|---|\n";
  for (const OpRecord &op : allOps())
    if (hasPlacementRule(op))
      if (std::optional<Sample> sample = sampleOf(op))
        page += Row(op, std::move(*sample)).text();
  return page;
}

} // namespace ptl
