#include "frontend/sema/placement/placement_text.h"

#include <algorithm>
#include <cctype>

namespace ptl {

static bool isOfMesh(const PlacedLevel &level) { return level.name != level.machineLevel; }

std::string partText(const PlacedLevel &level) {
  return isOfMesh(level) ? "part of `" + level.name + "`" : level.name;
}

std::string partsText(const PlacedLevel &level) {
  return isOfMesh(level) ? "parts of `" + level.name + "`" : level.name + "s";
}

std::string countText(const PlacedLevel &level) {
  return isOfMesh(level) ? level.name : level.name + "s";
}

std::string axisName(const DimContext &dims, std::span<const Dim> shape, int64_t axis) {
  size_t number = shape.size() - static_cast<size_t>(-axis);
  std::string name = dims.toString(shape[number]);
  bool isName = std::ranges::count(shape, shape[number]) == 1 && !shape[number].constant() &&
                std::ranges::all_of(name, [](char letter) {
                  return std::isalnum(static_cast<unsigned char>(letter)) || letter == '_';
                });
  return isName ? name : std::to_string(number);
}

std::string axisText(const DimContext &dims, std::span<const Dim> shape, int64_t axis) {
  Dim length = shape[shape.size() - static_cast<size_t>(-axis)];
  std::string name = "`" + dims.toString(length) + "`";
  if (std::ranges::count(shape, length) == 1)
    return name;
  return "axis " + axisName(dims, shape, axis) + " of length " + name;
}

static size_t axisOf(const PlacedValue &value, const LevelPlacement &at) {
  return value.shape.size() - static_cast<size_t>(-at.axis);
}

/// ` over host, chip by F`: a dimension that several levels cut is named once, behind the innermost.
static std::string cutsText(const DimContext &dims, const PlacedProgram &placed,
                            const PlacedValue &value) {
  std::string text;
  for (size_t level = 0; level < placed.levels.size(); ++level) {
    const LevelPlacement &at = value.placement[level];
    if (!at.isCut())
      continue;
    text += (text.empty() ? " over " : ", ") + placed.levels[level].name;
    bool isNextAlike = level + 1 < placed.levels.size() && value.placement[level + 1].cuts(at.axis);
    if (!isNextAlike)
      text += " by " + axisName(dims, value.shape, at.axis);
  }
  return text;
}

std::string placementText(const DimContext &dims, const PlacedProgram &placed, ValueId id) {
  constexpr std::string_view folds[] = {"+", "max", "min"};
  const PlacedValue &value = placed.values[id];
  std::string text = cutsText(dims, placed, value);
  for (size_t level = 0; level < placed.levels.size(); ++level) {
    const LevelPlacement &at = value.placement[level];
    const std::string &name = placed.levels[level].name;
    if (at.isPartial())
      text += " partial(" + std::string(folds[static_cast<size_t>(at.fold)]) + ") over " + name;
    else if (at.isOwn)
      text += " on each " + name;
    else if (at.isSingle())
      text += " at " + name + " " +
              (at.stage ? (at.stages ? "of `" : "of task `") + dims.toString(at.stage) + "`"
                        : std::to_string(at.part));
  }
  return text;
}

namespace {
/// An extent of a part: a number where all that decides it is known.
struct PartExtent {
  std::optional<int64_t> number;
  std::string text;
};
} // namespace

/// A factor of a product.
static std::string factorText(const std::string &text) {
  bool isSum = text.find(" + ") != text.npos || text.find(" - ") != text.npos;
  return isSum && !text.ends_with(')') ? "(" + text + ")" : text;
}

/// Blocks of blocks where several levels cut an axis.
static std::vector<PartExtent> partExtents(const DimContext &dims, const PlacedProgram &placed,
                                           const PlacedValue &value) {
  std::vector<PartExtent> extents;
  for (Dim dim : value.shape)
    extents.push_back({dim.constant(), dims.toString(dim)});
  for (size_t level = 0; level < placed.levels.size(); ++level) {
    const LevelPlacement &at = value.placement[level];
    if (!at.isCut())
      continue;
    PartExtent &extent = extents[axisOf(value, at)];
    const std::optional<uint32_t> &count = placed.levels[level].count;
    std::string times;
    if (at.unit) {
      // So many units, as the text says of both that are not constants.
      extent.number.reset();
      extent.text += " / " + factorText(dims.toString(at.unit));
      times = " * " + factorText(dims.toString(at.unit));
    }
    if (extent.number && count)
      // The last part may have fewer; the text says the length of a full block.
      extent.number = (*extent.number + *count - 1) / *count;
    else
      extent.number.reset();
    extent.text = extent.number
                      ? std::to_string(*extent.number)
                      : "cdiv(" + extent.text + ", " +
                            (count ? std::to_string(*count) : countText(placed.levels[level])) +
                            ")" + times;
  }
  return extents;
}

std::string partTypeText(const DimContext &dims, const PlacedProgram &placed, ValueId id) {
  const PlacedValue &value = placed.values[id];
  std::string text;
  for (const PartExtent &extent : partExtents(dims, placed, value))
    text += (text.empty() ? "" : ", ") + extent.text;
  std::string elem(elemName(value.elem));
  return value.shape.empty() ? elem : elem + "[" + text + "]";
}

PartBytes partBytes(const DimContext &dims, const PlacedProgram &placed, ValueId id) {
  const PlacedValue &value = placed.values[id];
  int64_t number = elemInfo(value.elem).storageBytes;
  std::string text;
  for (const PartExtent &extent : partExtents(dims, placed, value))
    if (extent.number)
      number *= *extent.number;
    else
      text += "*" + factorText(extent.text);
  if (text.empty())
    return {number, std::to_string(number)};
  return {std::nullopt, std::to_string(number) + text};
}

std::string sentText(const DimContext &dims, const std::vector<PlacedLevel> &levels, size_t level,
                     const PlacedValue &source, const MovementRecord &movement) {
  std::string bytes = std::to_string(elemInfo(source.elem).storageBytes);
  for (Dim dim : source.shape)
    bytes += " * " + factorText(dims.toString(dim));
  bool isWide = movement.takes == MovementTakes::Axes;
  // Over the levels of a movement of rows what moves is cut along its first axis, over others along its last.
  if (movement.takes == MovementTakes::Rows) {
    for (size_t other = 0; other < levels.size(); ++other)
      if (source.placement[other].cuts(-1))
        bytes += " / " + countText(levels[other]);
    isWide = true;
  }
  for (size_t other = 0; other < levels.size(); ++other)
    if (other != level && !isWide && source.placement[other].isCut())
      bytes += " / " + countText(levels[other]);
  return "each of n " + (isWide ? "parts" : partsText(levels[level])) + " sends " +
         std::string(movement.share) + " of " + bytes + " bytes";
}

// ---- Partial values ------------------------------------------------------------------------------

/// The first value on the way to this one that is partial over the level.
static ValueId sourceOfPartial(const PlacedProgram &placed, ValueId id, size_t level) {
  for (bool hasMoved = true; hasMoved;) {
    hasMoved = false;
    for (std::optional<ValueId> operand : placed.values[id].operands)
      if (operand && placed.values[*operand].placement[level].isPartial()) {
        id = *operand;
        hasMoved = true;
        break;
      }
  }
  return id;
}

/// The dimension that an operation folds: an operand has it cut over the level.
static std::string foldedDim(const DimContext &dims, const PlacedProgram &placed,
                             const PlacedValue &value, size_t level) {
  for (std::optional<ValueId> operand : value.operands) {
    if (!operand)
      continue;
    const PlacedValue &from = placed.values[*operand];
    if (const LevelPlacement &at = from.placement[level]; at.isCut())
      return "`" + dims.toString(from.shape[axisOf(from, at)]) + "`";
  }
  return {};
}

/// What made a value partial, as the subject of a sentence.
static std::string makerText(const PlacedValue &source, const Tree &tree) {
  if (source.kind == PlacedKind::Argument)
    return "`" + source.param->name + "`";
  // What stands in a `fn` of another file has its text there.
  if (!source.expr || source.expr->span.file != tree.file())
    return "an operation in a `fn`";
  const Span &span = source.expr->span;
  return "`" + std::string(tree.fileText().substr(span.begin, span.end - span.begin)) + "`";
}

std::string partialText(const DimContext &dims, const PlacedProgram &placed, const Tree &tree,
                        ValueId id) {
  constexpr std::string_view doings[] = {"adds", "takes the maximum", "takes the minimum"},
                             have[] = {"a summand", "a maximum of its own", "a minimum of its own"};
  std::string text;
  for (size_t level = 0; level < placed.levels.size(); ++level) {
    const LevelPlacement &at = placed.values[id].placement[level];
    if (!at.isPartial())
      continue;
    auto fold = static_cast<size_t>(at.fold);
    const PlacedValue &source = placed.values[sourceOfPartial(placed, id, level)];
    const std::string &name = placed.levels[level].name;
    std::string what = makerText(source, tree);
    if (std::string dim = foldedDim(dims, placed, source, level); !dim.empty())
      what += " " + std::string(doings[fold]) + " along " + dim + ", which is cut over the " +
              partsText(placed.levels[level]);
    else
      what += " comes so";
    text += (text.empty() ? "" : "; ") + what + ": every " + partText(placed.levels[level]) +
            " has " + std::string(have[fold]) + ", and `all_reduce(…, over: " + name +
            ")` or `reduce_scatter` gives the value";
  }
  return text;
}

} // namespace ptl
