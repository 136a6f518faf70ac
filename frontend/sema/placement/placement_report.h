// Reports placements that do not agree, with the movements that would repair them.
#pragma once

#include "frontend/sema/placement/placement.h"

namespace ptl {

/// A value as a report speaks of it.
struct ReportedValue {
  const PlacedValue *value = nullptr;
  std::string name;            ///< what it is called: "`x @ w`"
  std::string text;            ///< as written; empty: it has no text here
  std::optional<Span> written; ///< where a movement can be put round it
};

/// Reports the errors in one program. Each concerns one level, which is the first argument.
class PlacementReports {
public:
  PlacementReports(const DimContext &dims, const std::vector<PlacedLevel> &levels,
                   DiagnosticSink &sink)
      : dims_(dims), levels_(levels), sink_(sink) {}

  /// `cut along D over the chips`
  std::string describe(size_t level, const PlacedValue &value) const {
    return describe(level, value.placement, value.shape);
  }
  std::string describe(size_t level, const Placement &placement,
                       const std::vector<Dim> &shape) const;

  void partial(size_t level, Span span, const ReportedValue &value, const std::string &user);
  void conflict(size_t level, Span span, const std::string &op, const ReportedValue &a,
                const ReportedValue &b);
  void needsWhole(size_t level, Span span, const std::string &what, const std::string &why,
                  const ReportedValue &value);
  void result(size_t level, Span span, const std::string &name, const Placement &wanted,
              const std::vector<Dim> &shape, const ReportedValue &value);
  /// Reports a variable whose placement at the end of an iteration differs from the one before the loop.
  void carried(size_t level, Span span, const std::string &name, const PlacedValue &first,
               const ReportedValue &next);
  /// Reports what lies differently at the ends of the arms of a choice.
  void arms(size_t level, Span span, const std::string &name, const ReportedValue &then,
            const ReportedValue &otherwise);
  void source(size_t level, Span span, const MovementRecord &movement, const ReportedValue &value);
  void noRule(Span span, const std::string &what, const std::string &why);

private:
  /// The movement from one placement to another; null when it takes more than one, or none.
  const MovementRecord *between(const LevelPlacement &from, const LevelPlacement &to) const;
  void offer(size_t level, DiagnosticBuilder report, const ReportedValue &value,
             const MovementRecord &movement, const std::string &target);
  void offerTo(size_t level, DiagnosticBuilder report, const ReportedValue &value,
               const LevelPlacement &to, const std::vector<Dim> &shape);
  std::string plural(size_t level) const { return levels_[level].name + "s"; }

  const DimContext &dims_;
  const std::vector<PlacedLevel> &levels_;
  DiagnosticSink &sink_;
};

} // namespace ptl
