#include "compile/tune/tune_entry.h"
#include "compile/tune/write_schedule.h"

#include "compile/kept_code.h"
#include "compile/key_hash.h"
#include "frontend/sema/check.h"

#include <algorithm>
#include <cstdlib>
#include <map>

namespace ptl {

/// The least share of the time that items beside tunables must save to be worth writing.
static constexpr double kLeastGain = 0.005;
/// How often two choices are measured again, in turn.
static constexpr size_t kConfirmations = 5;

/// The schedule that applies now, chosen as ir/build does: by what is known when compiling, or for
/// a kernel when it is called.
static const ScheduleDecl *scheduleToday(const TuneQuestion &question) {
  DimLookup statics = [&](SymbolId symbol) -> std::optional<int64_t> {
    for (const DimParam &dim : question.decl.dims)
      if (auto given = question.wanted.find(dim.name);
          dim.symbol == symbol && given != question.wanted.end())
        return std::atoll(given->second.c_str());
      else if (auto size = question.sizes.find(dim.name); dim.symbol == symbol &&
                                                          size != question.sizes.end() &&
                                                          question.decl.kind == DeclKind::Kernel)
        return size->second;
    return std::nullopt;
  };
  return applyingSchedule(
      question.program, question.decl,
      question.options.chip ? std::string_view(question.options.chip->name) : "cpu", statics);
}

EntryTuning::EntryTuning(TuneQuestion question) : question_(std::move(question)) {
  // Static lengths that the user did not name come from benches or are defaults.
  for (const BoundEntry &bound :
       bindEntries(question_.program, question_.decl, question_.wanted, problem_))
    for (const auto &[name, value] : bound.binding.statics)
      if (question_.wanted.try_emplace(name, std::to_string(value)).second)
        for (const Choice &choice : bound.choices)
          if (choice.name == name)
            reasons_[name] = choice.why;
  schedule_ = scheduleToday(question_);
  for (const Tunable &tunable : question_.decl.tunables)
    addTunable(tunable);
  bool isOwn = question_.decl.module == question_.program.modules.front().get();
  const std::optional<Machine> &chip = question_.options.chip;
  // A schedule is only ever written into the user's own file.
  if (isOwn && question_.options.recheck)
    for (ScheduleChoice &choice :
         itemChoices(question_.program, question_.decl, schedule_, chip ? &*chip : nullptr))
      choices_.push_back(std::move(choice));
  for (const ScheduleChoice &choice : choices_)
    axes_.push_back({choice.key, choice.values, choice.start});
  findKept();
}

/// Finds kept times under a key of everything they depend on: all sources, the entry, what was
/// asked for, the options, and this build, which contains the machines.
void EntryTuning::findKept() {
  const CompilerOptions &options = question_.options;
  if (!options.chip || !options.cache || !options.recheck || buildIdentity().empty() ||
      !problem_.empty())
    return;
  KeyHash key;
  for (const std::string &text : {std::string("times of choices"), buildIdentity(),
                                  options.cacheSalt, options.chip->name, question_.decl.name})
    key.add(text);
  for (uint64_t number :
       {uint64_t(options.level), uint64_t(options.unchecked),
        uint64_t(question_.decl.nameSpan.file), uint64_t(question_.decl.nameSpan.begin)})
    key.add(number);
  key.add(question_.wanted.size());
  for (const auto &[name, value] : question_.wanted) {
    key.add(name);
    key.add(value);
  }
  key.add(question_.sizes);
  key.add(question_.sources.size());
  for (size_t i = 0; i < question_.sources.size(); ++i) {
    const SourceFile &source = question_.sources.file(static_cast<FileId>(i));
    key.add(source.path());
    key.add(source.text());
  }
  kept_ = KeptTimes(options.cache, key.text());
}

void EntryTuning::addTunable(const Tunable &tunable) {
  const std::string &name = tunable.local->name;
  ScheduleChoice choice;
  choice.key = name;
  choice.values = tunable.domain;
  choice.tunable = &tunable;
  choice.item = [name, isBool = tunable.isBool](int64_t value) {
    return name + " = " + (!isBool ? std::to_string(value) : value ? "true" : "false");
  };
  int64_t value = tunable.defaultValue;
  if (auto given = question_.wanted.find(name); given != question_.wanted.end()) {
    // A value that the user has set is not searched.
    choice.values = {given->second == "true" ? 1 : std::atoll(given->second.c_str())};
    choices_.push_back(std::move(choice));
    return;
  }
  if (tunable.isBool)
    choice.values = {0, 1};
  // Without a domain, sizes around the default are tried.
  else if (choice.values.empty())
    for (int64_t other : {value / 4, value / 2, value * 2, value * 4})
      if (other > 0)
        choice.values.push_back(other);
  for (const auto &[local, scheduled] :
       schedule_ ? schedule_->tunables : std::vector<std::pair<Local *, int64_t>>())
    if (local == tunable.local)
      value = scheduled;
  // The search begins at the present value, so it is one of the values even if the domain lacks it.
  choice.values.push_back(value);
  std::sort(choice.values.begin(), choice.values.end());
  choice.values.erase(std::unique(choice.values.begin(), choice.values.end()), choice.values.end());
  choice.start = static_cast<size_t>(
      std::lower_bound(choice.values.begin(), choice.values.end(), value) - choice.values.begin());
  choices_.push_back(std::move(choice));
}

std::string EntryTuning::itemText(size_t axis, const TunePoint &point) const {
  int64_t value = axes_[axis].values[point[axis]];
  return value == choices_[axis].absent ? "" : choices_[axis].item(value);
}

std::string EntryTuning::text(const TunePoint &point) const {
  std::string text;
  for (size_t i = 0; i < axes_.size(); ++i)
    if (std::string item = itemText(i, point); !item.empty())
      text += (text.empty() ? "" : ", ") + item;
  return text;
}

/// The first `where` over tunables that does not hold at a point. A condition that cannot be
/// evaluated here excludes nothing.
const WhereClause *EntryTuning::excluding(const TunePoint &point) const {
  LocalLookup valueOf = [&](const Local &local) -> std::optional<int64_t> {
    for (size_t i = 0; i < axes_.size(); ++i)
      if (choices_[i].tunable && choices_[i].tunable->local == &local)
        return axes_[i].values[point[i]];
    for (const Tunable &tunable : question_.decl.tunables) {
      if (tunable.local != &local)
        continue;
      if (auto given = question_.wanted.find(local.name); given != question_.wanted.end())
        return given->second == "true" ? 1 : std::atoll(given->second.c_str());
      for (const auto &[set, value] :
           schedule_ ? schedule_->tunables : std::vector<std::pair<Local *, int64_t>>())
        if (set == &local)
          return value;
      return tunable.defaultValue;
    }
    return std::nullopt;
  };
  return excludingWhere(question_.decl, valueOf);
}

TuneOutcome EntryTuning::evaluate(const TunePoint &point) {
  // The declaration itself excludes the point, so compiling it would be wasted.
  if (const WhereClause *where = excluding(point))
    return {std::nullopt, "`where " + where->text + "` excludes it"};
  std::string choice = text(point);
  if (const TuneOutcome *known = kept_.find(choice)) {
    kept_.recall(predictor_.lastCost());
    if (known->us)
      predictor_.noteTime();
    return *known;
  }
  TuneOutcome outcome = compiledPoint(point);
  // A problem of the question, or a missing time, is not an outcome of this choice: it is not kept.
  if (!problem_.empty() || !unknown().empty())
    return outcome;
  kept_.add(choice, outcome);
  if (outcome.us)
    kept_.describe(predictor_.lastCost());
  return outcome;
}

TuneOutcome EntryTuning::compiledPoint(const TunePoint &point) {
  for (size_t i = 0; i < axes_.size(); ++i)
    // Tunables alone are given with the request, which is cheaper than checking a changed text
    // again.
    if (changesItem(i, point))
      return compiledText(point);
  Wanted wanted = question_.wanted;
  for (size_t i = 0; i < axes_.size(); ++i)
    if (choices_[i].tunable) {
      std::string item = itemText(i, point);
      wanted[axes_[i].name] = item.substr(item.find('=') + 2);
    }
  return compiled(question_, wanted);
}

std::optional<std::pair<double, double>> EntryTuning::confirmed(const TunePoint &one,
                                                                const TunePoint &other) {
  std::string choices = text(one) + " / " + text(other);
  if (const KeptTimes::Whole *known = kept_.findWhole(choices))
    return *known;
  isWhole_ = true;
  // A simulation gives the same time each time. The clock is asked in turn, so that other work on
  // the machine gives neither choice an advantage.
  size_t rounds = question_.options.chip ? 1 : kConfirmations;
  std::optional<double> ofOne, ofOther;
  for (size_t i = 0; i < rounds; ++i)
    for (auto [point, least] : {std::pair(&one, &ofOne), std::pair(&other, &ofOther)})
      if (TuneOutcome outcome = compiledPoint(*point); outcome.us)
        *least = least->has_value() ? std::min(**least, *outcome.us) : *outcome.us;
  isWhole_ = false;
  KeptTimes::Whole whole;
  if (ofOne && ofOther)
    whole = std::pair(*ofOne, *ofOther);
  kept_.addWhole(choices, whole);
  return whole;
}

TuneOutcome EntryTuning::evaluateToday() { return compiled(question_, question_.wanted); }

/// Items that a request cannot set are compiled as a user would do it: the schedule is written into
/// the text, which is checked again.
TuneOutcome EntryTuning::compiledText(const TunePoint &point) {
  FileId root = question_.program.modules.front()->file;
  SourceManager sources;
  root = sources.add(question_.sources.file(root).path(),
                     withSchedule(question_.program, question_.sources, question_.decl,
                                  machineName(), *this, point));
  DiagnosticSink quiet;
  std::unique_ptr<CheckedProgram> program =
      checkFile(sources, root, *question_.options.recheck, quiet);
  const CallableDecl *decl = nullptr;
  for (const CallableDecl *each : program->modules.front()->callables)
    if (each->kind == question_.decl.kind && each->name == question_.decl.name)
      decl = each;
  if (!decl || decl->hasErrors || quiet.hasErrors())
    return {std::nullopt, firstError(quiet)};
  // The text sets the tunables already.
  Wanted wanted = question_.wanted;
  for (const ScheduleChoice &choice : choices_)
    if (choice.tunable)
      wanted.erase(choice.key);
  return compiled(
      {*program, sources, *decl, question_.options, question_.costs, {}, question_.sizes}, wanted);
}

/// Static lengths that were bound here count as asked for; the report says why they were chosen.
void EntryTuning::tellReasons() {
  for (ExampleSize &size : predictor_.lastCost().sizes)
    if (auto reason = reasons_.find(size.name); reason != reasons_.end())
      size.why = reason->second;
}

TuneOutcome EntryTuning::compiled(const TuneQuestion &question, const Wanted &wanted) {
  std::vector<BoundEntry> entries = bindEntries(question.program, question.decl, wanted, problem_);
  if (entries.size() != 1)
    return {std::nullopt, problem_, {}};
  const std::optional<Machine> &chip = question.options.chip;
  Cost &told = predictor_.lastCost();
  TuneOutcome outcome;
  if (!chip) {
    outcome = clock_.measure(
        {question.program, question.sources, entries.front(), question.options}, question.sizes);
    told.sizes = clock_.sizes();
  } else {
    PredictedForm form{question.program, question.sources, entries.front(),
                       question.options, question.costs,   question.sizes};
    if (isWhole_)
      outcome.us = predictor_.simulate(form);
    else
      outcome = predictor_.predict(form);
  }
  tellReasons();
  return outcome;
}

// ---- The search ---------------------------------------------------------------------------------

TuneResult searchEntry(const EntryTuning &tuning, const TuneEvaluate &evaluate,
                       const TuneLimits &limits) {
  std::vector<TuneAxis> axes = tuning.axes();
  // Tunables come first, with all their values if these are few; the other items keep today's
  // values.
  std::vector<TuneAxis> tunables = axes;
  for (size_t i = 0; i < axes.size(); ++i)
    if (!tuning.choices()[i].tunable)
      tunables[i] = {axes[i].name, {axes[i].values[axes[i].start]}, 0};
  auto real = [&](TunePoint point) {
    for (size_t i = 0; i < axes.size(); ++i)
      if (!tuning.choices()[i].tunable)
        point[i] = axes[i].start;
    return point;
  };
  TuneResult result = searchTunables(
      tunables, [&](const TunePoint &point) { return evaluate(real(point)); }, limits);
  std::map<TunePoint, TuneOutcome> known;
  for (TuneTry &each : result.tries) {
    each.point = real(each.point);
    known.emplace(each.point, each.outcome);
  }
  bool hasItems = std::any_of(tuning.choices().begin(), tuning.choices().end(),
                              [](const ScheduleChoice &each) { return !each.tunable; });
  if (!result.best || !hasItems || result.isCut)
    return result;
  for (size_t i = 0; i < axes.size(); ++i)
    axes[i].start = result.tries[*result.best].point[i];
  TuneLimits descent = limits;
  descent.mostPoints = 0;
  descent.mostIdle = 0; // only from the best known point
  descent.mostTries = limits.mostTries + known.size();
  // Points of the first search are not evaluated again.
  TuneResult further = searchTunables(
      axes,
      [&](const TunePoint &point) {
        auto found = known.find(point);
        return found != known.end() ? found->second : evaluate(point);
      },
      descent);
  result.isCut = further.isCut;
  for (TuneTry &each : further.tries)
    if (!known.contains(each.point))
      result.tries.push_back(std::move(each));
  // An item must save enough to be worth writing.
  double most = *result.tries[*result.best].outcome.us * (1 - kLeastGain);
  for (size_t i = known.size(); i < result.tries.size(); ++i)
    if (const std::optional<double> &us = result.tries[i].outcome.us; us && *us < most) {
      result.best = i;
      most = *us;
    }
  return result;
}

} // namespace ptl
