#include "driver/ir/run_parts.h"
#include "frontend/sema/placement/place_program.h"

#include "codegen/parts/run_parts.h"
#include "common/read_number.h"
#include "driver/ir/checkpoints.h"
#include "driver/ir/command_options.h"
#include "driver/ir/compiled_parts.h"
#include "driver/version.h"

#include <algorithm>
#include <cstdio>

namespace ptl {

/// More would be a slip of the pen; all of them have memory in this process.
static constexpr uint32_t kMostParts = 4096;

static double patienceOf(const Session &session) {
  return static_cast<double>(session.options().number(OptionId::Patience).value_or(60));
}

std::optional<parts::MachineShape> shapeGiven(Session &session, uint32_t mostParts) {
  const Options &options = session.options();
  if (!options.has(OptionId::Shape))
    return std::nullopt;
  std::string_view rest = options.value(OptionId::Shape);
  parts::MachineShape shape;
  uint64_t all = 1;
  for (bool isLast = false; !isLast;) {
    size_t comma = rest.find(',');
    isLast = comma == rest.npos;
    std::string_view text = rest.substr(0, comma);
    size_t equals = text.find('=');
    std::string level(equals == text.npos ? "" : text.substr(0, equals));
    std::string_view digits = equals == text.npos ? text : text.substr(equals + 1);
    uint32_t count = integerIn<uint32_t>(digits).value_or(0);
    all *= count;
    if (count < 1 || count > mostParts || all > mostParts || !shape.emplace(level, count).second) {
      session.sink().report(DiagId::BadRunArgument, kNoSpan,
                            {"--shape " + std::string(text),
                             "it takes levels and how many parts each has, at most " +
                                 std::to_string(mostParts) + " in all: `chip=4`, `host=2,chip=4`"});
      return std::nullopt;
    }
    rest.remove_prefix(isLast ? 0 : comma + 1);
  }
  return shape;
}

std::optional<RunShape> shapeOfRun(Session &session) {
  std::optional<parts::MachineShape> shape = shapeGiven(session, kMostParts);
  if (!shape)
    return std::nullopt;
  RunShape run;
  run.shape = std::move(*shape);
  run.inProcess = session.options().has(OptionId::InProcess);
  if (!run.inProcess && Ranks::isOne()) {
    std::string why;
    run.ranks = Ranks::join(patienceOf(session), why);
    if (!run.ranks) {
      session.sink().report(DiagId::BadRunArgument, kNoSpan, {"--shape", why});
      return std::nullopt;
    }
  }
  return run;
}

std::optional<PlacedProgram> placedProgram(const CheckedProgram &program, const CallableDecl &decl,
                                           std::string &why) {
  const Tree &tree = *decl.module->tree;
  if (decl.kind != DeclKind::Program || !isPlaced(tree, decl.syntax)) {
    why = "`" + decl.name +
          "` is not a program whose header places its arrays, as in `x: f32[B, D] over chip by B`";
    return std::nullopt;
  }
  DiagnosticSink quiet; // The checker has reported what is wrong.
  std::optional<PlacedProgram> placed = placeProgram(program, tree, decl, quiet);
  if (!placed)
    why = "`" + decl.name + "` cannot be placed";
  return placed;
}

std::optional<OnShape> layOut(const CheckedProgram &program, const CallableDecl &decl,
                              const parts::MachineShape &shape, std::string &why) {
  std::optional<PlacedProgram> placed = placedProgram(program, decl, why);
  if (!placed)
    return std::nullopt;
  OnShape on{std::move(*placed), shape, {}};
  // `--shape 4`: of the only level that there is.
  if (auto unnamed = on.shape.extract(""); !unnamed.empty()) {
    unnamed.key() = on.placed.levels.back().machineLevel;
    on.shape.insert(std::move(unnamed));
  }
  on.counts = parts::countsOn(on.placed.levels, on.shape, why);
  return why.empty() ? std::optional(std::move(on)) : std::nullopt;
}

std::vector<std::string> countWords(const CheckedProgram &program, const CallableDecl &decl,
                                    const RunShape &shape, const std::vector<std::string> &words) {
  std::string why;
  std::optional<OnShape> on = layOut(program, decl, shape.shape, why);
  std::map<std::string, int64_t> counts;
  // What is wrong with the shape is told by the run.
  if (on)
    parts::giveCounts(decl, parts::Grid(on->placed.levels, on->counts), counts);
  std::vector<std::string> given;
  for (const auto &[name, count] : counts)
    if (std::ranges::none_of(words,
                             [&](const std::string &word) { return word.starts_with(name + "="); }))
      given.push_back(name + "=" + std::to_string(count));
  return given;
}

ExitCode startRanks(Session &session, const CheckedProgram &program, const CallableDecl &decl,
                    const RunShape &shape) {
  std::string why;
  std::optional<OnShape> on = layOut(program, decl, shape.shape, why);
  if (!on) {
    session.sink().report(DiagId::ProgramStopped, decl.nameSpan, {why});
    return ExitCode::ProgramStopped;
  }
  if (session.options().positional().front() == "-") {
    session.sink().report(
        DiagId::BadRunArgument, kNoSpan,
        {"-", "MPI ranks cannot read standard input: save the program in a file"});
    return ExitCode::Usage;
  }
  if (session.options().has(OptionId::Resume) && !canResume(session, on->placed))
    return ExitCode::SourceErrors;
  parts::Grid grid(on->placed.levels, on->counts);
  ranks::Outcome outcome = Ranks::start(grid.count(), patienceOf(session),
                                        [&](uint32_t rank) { return grid.name(rank); });
  if (!outcome.why.empty())
    session.sink().report(DiagId::ProgramStopped, kNoSpan,
                          {"the run on ranks has failed: " + outcome.why});
  return static_cast<ExitCode>(outcome.code);
}

/// How many pages were found is told by the process that has the results.
static parts::PoolOptions poolOptions(Session &session, const RunShape &shape) {
  parts::PoolOptions pools;
  pools.folder = session.options().value(OptionId::Pool);
  pools.checks = session.options().has(OptionId::CheckPool);
  pools.executor = versionText();
  if (shape.hasResults())
    pools.report = [](const parts::PoolReport &report) {
      std::string text = "pool " + report.pool + ": " + std::to_string(report.found) +
                         " pages found, " + std::to_string(report.computed) + " computed";
      if (!report.over.empty())
        text += "; " + std::to_string(report.inMemory) +
                " of those found lay in the memory of the " + report.over + "s";
      // In one piece, since ranks write to the same place.
      std::fputs((text + "\n").c_str(), stderr);
    };
  return pools;
}

/// Code for processors of different kinds adds sums up in different orders, so that parts with the same values would differ in bits.
static std::string processorsThatDiffer(const Session &session, Ranks &ranks) {
  cpu::Processor own = compilerOptions(session.options(), Target()).processor;
  std::string other = ranks.firstOther(own.triple + " " + own.name + " " + own.features, own.name);
  return other.empty() ? ""
                       : "the processors of the ranks differ: " + other +
                             "; name what all of them have, as `--cpu x86-64-v3` does, or let the "
                             "reference executor compute, `--target reference`";
}

reference::RunResult runOnShape(Session &session, const Target &target,
                                const CheckedProgram &program, const CallableDecl &decl,
                                std::vector<reference::Value> args,
                                const reference::RunOptions &options, const RunShape &shape,
                                parts::PartFiles *files) {
  reference::RunResult result;
  auto fails = [&](std::string why) {
    result.status = reference::RunStatus::Arguments;
    result.message = std::move(why);
    result.span = decl.nameSpan;
    return result;
  };
  std::string why;
  std::optional<OnShape> on = layOut(program, decl, shape.shape, why);
  if (!on)
    return fails(why);
  parts::Grid grid(on->placed.levels, on->counts);
  parts::PartsOptions how;
  how.shape = on->shape;
  how.seed = static_cast<uint64_t>(session.options().number(OptionId::Seed).value_or(0));
  how.entry = options;
  how.checkpoints = checkpointOptions(session);
  how.pools = poolOptions(session, shape);
  // What takes longest is compiled; who names the target has everything compiled, or nothing.
  bool isNamed = session.options().has(OptionId::Target) || target.isChip();
  CompiledParts code(session, target, session.sources().file(decl.nameSpan.file).path(),
                     isNamed ? 0 : parts::kWorthCompiling);
  if (!target.isReference())
    how.code = &code;
  if (session.options().has(OptionId::TimePasses) && shape.hasResults())
    how.note = [](const std::string &line) { std::fputs((line + "\n").c_str(), stderr); };
  std::optional<parts::OwnPart> own;
  if (shape.ranks) {
    if (shape.ranks->count() != grid.count())
      return fails("the shape has " + std::to_string(grid.count()) + " parts, and there are " +
                   std::to_string(shape.ranks->count()) + " ranks");
    // Simulated chips are alike.
    bool isNative = how.code && !target.isChip();
    if (std::string why = isNative ? processorsThatDiffer(session, *shape.ranks) : ""; !why.empty())
      return fails(why);
    own.emplace(parts::OwnPart{shape.ranks->rank(), *shape.ranks});
    how.own = &*own;
    how.movesBeside = true;
    how.files = files;
  }
  return parts::runOnParts(program, session.sources(), on->placed, std::move(args), how);
}

} // namespace ptl
