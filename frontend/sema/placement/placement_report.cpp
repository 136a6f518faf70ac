#include "frontend/sema/placement/placement_report.h"

#include "frontend/sema/placement/placement_text.h"

#include <algorithm>

namespace ptl {

std::string PlacementReports::plural(size_t level) const { return partsText(levels_[level]); }

std::string PlacementReports::describe(size_t level, const Placement &all,
                                       const std::vector<Dim> &shape) const {
  constexpr std::string_view folds[] = {"sum", "maximum", "minimum"};
  const LevelPlacement &placement = all[level];
  if (placement.isWhole())
    return "the same on all " + plural(level);
  if (placement.isPartial())
    return "a partial " + std::string(folds[static_cast<size_t>(placement.fold)]) + " over the " +
           plural(level);
  if (placement.isOwn)
    return "another on each " + partText(levels_[level]);
  if (placement.isSingle() && placement.stage)
    return "on the " + levels_[level].name + (placement.stages ? " of `" : " of task `") +
           dims_.toString(placement.stage) + "` only";
  if (placement.isSingle())
    return "on " + levels_[level].name + " " + std::to_string(placement.part) + " only";
  return "cut along " + axisText(dims_, shape, placement.axis) + " over the " + plural(level) +
         (placement.unit
              ? ", into blocks that are multiples of `" + dims_.toString(placement.unit) + "`"
              : "");
}

const MovementRecord *PlacementReports::between(const LevelPlacement &from,
                                                const LevelPlacement &to) const {
  // A shift makes other elements of an array, and leaves it where it lies.
  for (const MovementRecord &record : allMovements)
    if (record.from == from.kind && record.to == to.kind && record.id != MovementId::Shift)
      return &record;
  return nullptr;
}

void PlacementReports::offer(size_t level, DiagnosticBuilder report, const ReportedValue &value,
                             const MovementRecord &movement, const std::string &target) {
  std::string name(movement.name);
  std::string behind = ", over: " + levels_[level].name + target + ")";
  std::string bytes = sentText(dims_, levels_, level, *value.value, movement);
  if (!value.written) {
    report.help("`" + name + "(…" + behind + "` moves it: " + bytes);
    return;
  }
  Span at = *value.written;
  report.fix(FixId::Movement, "insert `" + name + "(" + value.text + behind + "`: " + bytes,
             {{{at.file, at.begin, at.begin}, name + "("}, {{at.file, at.end, at.end}, behind}});
}

void PlacementReports::partial(size_t level, Span span, const ReportedValue &value,
                               const std::string &user, const std::string &carried) {
  constexpr std::string_view folds[] = {"sum", "maximum", "minimum"};
  Fold fold = value.value->placement[level].fold;
  auto report = sink_.report(
      DiagId::PartialUsedWhole, span,
      {value.name, std::string(folds[static_cast<size_t>(fold)]), plural(level), user});
  if (!carried.empty())
    report.note("the loop carries `" + carried + "`, which is the same on all " + plural(level) +
                " before its first iteration and therefore in all of them; it can be partial only "
                "if it begins "
                "with a partial value");
  offer(level, report, value, movementRecord(MovementId::AllReduce), {});
}

void PlacementReports::conflict(size_t level, Span span, const std::string &op,
                                const ReportedValue &a, const ReportedValue &b, bool isByPosition) {
  auto report =
      sink_.report(DiagId::PlacementsDiffer, span,
                   {op, a.name, describe(level, *a.value), b.name, describe(level, *b.value)});
  const LevelPlacement &atA = a.value->placement[level], &atB = b.value->placement[level];
  if (isByPosition && atA.isCut() && atB.isCut()) {
    offerAlong(level, report, b, atA.axis);
    offerAlong(level, report, a, atB.axis);
  }
  for (const ReportedValue *each : {&a, &b})
    if (const MovementRecord *movement = between(each->value->placement[level], LevelPlacement()))
      offer(level, report, *each, *movement, {});
}

DiagnosticBuilder PlacementReports::needsWhole(size_t level, Span span, const std::string &what,
                                               const std::string &why, const ReportedValue &value,
                                               const std::vector<int64_t> &others) {
  auto report = sink_.report(DiagId::NoPlacementRule, span, {what, why});
  // One way is enough.
  std::ranges::any_of(others, [&](int64_t axis) { return offerAlong(level, report, value, axis); });
  if (const MovementRecord *movement = between(value.value->placement[level], LevelPlacement()))
    offer(level, report, value, *movement, {});
  return report;
}

void PlacementReports::result(size_t level, Span span, const std::string &name,
                              const Placement &wanted, const std::vector<Dim> &shape,
                              const ReportedValue &value) {
  auto report = sink_.report(DiagId::ResultPlacement, span,
                             {name, describe(level, wanted, shape), describe(level, *value.value)});
  offerTo(level, report, value, wanted[level], shape);
}

/// Offers the movement that gives a value another placement, if one does.
void PlacementReports::offerTo(size_t level, DiagnosticBuilder report, const ReportedValue &value,
                               const LevelPlacement &to, const std::vector<Dim> &shape) {
  const LevelPlacement &from = value.value->placement[level];
  const MovementRecord *movement = between(from, to);
  if (!movement || to.stage)
    return;
  std::string target;
  // Other blocks of the same axis.
  if (from.isCut() && from.cuts(to.axis) && from.unit != to.unit) {
    bool isAlone = std::ranges::count_if(value.value->placement, [](const LevelPlacement &at) {
                     return !at.isWhole();
                   }) == 1;
    if (isAlone && !to.unit)
      offer(level, report, value, movementRecord(MovementId::Reshard),
            ", by: " + axisName(dims_, shape, to.axis));
    return;
  }
  if (movement->takes == MovementTakes::Axis)
    target = ", by: " + axisName(dims_, shape, to.axis);
  else if (movement->takes == MovementTakes::Part)
    target = ", to: " + std::to_string(to.part);
  offer(level, report, value, *movement, target);
}

/// Offers to cut a value along another axis, which sends less than to make it whole. Whether it did: the axis must be there, whole and longer
/// than 1, and the one that is cut not be cut by levels inside this one.
bool PlacementReports::offerAlong(size_t level, DiagnosticBuilder report,
                                  const ReportedValue &value, int64_t axis) {
  const std::vector<Dim> &shape = value.value->shape;
  const LevelPlacement &from = value.value->placement[level];
  bool isThere = -axis <= static_cast<int64_t>(shape.size());
  if (!isThere || !from.isCut() || from.unit || from.axis == axis ||
      shape[shape.size() - static_cast<size_t>(-axis)].isConstant(1))
    return false;
  for (size_t each = 0; each < levels_.size(); ++each)
    if (const LevelPlacement &at = value.value->placement[each];
        each != level && (at.cuts(axis) || at.cuts(from.axis)))
      return false;
  LevelPlacement to = from;
  to.axis = axis;
  offerTo(level, report, value, to, shape);
  return true;
}

void PlacementReports::carried(size_t level, Span span, const std::string &name,
                               const PlacedValue &first, const ReportedValue &next) {
  auto report = sink_.report(DiagId::CarriedPlacement, span,
                             {name, describe(level, first), describe(level, *next.value)});
  offerTo(level, report, next, first.placement[level], first.shape);
}

void PlacementReports::arms(size_t level, Span span, const std::string &name,
                            const ReportedValue &then, const ReportedValue &otherwise) {
  auto report =
      sink_.report(DiagId::ArmPlacements, span,
                   {name, describe(level, *then.value), describe(level, *otherwise.value)});
  // An arm that does not assign the value has no statement in it that could move it.
  if (otherwise.written)
    offerTo(level, report, otherwise, then.value->placement[level], then.value->shape);
  if (then.written)
    offerTo(level, report, then, otherwise.value->placement[level], then.value->shape);
}

void PlacementReports::source(size_t level, Span span, const MovementRecord &movement,
                              const ReportedValue &value) {
  constexpr std::string_view kinds[] = {"the same everywhere", "cut", "a partial sum",
                                        "on one part only", "anything but a partial sum"};
  auto report = sink_.report(DiagId::MovementSource, span,
                             {std::string(movement.name),
                              std::string(kinds[static_cast<size_t>(movement.from)]), value.name,
                              describe(level, *value.value)});
  if (value.value->placement[level].isPartial())
    offer(level, report, value, movementRecord(MovementId::AllReduce), {});
  else if (value.value->placement[level].isWhole())
    report.help("no movement is needed: every part has the array, and can take its block without "
                "communication");
}

void PlacementReports::elsewhere(size_t level, Span span, const std::string &what,
                                 const std::string &own, const PlacedValue &value) {
  auto report = sink_.report(DiagId::NotInOwnBlock, span,
                             {what, describe(level, value), levels_[level].name, own});
  if (const MovementRecord *movement = between(value.placement[level], LevelPlacement()))
    report.help("in front of the `parallel`, `" + std::string(movement->name) +
                "(…, over: " + levels_[level].name + ")` makes it the same on all " +
                plural(level) + ": " + sentText(dims_, levels_, level, value, *movement));
}

void PlacementReports::noRule(Span span, const std::string &what, const std::string &why) {
  sink_.report(DiagId::NoPlacementRule, span, {what, why});
}

} // namespace ptl
