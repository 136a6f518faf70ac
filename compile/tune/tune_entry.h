// The settings of an entry's schedule as a space to search, and the time of each point: on a chip
// the time that `ptlc check --target --cost` predicts with these values; on this processor the
// measured time.
#pragma once

#include "compile/tune/kept_times.h"
#include "compile/tune/measure_entry.h"
#include "compile/tune/predict_entry.h"
#include "compile/tune/schedule_choices.h"
#include "compile/tune/search.h"
#include "frontend/sema/reported.h"

#include <algorithm>
#include <map>

namespace ptl {

struct TuneQuestion {
  const CheckedProgram &program;
  const SourceManager &sources;
  const CallableDecl &decl;
  CompilerOptions
      options; ///< without `chip`: this processor; without `recheck`: only tunables are searched
  const MachineCosts &costs; ///< of the chip
  Wanted wanted;             ///< values for this declaration, whose name is not prefixed
  ExampleSizes sizes;        ///< of the call whose time is reported
};

/// The tunables of `decl` in the order of declaration (those without a domain have a few values
/// around the present one), then the other items of a schedule (`itemChoices`). The start of each
/// is its present value: that of the schedule that applies, otherwise the default. A tunable with a
/// value in `wanted` has only that value, so that a schedule states it too.
class EntryTuning {
public:
  explicit EntryTuning(TuneQuestion question);

  const std::vector<TuneAxis> &axes() const { return axes_; }
  const std::vector<ScheduleChoice> &choices() const { return choices_; } ///< one for each axis
  const TuneQuestion &question() const { return question_; }
  /// The name of the target in schedules.
  std::string machineName() const {
    return question_.options.chip ? question_.options.chip->name : "cpu";
  }
  /// Whether any axis has more than one value.
  bool isChoice() const {
    return std::any_of(axes_.begin(), axes_.end(),
                       [](const TuneAxis &axis) { return axis.values.size() > 1; });
  }
  /// The schedule that applies to the entry at present, for this chip or for all; null if there is
  /// none.
  const ScheduleDecl *schedule() const { return schedule_; }

  /// Compiles the entry with the values of a point, and predicts or measures its time. A point that
  /// a `where` over tunables excludes, or that the compiler refuses, has a reason instead.
  TuneOutcome evaluate(const TunePoint &point);

  /// The number of times that came from an earlier search.
  size_t known() const { return kept_.known(); }

  /// Confirms the times of two points: both are simulated in full, or both are measured again,
  /// alternately. Nothing if the simulation would take more than a few seconds.
  std::optional<std::pair<double, double>> confirmed(const TunePoint &one, const TunePoint &other);

  /// Evaluates the values that hold without a request: those of the schedule, or the defaults.
  TuneOutcome evaluateToday();

  /// Why values cannot be bound, independently of the point; empty if they can.
  const std::string &problem() const { return problem_; }
  /// Why no time is known of any point that fits; empty if one is known.
  const std::string &unknown() const {
    return question_.options.chip ? predictor_.unknown() : clock_.problem();
  }
  /// The sizes, and what was assumed, for the last time that was computed.
  const Cost &lastCost() const { return predictor_.lastCost(); }

  /// `BM = 64`, `pipeline k 3`; empty if the value needs no item in the schedule.
  std::string itemText(size_t axis, const TunePoint &point) const;
  /// All of these: `BM = 64, BN = 128, pipeline k 3`
  std::string text(const TunePoint &point) const;
  /// Whether an axis that is not a tunable differs from its present value.
  bool changesItem(size_t axis, const TunePoint &point) const {
    return !choices_[axis].tunable && point[axis] != axes_[axis].start;
  }

private:
  void addTunable(const Tunable &tunable);
  const WhereClause *excluding(const TunePoint &point) const;
  void findKept();
  TuneOutcome compiledPoint(const TunePoint &point);
  TuneOutcome compiled(const TuneQuestion &question, const Wanted &wanted);
  TuneOutcome compiledText(const TunePoint &point);
  void tellReasons();

  TuneQuestion question_;
  std::vector<TuneAxis> axes_;
  std::vector<ScheduleChoice> choices_;
  const ScheduleDecl *schedule_ = nullptr;
  std::string problem_;
  EntryPredictor predictor_; ///< for chips
  EntryClock clock_;         ///< for this processor
  KeptTimes kept_;           ///< for chips only: measured times vary
  /// the origin of static lengths that nobody asked for
  std::map<std::string, std::string> reasons_;
  bool isWhole_ = false; ///< everything is simulated in full
};

/// Searches the tunables as `searchTunables` does, then descends from the best point along all
/// axes. `points` and `exhaustive` of the result concern the tunables; no point is tried twice.
TuneResult searchEntry(const EntryTuning &tuning, const TuneEvaluate &evaluate,
                       const TuneLimits &limits);

/// A schedule for some lengths, or for all lengths.
struct ScheduleText {
  std::string when;  ///< `M >= 1024`; empty: for all lengths
  std::string items; ///< `BM = 64, pipeline k 3`
};

} // namespace ptl
