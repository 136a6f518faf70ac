#include "agent/tools/handlers.h"
#include "agent/tools/source.h"
#include "compile/chip/feasibility.h"
#include "compile/tune/tune_report.h"
#include "compile/tune/write_schedule.h"
#include "frontend/base/fixes.h"
#include "frontend/base/printed.h"

#include <chrono>

namespace ptl::agent {

/// Why there is nothing to search, and what would be; empty if there is a choice.
static std::string whyNoChoice(const CallableDecl &decl, const EntryTuning &tuning) {
  if (!tuning.problem().empty())
    return tuning.problem();
  if (tuning.isChoice())
    return "";
  for (const Tunable &tunable : decl.tunables)
    if (tunable.domain.size() > 1)
      return "`" + decl.name +
             "` has nothing to tune: `values` gives each tunable one value; omit these values";
  if (decl.tunables.empty())
    return "`" + decl.name +
           "` has no tunables: declare one with a domain, as in `tune ROWS: [4, 8, 16] = 8`, and "
           "use it in "
           "`tiles(R, ROWS)`; or call `cost`, which tries other sizes for numbers in the source";
  return "no tunable of `" + decl.name + "` has a domain: give one several values, as in `tune " +
         decl.tunables.front().local->name + ": [4, 8, 16] = 8`";
}

static TuneResult searchWithProgress(const Call &call, EntryTuning &tuning, std::string &ended) {
  auto start = std::chrono::steady_clock::now();
  std::chrono::seconds budget(call.arguments.whole(ArgumentId::Seconds, 30));
  TuneLimits limits;
  limits.isOver = [&] {
    if (std::chrono::steady_clock::now() - start >= budget)
      ended = "budget";
    return !ended.empty() || !tuning.unknown().empty() || !tuning.problem().empty();
  };
  double count = 0, points = 1;
  for (const ScheduleChoice &choice : tuning.choices())
    if (choice.tunable)
      points *= static_cast<double>(choice.values.size());
  std::optional<double> least;
  return searchEntry(
      tuning,
      [&](const TunePoint &point) {
        TuneOutcome outcome = tuning.evaluate(point);
        if (outcome.us && (!least || *outcome.us < *least))
          least = outcome.us;
        call.progress(++count, points,
                      least ? printed("the best so far takes %.2f us", *least)
                            : "nothing fits so far");
        return outcome;
      },
      limits);
}

void runTune(Call &call, Answer &answer) {
  std::optional<TimedEntry> timed = timedEntryOf(call, answer);
  if (!timed)
    return;
  auto &[source, chip, decl] = *timed;
  std::vector<Wanted> variants = wantedVariants(*decl, wantedOf(call));
  if (variants.size() != 1)
    return answer.refuse(
        "`values` gives several values for one name, but one schedule would apply to all of them");
  auto start = std::chrono::steady_clock::now();
  EntryTuning tuning({*source->program, source->sources, *decl, optionsFor(*source, chip.machine),
                      chip.costs, wantedBy(*decl, variants.front()), sizesFor(call, *decl)});
  if (std::string why = whyNoChoice(*decl, tuning); !why.empty()) {
    answer.next("cost", argumentsFor(call, kSubject), "tries other sizes of tiles and other forms",
                {"only known once they are tried"});
    return answer.refuse(why);
  }
  std::string ended;
  TuneResult result = searchWithProgress(call, tuning, ended);
  std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  if (!tuning.problem().empty() || !tuning.unknown().empty())
    return answer.refuse(!tuning.problem().empty() ? tuning.problem()
                                                   : "no time is known: " + tuning.unknown());
  if (!result.best)
    return answer.refuse("none of " + std::to_string(result.tries.size()) +
                         " choices can be compiled: " + result.tries.front().outcome.reason);
  const TuneTry &today = result.tries.front(), &best = result.tries[*result.best];
  TuneReport report{tuning, result, decl->name, chip.machine.name, seconds.count()};
  report.ended = ended;
  Json document = Json::parse(tuneDocument(report));
  for (const char *member :
       {"entry", "target", "sizes", "exhaustive", "default", "best", "schedule", "points", "ended"})
    if (auto found = document.find(member); found != document.end())
      answer.body[member] = *found;
  answer.body["tried"] = result.tries.size();
  answer.keep("tune.json",
              "every choice that was tried, with its time or why it cannot be compiled "
              "(docs/schemas/tune.json)",
              document.dump(2) + "\n");
  answer.summary = tuneText(report);
  if (&today == &best) {
    answer.next("cost", argumentsFor(call, kSubject), "tries changes of another form",
                {"only known once they are tried"});
    return;
  }
  // The whole text is replaced by one edit, in the form in which the editors get it, too.
  const SourceFile &file = source->sources.file(source->file);
  std::string after =
      withSchedule(*source->program, source->sources, *decl, chip.machine.name, tuning, best.point);
  std::string id = answer.fix(call, source->sources, report.schedule(), {editTo(file, after)},
                              {{"tool", "cost"}, {"arguments", argumentsFor(call, kSubject)}});
  answer.body["id"] = id;
  double gained = today.outcome.us ? *today.outcome.us - *best.outcome.us : 0;
  answer.next("apply_fix", {{"id", id}}, report.schedule(),
              {today.outcome.us ? printed("%.2f us -> %.2f us", *today.outcome.us, *best.outcome.us)
                                : printed("it fits, and takes %.2f us", *best.outcome.us),
               gained});
}

} // namespace ptl::agent
