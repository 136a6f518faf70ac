// `ptlc tune`: what a schedule can set, so that an entry takes least time on a chip or on this processor.
#include "compile/chip/chip_fixes.h"
#include "compile/chip/feasibility.h"
#include "compile/entry/choose_entry.h"
#include "compile/tune/tune_report.h"
#include "compile/tune/write_schedule.h"
#include "driver/ir/command_options.h"
#include "driver/ir/commands.h"
#include "driver/ir/tune_ranges.h"
#include "driver/target.h"

#include <atomic>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <unistd.h>

namespace ptl {

static std::atomic<bool> isInterrupted = false;

namespace {

/// While it lives, Ctrl-C ends the search and not the process.
class InterruptEnds {
public:
  InterruptEnds() : before_(std::signal(SIGINT, [](int) { isInterrupted = true; })) {}
  ~InterruptEnds() { std::signal(SIGINT, before_); }
  InterruptEnds(const InterruptEnds &) = delete;
  InterruptEnds &operator=(const InterruptEnds &) = delete;

private:
  void (*before_)(int);
};

/// What to tune for, by default `a3`; of a chip its costs, too.
struct TunedTarget {
  Target target;
  MachineCosts costs;
};

} // namespace

/// Nothing after reporting an error.
static std::optional<TunedTarget> targetToTuneFor(Session &session) {
  std::string_view name = session.options().value(OptionId::Target);
  bool unsaid = name.empty() && session.machines()->ownFiles().empty();
  std::optional<Target> target = findTarget(session, unsaid ? "a3" : name);
  if (!target)
    return std::nullopt;
  if (target->name == "cpu")
    return TunedTarget{std::move(*target), {}};
  if (!target->isChip()) {
    session.sink().report(
        DiagId::TargetCannotRun, kNoSpan,
        {target->name,
         "times are predicted for chips and measured on `cpu`; there is no time for this target"});
    return std::nullopt;
  }
  std::optional<MachineCosts> costs =
      findCosts(target->machine->name, session.machines()->ownFiles());
  if (costs && costs->known())
    return TunedTarget{std::move(*target), std::move(*costs)};
  session.sink().report(
      DiagId::TargetCannotRun, kNoSpan,
      {target->name, "its machine file has no costs, so times cannot be predicted"});
  return std::nullopt;
}

static DiagnosticBuilder cannotTune(Session &session, const CallableDecl &decl,
                                    const std::string &why) {
  return session.sink().report(DiagId::BadRunArgument, decl.nameSpan, {decl.name, why});
}

/// The question about the entry of a session. Nothing after reporting why there is none.
static std::optional<TuneQuestion> questionOf(Session &session, const CheckedProgram &program,
                                              const CallableDecl &decl, const TunedTarget &chip,
                                              const Wanted &wanted) {
  const Options &options = session.options();
  if (!isForChips(decl) || !decl.isFor(chip.target.isChip() ? chip.target.machine->name : "cpu")) {
    cannotTune(session, decl, "it is not compiled for `" + chip.target.name + "`")
        .help("name a kernel or program for it with --entry");
    return std::nullopt;
  }
  std::vector<Wanted> variants = wantedVariants(decl, wanted);
  if (variants.size() != 1) {
    cannotTune(session, decl,
               "`-D` gives several values, but one schedule would apply to all of them")
        .help("give one value for each name, or several values for one length, to find a schedule "
              "for each of its ranges");
    return std::nullopt;
  }
  ExampleSizes sizes;
  for (const auto &[name, value] : wanted)
    if (int64_t number = std::atoll(value.c_str()); std::to_string(number) == value)
      sizes[name] = number;
  CompilerOptions how = compilerOptions(options, chip.target);
  how.recheck = std::make_shared<CheckOptions>(session.checkOptions());
  return TuneQuestion{program,         session.sources(), decl,
                      std::move(how),  chip.costs,        wantedBy(decl, variants.front()),
                      std::move(sizes)};
}

/// What would let more be tried; empty where the entry has tunables.
static std::string moreHelp(const CheckedProgram &program, const CallableDecl &decl) {
  if (!decl.tunables.empty())
    return "";
  std::vector<TileNumber> tiles = tileNumbers(program, decl);
  if (tiles.empty())
    return "declare a tunable with a domain: `tune ROWS: [4, 8, 16] = 8`";
  return "make the sizes of tiles tunables, as in `tune ROWS: [4, 8, 16] = 8` and `" +
         tiles.front().before +
         "ROWS)`; `ptlc check --cost` tries other sizes for numbers in the source";
}

/// Shows the best so far where somebody watches.
static void showProgress(const EntryTuning &tuning, size_t count, const TunePoint *best,
                         double us) {
  if (::isatty(STDERR_FILENO) && best)
    std::fprintf(stderr, "\r\033[K%zu tried, best %.2f us with %s", count, us,
                 tuning.text(*best).c_str());
}

static TuneResult search(EntryTuning &tuning, const Options &options, std::string &ended) {
  auto start = std::chrono::steady_clock::now();
  std::chrono::seconds budget(options.number(OptionId::Budget).value_or(30));
  TuneLimits limits;
  limits.seed = static_cast<uint64_t>(options.number(OptionId::Seed).value_or(0));
  limits.isOver = [&] {
    // The handler of a signal may only set a flag.
    if (isInterrupted)
      ended = "interrupt";
    else if (std::chrono::steady_clock::now() - start >= budget)
      ended = "budget";
    return !ended.empty() || !tuning.unknown().empty() || !tuning.problem().empty();
  };
  InterruptEnds interrupts;
  size_t count = 0;
  std::optional<TunePoint> best;
  double least = 0;
  TuneResult result = searchEntry(
      tuning,
      [&](const TunePoint &point) {
        TuneOutcome outcome = tuning.evaluate(point);
        if (outcome.us && (!best || *outcome.us < least)) {
          best = point;
          least = *outcome.us;
        }
        showProgress(tuning, ++count, best ? &*best : nullptr, least);
        return outcome;
      },
      limits);
  if (::isatty(STDERR_FILENO))
    std::fputs("\r\033[K", stderr);
  return result;
}

/// Whether the file, as it is now, gives the entry that time although no tunable is asked for.
static bool givesTime(const Options &options, const std::string &entry, const Wanted &wanted,
                      double us, std::string &why) {
  Session session(options);
  std::unique_ptr<CheckedProgram> program = session.check(options.positional().front());
  std::optional<TunedTarget> chip = targetToTuneFor(session);
  if (!program || session.failed() || !chip) {
    why =
        session.diagnostics().empty() ? "it cannot be read" : session.diagnostics().front().message;
    return false;
  }
  for (const CallableDecl *decl : program->modules.front()->callables) {
    if (decl->name != entry || !isCallable(*decl))
      continue;
    std::optional<TuneQuestion> question = questionOf(session, *program, *decl, *chip, wanted);
    if (!question)
      break;
    for (const Tunable &tunable : decl->tunables)
      // The schedule has to do it alone.
      question->wanted.erase(tunable.local->name);
    TuneOutcome outcome = EntryTuning(std::move(*question)).evaluateToday();
    // A measured time comes out otherwise each time.
    bool isSame = std::abs(outcome.us.value_or(0) - us) <= 1e-9 * us || !chip->target.isChip();
    if (outcome.us && isSame)
      return true;
    why = outcome.us ? "another schedule applies" : outcome.reason;
  }
  return false;
}

static void writeBest(Session &session, const CheckedProgram &program, const CallableDecl &decl,
                      const TuneReport &report, const std::string &machine) {
  const std::string &path = session.options().positional().front();
  const TuneTry &best = report.result.tries[*report.result.best];
  if (&best == &report.result.tries.front()) {
    std::fprintf(stderr, "%s is unchanged: nothing is faster\n", path.c_str());
    return;
  }
  std::string before(session.sources().file(program.modules.front()->file).text());
  std::string after =
      withSchedule(program, session.sources(), decl, machine, report.tuning, best.point);
  if (!session.write(path, after))
    return;
  std::string why;
  if (givesTime(session.options(), decl.name, wantedBy(decl, wantedOf(session.options())),
                *best.outcome.us, why)) {
    std::fprintf(stderr, "the schedule was written to %s\n", path.c_str());
    return;
  }
  // A file that does not do what was promised is put back.
  session.write(path, before);
  cannotTune(session, decl,
             "with the schedule in the file the kernel would not take the time that was found: " +
                 why)
      .help("the file is unchanged; insert the schedule before the one that applies");
}

static void tuneByLength(Session &session, const CheckedProgram &program, const CallableDecl &decl,
                         const TunedTarget &chip, TunedLength length) {
  RangeCommand command{
      session,
      program,
      decl,
      std::move(length),
      [&](const Wanted &wanted) { return questionOf(session, program, decl, chip, wanted); },
      [&](EntryTuning &tuning, std::string &ended) {
        return search(tuning, session.options(), ended);
      },
      [&](const Wanted &wanted, double us, std::string &why) {
        return givesTime(session.options(), decl.name, wanted, us, why);
      },
      chip.target.isChip() ? chip.target.machine->name : "cpu"};
  tuneRanges(command);
}

/// Why no choice has a time; empty if one has.
static std::string noTimeOf(const TuneResult &result) {
  if (result.best)
    return {};
  const std::string &reason = result.tries.front().outcome.reason;
  return result.tries.size() == 1 ? reason
                                  : "none of " + std::to_string(result.tries.size()) +
                                        " choices can be compiled and timed: " + reason;
}

ExitCode runTune(const Options &options) {
  if (options.positional().size() != 1)
    return usageError("give one file: `ptlc tune FILE`");
  if (options.has(OptionId::WriteSchedule) && options.positional().front() == "-")
    return usageError("`--write` needs a file to write to");
  Session session(options);
  std::optional<TunedTarget> chip = targetToTuneFor(session);
  if (!chip)
    return session.finish(ExitCode::Missing);
  auto [program, decl] = checkEntry(session);
  if (!decl)
    return session.finish();
  Wanted wanted = wantedBy(*decl, wantedOf(options));
  if (std::optional<TunedLength> length = tunedLength(*decl, wanted)) {
    tuneByLength(session, *program, *decl, *chip, std::move(*length));
    return session.finish();
  }
  std::optional<TuneQuestion> question = questionOf(session, *program, *decl, *chip, wanted);
  if (!question)
    return session.finish();
  auto start = std::chrono::steady_clock::now();
  EntryTuning tuning(std::move(*question));
  if (!tuning.problem().empty()) {
    cannotTune(session, *decl, tuning.problem());
    return session.finish();
  }
  if (!tuning.isChoice()) {
    std::string help = moreHelp(*program, *decl);
    cannotTune(session, *decl, "it has nothing that a schedule could choose")
        .help(!help.empty() ? help : "omit the `-D` of a tunable, or give it several values");
    return session.finish();
  }
  std::string ended;
  TuneResult result = search(tuning, options, ended);
  std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  std::string why = !tuning.problem().empty()   ? tuning.problem()
                    : !tuning.unknown().empty() ? "no time is known: " + tuning.unknown()
                                                : noTimeOf(result);
  if (!why.empty()) {
    cannotTune(session, *decl, why);
    return session.finish();
  }
  std::string machine = tuning.machineName();
  TuneReport report{tuning, result, decl->name, machine, seconds.count()};
  report.ended = ended;
  if (*result.best != 0) {
    report.confirmed =
        tuning.confirmed(result.tries.front().point, result.tries[*result.best].point);
    // One lucky measurement is no reason to change a file.
    bool isLuck = report.confirmed && !chip->target.isChip() &&
                  report.confirmed->second > report.confirmed->first * 0.98;
    if (isLuck) {
      result.best = 0;
      report.confirmed.reset();
    }
  }
  std::fputs((options.has(OptionId::Json) ? tuneDocument(report) : tuneText(report)).c_str(),
             stdout);
  if (std::string help = moreHelp(*program, *decl); !help.empty())
    std::fprintf(stderr, "to try more, %s\n", help.c_str());
  if (options.has(OptionId::WriteSchedule))
    writeBest(session, *program, *decl, report, machine);
  return session.finish();
}

} // namespace ptl
