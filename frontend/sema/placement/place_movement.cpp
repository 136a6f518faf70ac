#include "frontend/sema/placement/place_movement.h"

#include "frontend/sema/placement/movement_call.h"
#include "frontend/sema/placement/place_header.h"
#include "frontend/sema/placement/placement_text.h"

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
    if (movement_.takes == MovementTakes::Distance)
      return shift();
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
    if (at.isCut() && isCutInside(*level, at.axis, expr_.span))
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
    refuse(span,
           "the " + partsText(program_.levels[*inside]) + " inside cut " +
               axisText(dims_, value_.value->shape, axis) +
               " as well; gather their blocks first, or use `reshard` for both levels at once");
    return true;
  }

  /// What `by:` names; reports when it is no axis.
  std::optional<int64_t> axisAt(NodeId node) {
    NamedAxis named = namedAxis(dims_, tree_, *program_.decl, value_.value->shape, node);
    if (!named.axis)
      sink_
          .report(DiagId::BadMovement, tree_.span(node),
                  {std::string(movement_.name), "of the moved array: " + named.why})
          .help("name a dimension of the program that is the length of one axis only, or the "
                "number of the axis: `by: 0` is the first one");
    return named.axis;
  }

  /// Over one level, whose placement is that of the source.
  bool move(LevelPlacement &at, size_t level) {
    switch (movement_.takes) {
    case MovementTakes::Nothing:
      at = {movement_.to};
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
      at = {PlacementKind::Cut, *axis};
      return true;
    }
    case MovementTakes::Axes:
    case MovementTakes::Distance:
    case MovementTakes::Rows: // `place_rows.h`
      break;
    }
    __builtin_unreachable();
  }

  std::string lengthOf(int64_t axis) const { return axisText(dims_, value_.value->shape, axis); }

  /// Elements move along one axis, from block to block, and so over all levels that cut it.
  std::optional<MovedTo> shift() {
    const Placement &at = value_.value->placement;
    MovedTo to{at, 0};
    for (NodeId name : movementLevels(tree_, expr_)) {
      std::optional<size_t> level = levelAt(name);
      if (!level)
        return std::nullopt;
      if (!at[*level].isCut()) {
        reports_.source(*level, expr_.span, movement_, value_);
        return std::nullopt;
      }
      if (std::ranges::find(to.over, *level) != to.over.end()) {
        refuse(tree_.span(name), "it names a level twice");
        return std::nullopt;
      }
      to.over.push_back(*level);
    }
    std::ranges::sort(to.over);
    to.level = to.over.back();
    int64_t axis = at[to.level].axis;
    for (size_t level = 0; level < at.size(); ++level) {
      const std::string &name = program_.levels[level].name;
      bool isNamed = std::ranges::find(to.over, level) != to.over.end();
      if (isNamed && !at[level].cuts(axis)) {
        refuse(expr_.span, "the " + partsText(program_.levels[to.level]) + " cut " +
                               lengthOf(axis) + " and the " + partsText(program_.levels[level]) +
                               " " + lengthOf(at[level].axis) +
                               "; shift along one of them after the other");
        return std::nullopt;
      }
      if (!isNamed && at[level].cuts(axis)) {
        refuse(expr_.span, "the " + partsText(program_.levels[level]) + " cut " + lengthOf(axis) +
                               " as well, and elements move from one to another; name all levels "
                               "that cut it, outermost first: `over: [" +
                               (level < to.level ? name + ", " + program_.levels[to.level].name
                                                 : program_.levels[to.level].name + ", " + name) +
                               "]`");
        return std::nullopt;
      }
    }
    expr_.shift->axis = axis;
    return to;
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
