#include "compile/tune/advice.h"

#include "compile/tune/edit_trials.h"
#include "compile/tune/search.h"
#include "compile/tune/source_moves.h"
#include "compile/tune/source_numbers.h"
#include "frontend/base/printed.h"

#include <algorithm>
#include <map>

namespace ptl {

const std::vector<AdviceInfo> &allAdviceInfos() {
  static const std::vector<AdviceInfo> infos = {
#define ADVICE(NAME, ID, RUNS, LEAST, WHAT) {AdviceKind::NAME, ID, RUNS, LEAST / 100.0, WHAT},
#include "compile/tune/advice_kinds.def"
  };
  return infos;
}

const AdviceInfo &adviceInfo(AdviceKind kind) {
  return allAdviceInfos()[static_cast<size_t>(kind)];
}

namespace {

class Adviser {
public:
  Adviser(const CostQuestion &question, const CompilerOptions &options, const Cost &cost,
          const AdviceLimits &limits)
      : question_(question), cost_(cost), trials_(question, options, limits) {}

  void adviseNumbers();
  void adviseMoves(const std::vector<SourceMove> &moves);
  std::vector<NumberTimes> tried() const;
  std::vector<CostAdvice> take();

private:
  using Point = std::vector<size_t>;

  bool isWorth(AdviceKind kind, double us) const {
    return us <= cost_.us * (1 - adviceInfo(kind).least);
  }
  std::vector<TextEdit> editsAt(const Point &point) const;
  std::string textAt(const Point &point) const;
  Point startOf() const;
  std::optional<double> timeAt(const Point &point);
  std::optional<Point> search(bool depthsOnly);
  void keepMeaningful();
  void simplify(Point &point);
  AdviceKind kindOf(const Point &point);
  bool keepsMeaning(const Point &point);
  void add(AdviceKind kind, std::string text, Span span, std::vector<TextEdit> edits, double us);

