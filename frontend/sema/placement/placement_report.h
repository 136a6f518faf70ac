// Reports contradicting placements, with the movements that would repair them.
#pragma once

#include "frontend/sema/placement/placement.h"

namespace ptl {

/// A value in the terms of a report.
struct ReportedValue {
  const PlacedValue *value = nullptr;
  std::string name;            ///< description: "`x @ w`"
  std::string text;            ///< as written; empty: it has no text here
  std::optional<Span> written; ///< the span around which a movement can be written
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

  /// `carried` is the variable of a loop that the partial value meets, and that is whole; empty if there is none.
  void partial(size_t level, Span span, const ReportedValue &value, const std::string &user,
               const std::string &carried = {});
  /// `isByPosition`: axes with the same number from the end correspond, so either operand may be cut like the other.
  void conflict(size_t level, Span span, const std::string &op, const ReportedValue &a,
                const ReportedValue &b, bool isByPosition);
  /// `others`: axes that the value may be cut along instead.
  DiagnosticBuilder needsWhole(size_t level, Span span, const std::string &what,
                               const std::string &why, const ReportedValue &value,
                               const std::vector<int64_t> &others = {});
  void result(size_t level, Span span, const std::string &name, const Placement &wanted,
              const std::vector<Dim> &shape, const ReportedValue &value);
  /// Reports a variable whose placement at the end of an iteration differs from the one before the loop.
  void carried(size_t level, Span span, const std::string &name, const PlacedValue &first,
               const ReportedValue &next);
  /// Reports a variable or value whose placement differs at the ends of the arms of a choice.
  void arms(size_t level, Span span, const std::string &name, const ReportedValue &then,
            const ReportedValue &otherwise);
  void source(size_t level, Span span, const MovementRecord &movement, const ReportedValue &value);
  /// Reports what a part does not have in the body of a `parallel` over parts; `own` says what it has.
  void elsewhere(size_t level, Span span, const std::string &what, const std::string &own,
                 const PlacedValue &value);
  void noRule(Span span, const std::string &what, const std::string &why);

private:
  /// The movement from one placement to another; null if more than one is needed, or none.
  const MovementRecord *between(const LevelPlacement &from, const LevelPlacement &to) const;
  void offer(size_t level, DiagnosticBuilder report, const ReportedValue &value,
             const MovementRecord &movement, const std::string &target);
  void offerTo(size_t level, DiagnosticBuilder report, const ReportedValue &value,
               const LevelPlacement &to, const std::vector<Dim> &shape);
  bool offerAlong(size_t level, DiagnosticBuilder report, const ReportedValue &value, int64_t axis);
  std::string plural(size_t level) const;

  const DimContext &dims_;
  const std::vector<PlacedLevel> &levels_;
  DiagnosticSink &sink_;
};

} // namespace ptl
