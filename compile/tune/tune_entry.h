// What a schedule of an entry can set as a space to search, and what each of its points takes: on a chip the
// time that `ptlc check --target --cost` predicts with these values, on this processor by the clock.
#pragma once

#include "compile/tune/kept_times.h"
#include "compile/tune/measure_entry.h"
#include "compile/tune/predict_entry.h"
#include "compile/tune/schedule_choices.h"
#include "compile/tune/search.h"

#include <algorithm>
#include <map>

namespace ptl {

struct TuneQuestion {
  const CheckedProgram &program;
  const SourceManager &sources;
  const CallableDecl &decl;
  CompilerOptions
      options; ///< without `chip` for this processor; without `recheck` tunables alone are searched
  const MachineCosts &costs; ///< of the chip
  Wanted wanted;             ///< values of this declaration alone, without its name before them
  ExampleSizes sizes;        ///< of the call whose time is told
};

/// The tunables of `decl` in the order declared, those without a domain with a few values around today's, then the other items of a schedule
/// (`itemChoices`). Their start is what holds today: the value of the schedule that applies, else the
/// default. A tunable with a value in `wanted` has that value alone, so that a schedule says it too.
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
  /// Whether there is anything to choose.
  bool isChoice() const {
    return std::any_of(axes_.begin(), axes_.end(),
                       [](const TuneAxis &axis) { return axis.values.size() > 1; });
  }
  /// The schedule that applies to the entry today, for this chip or for all; null if none does.
  const ScheduleDecl *schedule() const { return schedule_; }

  /// Compiles the entry with the values of a point and computes or measures its time. A point that
  /// a `where` over tunables excludes, or that the compiler refuses, has a reason instead.
  TuneOutcome evaluate(const TunePoint &point);

  /// How many of the times were known from an earlier search.
  size_t known() const { return kept_.known(); }

  /// Confirms the times of two points: the whole of both is simulated, or both are measured again in turn.
  /// Nothing where the simulation would take more than a few seconds.
  std::optional<std::pair<double, double>> confirmed(const TunePoint &one, const TunePoint &other);

  /// The same for the values that hold without a request: those of the schedule, or the defaults.
  TuneOutcome evaluateToday();

  /// Why values cannot be bound, whatever the point; empty if they can be.
  const std::string &problem() const { return problem_; }
  /// Why no time is known of anything that fits; empty if one is known.
  const std::string &unknown() const {
    return question_.options.chip ? predictor_.unknown() : clock_.problem();
  }
  /// The sizes, and what was assumed, for the last time that was computed.
  const Cost &lastCost() const { return predictor_.lastCost(); }

  /// `BM = 64`, `pipeline k 3`; empty where the value needs no item.
  std::string itemText(size_t axis, const TunePoint &point) const;
  /// All of these: `BM = 64, BN = 128, pipeline k 3`
  std::string text(const TunePoint &point) const;
  /// Whether an axis that is no tunable has another value than today.
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
  KeptTimes kept_;           ///< of chips: measured times come out otherwise each time
  std::map<std::string, std::string> reasons_; ///< of the static lengths that nobody asked for
  bool isWhole_ = false;                       ///< everything is simulated
};

/// Searches the tunables as `searchTunables` does, then descends from the best along all axes. `points` and
/// `exhaustive` of the result are about the tunables; no point is tried twice.
TuneResult searchEntry(const EntryTuning &tuning, const TuneEvaluate &evaluate,
                       const TuneLimits &limits);

/// The root file with the values of a point in a schedule for the chip: in that which applies today, or which it
/// has without `when`, whose other items stay, else in a new one behind the declaration, which takes over the
/// items of a schedule for all targets. Formatted if the file is.
std::string withSchedule(const CheckedProgram &program, const SourceManager &sources,
                         const CallableDecl &decl, const std::string &machine,
                         const EntryTuning &tuning, const TunePoint &point);

/// What a schedule with the values of a point says, with what the schedule of today says beside them.
std::string scheduleItems(const CheckedProgram &program, const EntryTuning &tuning,
                          const TunePoint &point);

/// A schedule for some lengths, or for all.
struct ScheduleText {
  std::string when;  ///< `M >= 1024`; empty: whatever they are
  std::string items; ///< `BM = 64, pipeline k 3`
};

/// The root file with these schedules for the chip behind the declaration, in the place of those that it has for it.
/// Nothing, and the reason, where one of these says what no choice sets.
std::optional<std::string> withSchedules(const CheckedProgram &program,
                                         const SourceManager &sources, const CallableDecl &decl,
                                         const std::string &machine, const EntryTuning &tuning,
                                         const std::vector<ScheduleText> &schedules,
                                         std::string &why);

/// Whether a condition over dimensions and tunables holds; nothing where a value is not known.
using LocalLookup = std::function<std::optional<int64_t>(const Local &local)>;
std::optional<bool> conditionHolds(const Expr &condition, const DimLookup &dims,
                                   const LocalLookup &locals);

} // namespace ptl
