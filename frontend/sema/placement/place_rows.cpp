#include "frontend/sema/placement/place_rows.h"

#include "frontend/sema/placement/movement_call.h"
#include "frontend/sema/placement/place_movement.h"

#include <algorithm>

namespace ptl {

namespace {

// Axes, counted from the end: of `[rows, columns]` and `[rows, choices]`, and of `[experts, room, columns]`.
constexpr int64_t kRows = -2, kExperts = -3, kColumns = -1;

class RowsPlacer {
public:
  RowsPlacer(const Tree &tree, const PlacedProgram &program, const ConvertExpr &expr,
             const MovementRecord &movement, std::span<const ReportedValue> values,
             PlacementReports &reports, DiagnosticSink &sink)
      : tree_(tree), program_(program), expr_(expr), movement_(movement), values_(values),
        reports_(reports), sink_(sink) {}

  std::optional<RowsPlaced> run() {
    bool isBack = movement_.id == MovementId::Combine;
    if (!findLevels() || !isMovedRight(isBack ? kExperts : kRows))
      return std::nullopt;
    RowsPlaced placed{over_, values_[0].value->placement, Placement(program_.levels.size())};
    for (size_t level : over_) {
      placed.result[level] = {PlacementKind::Cut, isBack ? kRows : kExperts};
      placed.choices[level] = {PlacementKind::Cut, kRows};
    }
    for (const ReportedValue &value : values_.subspan(1))
      if (!liesWithRows(value, placed.choices))
        return std::nullopt;
    return placed;
  }

private:
  bool refuse(std::string why) {
    sink_.report(DiagId::BadMovement, expr_.span, {std::string(movement_.name), std::move(why)});
    return false;
  }

  bool findLevels() {
    for (NodeId name : movementLevels(tree_, expr_)) {
      auto found = std::ranges::find(program_.levels, tree_.text(name), &PlacedLevel::name);
      if (found == program_.levels.end()) {
        std::string known;
        for (const PlacedLevel &level : program_.levels)
          known += (known.empty() ? "`" : ", `") + level.name + "`";
        reports_.noRule(tree_.span(name), "`" + std::string(movement_.name) + "`",
                        "the arrays of this program lie over " + known);
        return false;
      }
      auto level = static_cast<size_t>(found - program_.levels.begin());
      if (isOver(level))
        return refuse("it names a level twice");
      over_.push_back(level);
    }
    // Levels are numbered from the outside, and the movement goes over the outer ones first,
    // however they are written.
    std::ranges::sort(over_);
    return true;
  }

  bool isOver(size_t level) const { return std::ranges::find(over_, level) != over_.end(); }

  std::string describe(const ReportedValue &value, size_t level) const {
    return value.name + " is " + reports_.describe(level, *value.value);
  }

  /// What moves is cut along its first axis over the levels of the movement. Over all others each part has all rows, or
  /// some of their columns.
  bool isMovedRight(int64_t axis) {
    const ReportedValue &moved = values_[0];
    const Placement &at = moved.value->placement;
    for (size_t level = 0; level < at.size(); ++level) {
      if (at[level].isPartial()) {
        reports_.partial(level, expr_.span, moved, "`" + std::string(movement_.name) + "`");
        return false;
      }
      if (at[level].unit)
        return refuse(describe(moved, level) +
                      "; rows move between blocks of single ones, so `reshard` it first");
      if (isOver(level) && !at[level].isCut()) {
        reports_.source(level, expr_.span, movement_, moved);
        return false;
      }
      bool isRight =
          isOver(level) ? at[level].cuts(axis) : at[level].isWhole() || at[level].cuts(kColumns);
      if (!isRight)
        return refuse(describe(moved, level) +
                      (isOver(level)
                           ? "; it has to be cut along its first axis"
                           : ", which the movement does not go over; there its columns may be "
                             "cut, and nothing else"));
    }
    return true;
  }

  /// What says where rows go lies with the rows, or can be made to for nothing.
  bool liesWithRows(const ReportedValue &value, const Placement &choices) {
    const Placement &at = value.value->placement;
    for (size_t level = 0; level < at.size(); ++level) {
      bool isFree = at[level].isWhole() && choices[level].isCut() &&
                    !cutInside(at, level, choices[level].axis);
      if (at[level] == choices[level] || isFree)
        continue;
      if (at[level].isPartial())
        reports_.partial(level, expr_.span, value, "`" + std::string(movement_.name) + "`");
      else
        refuse(describe(value, level) + ", and is needed " +
               reports_.describe(level, choices, value.value->shape) + ", where the rows lie");
      return false;
    }
    return true;
  }

  const Tree &tree_;
  const PlacedProgram &program_;
  const ConvertExpr &expr_;
  const MovementRecord &movement_;
  std::span<const ReportedValue> values_;
  PlacementReports &reports_;
  DiagnosticSink &sink_;
  std::vector<size_t> over_;
};

} // namespace

std::optional<RowsPlaced> placeRows(const Tree &tree, const PlacedProgram &program,
                                    const ConvertExpr &expr, const MovementRecord &movement,
                                    std::span<const ReportedValue> values,
                                    PlacementReports &reports, DiagnosticSink &sink) {
  return RowsPlacer(tree, program, expr, movement, values, reports, sink).run();
}

} // namespace ptl