  const CostQuestion &question_;
  const Cost &cost_;
  EditTrials trials_;
  std::vector<SourceNumber> numbers_;
  std::vector<std::map<int64_t, double>> times_; ///< per number: the least time by value
  std::vector<CostAdvice> found_;
};

} // namespace

void Adviser::add(AdviceKind kind, std::string text, Span span, std::vector<TextEdit> edits,
                  double us) {
  CostAdvice advice{adviceInfo(kind).id, std::move(text), span, us, std::move(edits)};
  // Of several forms of one change only the fastest is reported.
  auto same = std::find_if(found_.begin(), found_.end(), [&](const CostAdvice &each) {
    return each.text == advice.text || (each.kind == advice.kind && each.span == advice.span);
  });
  if (same == found_.end())
    found_.push_back(std::move(advice));
  else if (advice.us < same->us)
    *same = std::move(advice);
}

// ---- Numbers ------------------------------------------------------------------------------------

std::vector<TextEdit> Adviser::editsAt(const Point &point) const {
  std::vector<TextEdit> edits;
  for (size_t i = 0; i < numbers_.size(); ++i)
    if (point[i] != numbers_[i].start)
      for (TextEdit &edit : numbers_[i].edits(numbers_[i].values[point[i]]))
        edits.push_back(std::move(edit));
  return edits;
}

std::string Adviser::textAt(const Point &point) const {
  std::string text;
  for (size_t i = 0; i < numbers_.size(); ++i)
    if (point[i] != numbers_[i].start)
      text += (text.empty() ? "" : ", ") + numbers_[i].text(numbers_[i].values[point[i]]);
  return text;
}

Adviser::Point Adviser::startOf() const {
  Point point;
  for (const SourceNumber &number : numbers_)
    point.push_back(number.start);
  return point;
}

std::optional<double> Adviser::timeAt(const Point &point) {
  // The time of the present source is known already.
  const EditTrial *trial = point == startOf() ? nullptr : trials_.tried(editsAt(point));
  if (!trial && point != startOf())
    return std::nullopt;
  double us = trial ? trial->us : cost_.us;
  for (size_t i = 0; i < point.size(); ++i) {
    double &least = times_[i].try_emplace(numbers_[i].values[point[i]], us).first->second;
    // For each value of one number the best of all combinations is reported.
    least = std::min(least, us);
  }
  return us;
}

std::vector<NumberTimes> Adviser::tried() const {
  std::vector<NumberTimes> all;
  for (size_t i = 0; i < times_.size(); ++i)
    if (times_[i].size() > 1 && !numbers_[i].isDepth)
      all.push_back({numbers_[i].name,
                     numbers_[i].nameSpan,
                     numbers_[i].values[numbers_[i].start],
                     {times_[i].begin(), times_[i].end()}});
  return all;
}

/// The best point that a descent from the present one finds, if it saves enough to be reported.
std::optional<Adviser::Point> Adviser::search(bool depthsOnly) {
  std::vector<TuneAxis> axes;
  for (const SourceNumber &number : numbers_)
    if (depthsOnly && !number.isDepth)
      // A number that is not searched is an axis with a single value.
      axes.push_back({"", {number.values[number.start]}, 0});
    else
      axes.push_back({"", number.values, number.start});
  // The search sees such an axis at place 0; its real place is that of the present value.
  auto real = [&](TunePoint point) {
    for (size_t i = 0; i < point.size(); ++i)
      if (depthsOnly && !numbers_[i].isDepth)
        point[i] = numbers_[i].start;
    return point;
  };
  TuneLimits limits;
  limits.mostPoints = 0; // a descent is enough to say what helps
  limits.mostIdle = 1;
  limits.isOver = [&] { return trials_.isOver(); };
  TuneResult result = searchTunables(
      axes,
      [&](const TunePoint &point) {
        std::optional<double> us = timeAt(real(point));
        return TuneOutcome{us, us ? "" : "it cannot be compiled"};
      },
      limits);
  if (!result.best || !isWorth(AdviceKind::Tiles, *result.tries[*result.best].outcome.us))
    return std::nullopt;
  return real(result.tries[*result.best].point);
}

/// Takes back every change that saves less than a hundredth, so that the smallest change is
/// reported.
void Adviser::simplify(Point &point) {
  for (size_t i = 0; i < point.size(); ++i) {
    Point without = point;
    without[i] = numbers_[i].start;
    std::optional<double> now = timeAt(point), less = timeAt(without);
    if (point[i] != numbers_[i].start && now && less && *less <= *now * 1.01)
      point = std::move(without);
  }
}

AdviceKind Adviser::kindOf(const Point &point) {
  bool isDepth = true, isAlignment = true;
  for (size_t i = 0; i < point.size(); ++i) {
    int64_t before = numbers_[i].values[numbers_[i].start], after = numbers_[i].values[point[i]];
    if (before == after)
      continue;
    isDepth &= numbers_[i].isDepth;
    // A size that moves only to the next multiple of 16 counts as an alignment.
    isAlignment &=
        before % 16 != 0 && after % 16 == 0 && after < before + 16 && after > before - 16;
  }
  const EditTrial *trial = trials_.tried(editsAt(point));
  return isDepth                                 ? AdviceKind::Pipeline
         : isAlignment                           ? AdviceKind::Align
         : trial && trial->groups > cost_.groups ? AdviceKind::Groups
                                                 : AdviceKind::Tiles;
}

/// Whether the change leaves the results as they are. Tunables are declared to change no result,
/// and neither does a pipeline depth. A tile size in the text may be part of what is computed, for
/// instance where the elements of a tile share a scale.
bool Adviser::keepsMeaning(const Point &point) {
  bool isWritten = false;
  for (size_t i = 0; i < point.size(); ++i)
    isWritten |= numbers_[i].isWritten && point[i] != numbers_[i].start;
  return !isWritten || trials_.computesTheSame(editsAt(point));
}

/// Drops the sizes on which results depend.
void Adviser::keepMeaningful() {
  std::vector<SourceNumber> all = std::move(numbers_);
  numbers_.clear();
  for (SourceNumber &number : all) {
    // Any other size shows whether the results depend on it.
    int64_t other = number.values[number.start] == 16 ? 32 : 16;
    std::vector<TextEdit> edits = number.edits(other);
    if (!number.isWritten || !trials_.checks(edits) || trials_.computesTheSame(edits))
      numbers_.push_back(std::move(number));
  }
}

void Adviser::adviseNumbers() {
  numbers_ = sourceNumbers(question_);
  constexpr size_t most = 10; // more are not searched in a time that is worth waiting for
  if (numbers_.empty() || numbers_.size() > most)
    return;
  keepMeaningful();
  times_.resize(numbers_.size());
  // A change of depths alone is easier to accept, so it is reported beside a better one of sizes.
  for (bool depthsOnly : {false, true}) {
    std::optional<Point> best = search(depthsOnly);
    if (!best)
      continue;
    simplify(*best);
    std::optional<double> us = timeAt(*best);
    if (!us || !isWorth(AdviceKind::Tiles, *us) || !keepsMeaning(*best))
      continue;
    Span span = kNoSpan;
    for (size_t i = 0; i < best->size() && span == kNoSpan; ++i)
      if ((*best)[i] != numbers_[i].start)
        span = numbers_[i].span;
    add(kindOf(*best), textAt(*best), span, editsAt(*best), *us);
  }
}

// ---- Other forms --------------------------------------------------------------------------------

void Adviser::adviseMoves(const std::vector<SourceMove> &moves) {
  for (const SourceMove &move : moves) {
    const EditTrial *trial = trials_.tried(move.edits);
    if (!trial || !isWorth(move.kind, trial->us))
      continue;
    // The comparison runs both forms, which takes longest, so it is made last.
    if (!adviceInfo(move.kind).runs || trials_.computesTheSame(move.edits))
      add(move.kind, move.text, move.span, move.edits, trial->us);
  }
}

std::vector<CostAdvice> Adviser::take() {
  std::stable_sort(found_.begin(), found_.end(),
                   [](const CostAdvice &a, const CostAdvice &b) { return a.us < b.us; });
  return std::move(found_);
}

void advise(Cost &cost, const CostQuestion &question, const CompilerOptions &options,
            const AdviceLimits &limits) {
  const CallableDecl &decl = *question.bound.binding.decl;
  bool isOwn = decl.module == question.program.modules.front().get();
  // Only a file of the user is edited, and only tile-level code: block-level code chooses its own
  // sizes.
  if (!cost.unknown.empty() || !isOwn || decl.isBlockLevel || !options.recheck || !options.chip)
    return;
  Adviser adviser(question, options, cost, limits);
  // The moves that are quick to try and often help come first, in case the limits end the search.
  adviser.adviseMoves(orderMoves(question));
  adviser.adviseMoves(hoistMoves(question));
  adviser.adviseMoves(operandMoves(question));
  adviser.adviseMoves(parallelMoves(question));
  adviser.adviseMoves(unscheduleMoves(question));
  adviser.adviseMoves(keepMoves(question));
  adviser.adviseMoves(splitMoves(question));
  adviser.adviseMoves(scheduleMoves(question));
  adviser.adviseNumbers();
  cost.tried = adviser.tried();
  cost.advice = adviser.take();
}

} // namespace ptl
