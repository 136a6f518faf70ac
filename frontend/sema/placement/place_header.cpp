#include "frontend/sema/placement/place_header.h"

#include "common/read_number.h"
#include "frontend/sema/placement/distribution.h"
#include "frontend/sema/placement/placement_text.h"

#include <algorithm>

namespace ptl {

namespace {

class HeaderReader {
public:
  HeaderReader(DimContext &dims, const Tree &tree, const CallableDecl &decl,
               std::span<const PlacedLevel> levels, const Local &local, DiagnosticSink &sink)
      : dims_(dims), tree_(tree), decl_(decl), levels_(levels), local_(local), sink_(sink),
        placement_(levels.size()), isSet_(levels.size()) {
    for (const Extent &extent : local.type->extents)
      shape_.push_back(extent.length);
  }

  std::optional<Placement> run(NodeId distribution) {
    for (NodeId item : tree_.children(distribution))
      if (!read(item))
        return std::nullopt;
    // A sum of maxima is not a maximum of sums, so a value that is partial over several levels is
    // folded in one way.
    for (const LevelPlacement &a : placement_)
      for (const LevelPlacement &b : placement_)
        if (a.isPartial() && b.isPartial() && a.fold != b.fold) {
          refuse(tree_.span(distribution), "it cannot be partial twice");
          return std::nullopt;
        }
    return placement_;
  }

private:
  DiagnosticBuilder refuse(Span span, std::string why) {
    return sink_.report(DiagId::BadDistribution, span, {local_.name, std::move(why)});
  }

  bool read(NodeId item) {
    LevelPlacement at;
    if (tree_.is(item, NodeKind::CutItem)) {
      NodeId node = CutItemView(tree_, item).axis();
      NamedAxis named = namedAxis(dims_, tree_, decl_, shape_, node);
      if (!named.axis) {
        refuse(tree_.span(node), named.why)
            .help("name a dimension of the program that is the length of one axis only, or the "
                  "number of the axis: `by 0` cuts the first one");
        return false;
      }
      at = {PlacementKind::Cut, *named.axis};
      return setAll(CutItemView(tree_, item).levels(), at);
    }
    if (tree_.is(item, NodeKind::PartialItem)) {
      std::string_view fold = tree_.mainText(item);
      at.kind = PlacementKind::Partial;
      at.fold = fold == "max" ? Fold::Max : fold == "min" ? Fold::Min : Fold::Sum;
      return setAll(PartialItemView(tree_, item).levels(), at);
    }
    std::string_view text = tree_.text(PartItemView(tree_, item).part());
    at.kind = PlacementKind::Single;
    std::optional<uint32_t> part = integerIn<uint32_t>(text);
    if (!part) {
      refuse(tree_.span(item), "`" + std::string(text) + "` is not the number of a part");
      return false;
    }
    at.part = *part;
    return set(PartItemView(tree_, item).level(), at);
  }

  bool setAll(NodeId names, const LevelPlacement &at) {
    return std::ranges::all_of(tree_.children(names), [&](NodeId name) { return set(name, at); });
  }

  bool set(NodeId name, const LevelPlacement &at) {
    auto level = static_cast<size_t>(
        std::ranges::find(levels_, tree_.text(name), &PlacedLevel::name) - levels_.begin());
    if (level == levels_.size())
      return false; // Reported with the levels.
    if (isSet_[level]) {
      refuse(tree_.span(name), "it has two placements over the " + partsText(levels_[level]));
      return false;
    }
    placement_[level] = at;
    isSet_[level] = true;
    return true;
  }

  DimContext &dims_;
  const Tree &tree_;
  const CallableDecl &decl_;
  std::span<const PlacedLevel> levels_;
  const Local &local_;
  DiagnosticSink &sink_;
  Placement placement_;
  std::vector<bool> isSet_;
  std::vector<Dim> shape_;
};

} // namespace

/// The length that a node names: a dimension of the program, a parameter that counts as a size, or a constant of its file; unknown for
/// another node.
static Dim namedDim(DimContext &dims, const Tree &tree, const CallableDecl &decl, NodeId node) {
  if (!tree.is(node, NodeKind::NameExpr))
    return {};
  std::string_view name = tree.text(node);
  for (const DimParam &dim : decl.dims)
    if (dim.name == name)
      return dims.symbolDim(dim.symbol);
  for (const Local *param : decl.params)
    if (param->name == name && param->symbol)
      return dims.symbolDim(*param->symbol);
  for (const ConstDecl *each : decl.module->consts)
    if (const auto *value = each->name == name ? dyn_cast<ConstExpr>(each->value) : nullptr)
      return value->type->isInt() ? dims.constant(value->intValue) : Dim();
  return {};
}

NamedAxis namedAxis(DimContext &dims, const Tree &tree, const CallableDecl &decl,
                    std::span<const Dim> shape, NodeId node) {
  auto rank = std::ssize(shape);
  std::string text(tree.text(node));
  if (std::optional<int64_t> number = integerIn(text)) {
    if (*number < -rank || *number >= rank)
      return {std::nullopt, "there is no axis " + text + " among its " + std::to_string(rank)};
    return {*number < 0 ? *number : *number - rank};
  }
  Dim length = namedDim(dims, tree, decl, node);
  std::vector<std::ptrdiff_t> axes;
  for (std::ptrdiff_t axis = 0; axis < rank && length; ++axis)
    if (shape[static_cast<size_t>(axis)] == length)
      axes.push_back(axis);
  if (axes.size() == 1)
    return {axes[0] - rank};
  if (axes.empty())
    return {std::nullopt, "`" + text + "` is not the length of one of its axes"};
  return {std::nullopt, "its axes " + std::to_string(axes[0]) + " and " + std::to_string(axes[1]) +
                            " both have the length `" + text + "`"};
}

std::optional<Placement> writtenPlacement(DimContext &dims, const Tree &tree,
                                          const CallableDecl &decl,
                                          std::span<const PlacedLevel> levels, NodeId type,
                                          const Local &local, DiagnosticSink &sink) {
  NodeId node = distributionOf(tree, type);
  if (node == kNoNode)
    return Placement(levels.size());
  return HeaderReader(dims, tree, decl, levels, local, sink).run(node);
}

} // namespace ptl
