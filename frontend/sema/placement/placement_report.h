// What is said of placements that do not agree, and the movements that would mend them.
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

/// Says things about one program.
class PlacementReports {
public:
  PlacementReports(const DimContext &dims, std::string level, DiagnosticSink &sink)
      : dims_(dims), level_(std::move(level)), sink_(sink) {}

  /// `cut along D over the chips`
  std::string describe(const PlacedValue &value) const {
    return describe(value.placement, value.shape);
  }
  std::string describe(const Placement &placement, const std::vector<Dim> &shape) const;

  void owed(Span span, const ReportedValue &value, const std::string &user);
  void conflict(Span span, const std::string &op, const ReportedValue &a, const ReportedValue &b);
  void needsWhole(Span span, const std::string &what, const std::string &why,
                  const ReportedValue &value);
  void result(Span span, const std::string &name, const Placement &wanted,
              const std::vector<Dim> &shape, const ReportedValue &value);
  void source(Span span, const MovementRecord &movement, const ReportedValue &value);
  void noRule(Span span, const std::string &what, const std::string &why);

private:
  /// The movement from one placement to another; null when it takes more than one, or none.
  const MovementRecord *between(const Placement &from, const Placement &to) const;
  void offer(DiagnosticBuilder report, const ReportedValue &value, const MovementRecord &movement,
             const std::string &by);
  std::string bytesText(const PlacedValue &value, const MovementRecord &movement) const;

  const DimContext &dims_;
  std::string level_;
  DiagnosticSink &sink_;
};

} // namespace ptl
