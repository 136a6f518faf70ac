#include "frontend/sema/placement/place_movement.h"

#include "frontend/sema/placement/movement_call.h"
#include "frontend/sema/placement/place_header.h"

#include <algorithm>

namespace ptl {

namespace {

class MovementPlacer {
public:
  MovementPlacer(DimContext &dims, const Tree &tree, const PlacedProgram &program,
                 const ConvertExpr &expr, const MovementRecord &movement,
                 const ReportedValue &value, PlacementReports &reports, DiagnosticSink &sink)
      : dims_(dims), tree_(tree), program_(program), expr_(expr), movement_(movement),
        value_(value), reports_(reports), sink_(sink) {}

  std::optional<MovedTo> run() {
    MovedTo to{value_.value->placement, 0};
    if (movement_.takes == MovementTakes::Axes)
      return reshard(to.placement);
    std::vector<NodeId> levels = movementLevels(tree_, expr_);
    std::optional<size_t> level = levelAt(levels[0]);
    if (!level)
      return std::nullopt;
    to.level = *level;
    LevelPlacement &at = to.placement[*level];
    if (at.kind != movement_.from) {
      reports_.source(*level, expr_.span, movement_, value_);
      return std::nullopt;
    }
    if (at.isCut() && movement_.id != MovementId::Shift && isCutInside(*level, at.axis, expr_.span))
      return std::nullopt;
    return move(at, *level) ? std::optional(to) : std::nullopt;
  }

private:
  bool refuse(Span span, std::string why) {
    sink_.report(DiagId::BadMovement, span, {std::string(movement_.name), std::move(why)});
    return false;
  }

  std::optional<size_t> levelAt(NodeId name) {
    auto found = std::ranges::find(program_.levels, tree_.text(name), &PlacedLevel::name);
    if (found != program_.levels.end())
      return static_cast<size_t>(found - program_.levels.begin());
    std::string known;
    for (const PlacedLevel &level : program_.levels)
      known += (known.empty() ? "`" : ", `") + level.name + "`";
    reports_.noRule(tree_.span(name), "`" + std::string(movement_.name) + "`",
                    "the arrays of this program lie over " + known);
    return std::nullopt;
  }

  bool isCutInside(size_t level, int64_t axis, Span span) {
    std::optional<size_t> inside = cutInside(value_.value->placement, level, axis);
    if (!inside)
      return false;
    const std::vector<Dim> &shape = value_.value->shape;
    std::string length = dims_.toString(shape[shape.size() - static_cast<size_t>(-axis)]);
    refuse(span,
           "the " + program_.levels[*inside].name + "s inside cut `" + length +
               "` as well; gather their blocks first, or use `reshard` for both levels at once");
    return true;
  }

  /// What `by:` names; reports when it is no axis.
  std::optional<int64_t> axisAt(NodeId node) {
    std::optional<int64_t> axis =
        axisOfLength(value_.value->shape, namedDim(dims_, tree_, *program_.decl, node));
    if (!axis)
      refuse(tree_.span(node), "`" + std::string(tree_.text(node)) +
                                   "` is not the length of exactly one axis of the moved array");
    return axis;
  }

  /// Over one level, whose placement is that of the source.
  bool move(LevelPlacement &at, size_t level) {
    switch (movement_.takes) {
    case MovementTakes::Nothing:
      at = {movement_.to};
      return true;
    case MovementTakes::Distance:
      at.turn += movementNumber(tree_, expr_).value_or(0);
      return true;
    case MovementTakes::Part:
      at = onPart(static_cast<uint32_t>(movementNumber(tree_, expr_).value_or(0)));
      return true;
    case MovementTakes::Axis: {
      NodeId by = movementAxes(tree_, expr_)[0];
      std::optional<int64_t> axis = axisAt(by);
      if (!axis)
        return false;
      if (at.cuts(*axis))
        return refuse(tree_.span(by),
                      "it is cut along `" + std::string(tree_.text(by)) + "` already");
      if (isCutInside(level, *axis, tree_.span(by)))
        return false;
      at = {PlacementKind::Cut, *axis, Fold::Sum, at.turn};
      return true;
    }
    case MovementTakes::Axes:
    case MovementTakes::Rows: // `place_rows.h`
      break;
    }
    __builtin_unreachable();
  }

  std::optional<MovedTo> reshard(const Placement &from) {
    for (size_t level = 0; level < from.size(); ++level)
      if (from[level].isPartial()) {
        reports_.source(level, expr_.span, movement_, value_);
        return std::nullopt;
      }
    MovedTo to{Placement(from.size()), 0};
    std::vector<NodeId> levels = movementLevels(tree_, expr_), axes = movementAxes(tree_, expr_);
    for (size_t i = 0; i < levels.size(); ++i) {
      std::optional<size_t> level = levelAt(levels[i]);
      std::optional<int64_t> axis = level ? axisAt(axes[i]) : std::nullopt;
      if (!axis)
        return std::nullopt;
      if (to.placement[*level].isCut()) {
        refuse(tree_.span(levels[i]), "it names a level twice");
        return std::nullopt;
      }
      to.placement[*level] = {PlacementKind::Cut, *axis};
    }
    return to;
  }

  DimContext &dims_;
  const Tree &tree_;
  const PlacedProgram &program_;
  const ConvertExpr &expr_;
  const MovementRecord &movement_;
  const ReportedValue &value_;
  PlacementReports &reports_;
  DiagnosticSink &sink_;
};

} // namespace

std::optional<MovedTo> placeMovement(DimContext &dims, const Tree &tree,
                                     const PlacedProgram &program, const ConvertExpr &expr,
                                     const MovementRecord &movement, const ReportedValue &value,
                                     PlacementReports &reports, DiagnosticSink &sink) {
  return MovementPlacer(dims, tree, program, expr, movement, value, reports, sink).run();
}

std::optional<size_t> cutInside(const Placement &placement, size_t level, int64_t axis) {
  for (size_t inside = level + 1; inside < placement.size(); ++inside)
    if (placement[inside].cuts(axis))
      return inside;
  return std::nullopt;
}

} // namespace ptl
