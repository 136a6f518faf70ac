#include "frontend/sema/placement/placement_report.h"

namespace ptl {

std::string PlacementReports::describe(const Placement &placement,
                                       const std::vector<Dim> &shape) const {
  constexpr std::string_view folds[] = {"sum", "maximum", "minimum"};
  if (placement.isWhole())
    return "the same on all " + level_ + "s";
  if (placement.isPartial())
    return "a " + std::string(folds[static_cast<size_t>(placement.fold)]) + " over the " + level_ +
           "s that is still owed";
  Dim length = shape[shape.size() - static_cast<size_t>(-placement.axis)];
  return "cut along `" + dims_.toString(length) + "` over the " + level_ + "s";
}

const MovementRecord *PlacementReports::between(const Placement &from, const Placement &to) const {
  for (const MovementRecord &record : allMovements)
    if (record.from == from.kind && record.to == to.kind)
      return &record;
  return nullptr;
}

/// What each part sends, as a share of the bytes of the whole array.
std::string PlacementReports::bytesText(const PlacedValue &value,
                                        const MovementRecord &movement) const {
  std::string bytes = std::to_string(elemInfo(value.elem).storageBytes);
  for (Dim dim : value.shape) {
    std::string text = dims_.toString(dim);
    bool isSum = text.find(" + ") != text.npos || text.find(" - ") != text.npos;
    bytes += " * " + (isSum ? "(" + text + ")" : text);
  }
  return "each of n " + level_ + "s sends " + std::string(movement.share) + " of " + bytes +
         " bytes";
}

void PlacementReports::offer(DiagnosticBuilder report, const ReportedValue &value,
                             const MovementRecord &movement, const std::string &by) {
  std::string name(movement.name);
  std::string behind = ", over: " + level_ + (by.empty() ? ")" : ", by: " + by + ")");
  std::string bytes = bytesText(*value.value, movement);
  if (!value.written) {
    report.help("`" + name + "(…" + behind + "` moves it: " + bytes);
    return;
  }
  Span at = *value.written;
  report.fix(FixId::Movement, "insert `" + name + "(" + value.text + behind + "`: " + bytes,
             {{{at.file, at.begin, at.begin}, name + "("}, {{at.file, at.end, at.end}, behind}});
}

void PlacementReports::owed(Span span, const ReportedValue &value, const std::string &user) {
  constexpr std::string_view folds[] = {"sum", "maximum", "minimum"};
  auto report = sink_.report(DiagId::PartialUsedWhole, span,
                             {value.name,
                              std::string(folds[static_cast<size_t>(value.value->placement.fold)]),
                              level_ + "s", user});
  offer(report, value, movementRecord(MovementId::AllReduce), {});
}

void PlacementReports::conflict(Span span, const std::string &op, const ReportedValue &a,
                                const ReportedValue &b) {
  auto report = sink_.report(DiagId::PlacementsDiffer, span,
                             {op, a.name, describe(*a.value), b.name, describe(*b.value)});
  for (const ReportedValue *each : {&a, &b})
    offer(report, *each, movementRecord(MovementId::AllGather), {});
}

void PlacementReports::needsWhole(Span span, const std::string &what, const std::string &why,
                                  const ReportedValue &value) {
  auto report = sink_.report(DiagId::NoPlacementRule, span, {what, why});
  if (const MovementRecord *movement = between(value.value->placement, Placement()))
    offer(report, value, *movement, {});
}

void PlacementReports::result(Span span, const std::string &name, const Placement &wanted,
                              const std::vector<Dim> &shape, const ReportedValue &value) {
  auto report = sink_.report(DiagId::ResultPlacement, span,
                             {name, describe(wanted, shape), describe(*value.value)});
  const MovementRecord *movement = between(value.value->placement, wanted);
  if (!movement)
    return;
  std::string by;
  if (movement->takesBy)
    by = dims_.toString(shape[shape.size() - static_cast<size_t>(-wanted.axis)]);
  offer(report, value, *movement, by);
}

void PlacementReports::source(Span span, const MovementRecord &movement,
                              const ReportedValue &value) {
  std::string_view from = movement.from == PlacementKind::Cut ? "cut" : "a sum that is still owed";
  auto report = sink_.report(
      DiagId::MovementSource, span,
      {std::string(movement.name), std::string(from), value.name, describe(*value.value)});
  if (value.value->placement.isWhole())
    report.help("nothing has to move: every part has it, and a block of it is taken for nothing");
}

void PlacementReports::noRule(Span span, const std::string &what, const std::string &why) {
  sink_.report(DiagId::NoPlacementRule, span, {what, why});
}

} // namespace ptl
