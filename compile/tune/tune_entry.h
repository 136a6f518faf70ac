// The tunables of an entry as a space to search, and what a chip says of each of its points: the same
// verdict and the same time as `ptlc check --target --cost` gives with these values.
#pragma once

#include "compile/chip/feasibility.h"
#include "compile/cost/cost.h"
#include "compile/tune/search.h"

#include <algorithm>

namespace ptl {

struct TuneQuestion {
  const CheckedProgram &program;
  const SourceManager &sources;
  const CallableDecl &decl;
  CompilerOptions options; ///< `chip` is set
  const MachineCosts &costs;
  Wanted wanted;      ///< values of this declaration alone, without its name before them
  ExampleSizes sizes; ///< of the call whose time is told
};

/// The tunables of `decl` that have a domain, in the order declared. Their start is what holds today:
/// the value of the schedule that applies, else the default. A tunable with a value in `wanted` has
/// that value alone, so that a schedule says it too.
class EntryTuning {
public:
  explicit EntryTuning(TuneQuestion question);

  const std::vector<TuneAxis> &axes() const { return axes_; }
  const std::vector<const Tunable *> &tunables() const { return tunables_; }
  /// Whether there is anything to choose.
  bool isChoice() const {
    return std::any_of(axes_.begin(), axes_.end(),
                       [](const TuneAxis &axis) { return axis.values.size() > 1; });
  }
  /// The schedule that applies to the entry today, for this chip or for all; null if none does.
  const ScheduleDecl *schedule() const { return schedule_; }

  /// Compiles the entry for the chip with the values of a point and computes its time. A point that
  /// a `where` over tunables excludes, or that the compiler refuses, has a reason instead.
  TuneOutcome evaluate(const TunePoint &point);

  /// The same for the values that hold without a request: those of the schedule, or the defaults.
  TuneOutcome evaluateToday();

  /// Why values cannot be bound, whatever the point; empty if they can be.
  const std::string &problem() const { return problem_; }
  /// Why no time is known of something that fits; empty if it is known.
  const std::string &unknown() const { return unknown_; }
  /// The sizes, and what was assumed, for the last time that was computed.
  const Cost &lastCost() const { return lastCost_; }

  /// `64`, `true`
  std::string valueText(size_t axis, const TunePoint &point) const;
  /// `BM = 64, BN = 128`
  std::string text(const TunePoint &point) const;

private:
  const WhereClause *excluding(const TunePoint &point) const;
  TuneOutcome compiled(const Wanted &wanted);

  TuneQuestion question_;
  std::vector<TuneAxis> axes_;
  std::vector<const Tunable *> tunables_;
  const ScheduleDecl *schedule_ = nullptr;
  std::string problem_, unknown_;
  Cost lastCost_;
};

/// The root file with the values of a point in a schedule for the chip: in that which it has without
/// `when`, whose other items stay, else in a new one behind the declaration, which takes over the
/// items of a schedule for all targets. Formatted if the file is.
std::string withSchedule(const CheckedProgram &program, const SourceManager &sources,
                         const CallableDecl &decl, const std::string &machine,
                         const EntryTuning &tuning, const TunePoint &point);

/// Whether a condition over dimensions and tunables holds; nothing where a value is not known.
using LocalLookup = std::function<std::optional<int64_t>(const Local &local)>;
std::optional<bool> conditionHolds(const Expr &condition, const DimLookup &dims,
                                   const LocalLookup &locals);

} // namespace ptl
