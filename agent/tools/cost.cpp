#include "compile/cost/cost.h"
#include "compile/cost/cost_views.h"

#include "agent/tools/handlers.h"
#include "agent/tools/source.h"
#include "compile/chip/feasibility.h"
#include "compile/tune/advice.h"
#include "frontend/base/printed.h"
#include "runtime/sim/time/hints.h"
#include "runtime/sim/time/report.h"

#include <algorithm>

namespace ptl::agent {

namespace {
/// An entry at the block level of a chip, with all that questions about its cost need.
using OnEntry = std::function<void(const BoundEntry &entry, const ChipProgram &program)>;
} // namespace

/// Lowers the chosen entries, each with the values that the call gives it; the reasons why one is not
/// lowered are in the sink of the source.
static void lowerChosen(const Call &call, Source &source,
                        const std::vector<const CallableDecl *> &chosen,
                        const CompilerOptions &options, const OnEntry &onEntry) {
  double done = 0;
  for (const CallableDecl *decl : chosen) {
    call.progress(done++, static_cast<double>(chosen.size()), "compiling " + decl->name);
    for (const Wanted &variant : wantedVariants(*decl, wantedOf(call))) {
      std::string problem;
      for (const BoundEntry &entry : bindEntries(*source.program, *decl, variant, problem)) {
        CompileContext context(*source.program, source.sources, options, source.sink);
        ChipResult lowered = lowerEntry(context, entry);
        if (lowered.program)
          onEntry(entry, *lowered.program);
      }
      if (!problem.empty())
        source.sink.report(DiagId::BadRunArgument, kNoSpan, {decl->name, problem});
    }
  }
}

/// Where nothing could be lowered: says why, with the repairs that are known.
static void refuseNotLowered(Call &call, Source &source, Answer &answer) {
  source.sink.sort();
  addDiagnostics(call, source, answer);
  answer.refuse("it cannot be compiled for the chip: " + source.errors());
}

static std::string timeText(double us) { return printed("%.2f us", us); }

static Json sizesJson(const std::vector<ExampleSize> &sizes) {
  Json json = Json::array();
  for (const ExampleSize &size : sizes)
    json.push_back({{"name", size.name}, {"value", size.value}, {"why", size.why}});
  return json;
}

static Json dearest(const Source &source, const Cost &cost) {
  std::vector<const StatementCost *> leaves;
  for (const StatementCost &each : cost.statements)
    if (each.isLeaf)
      leaves.push_back(&each);
  std::stable_sort(leaves.begin(), leaves.end(),
                   [](const auto *a, const auto *b) { return a->us > b->us; });
  Json json = Json::array();
  for (size_t i = 0; i < std::min<size_t>(3, leaves.size()); ++i)
    json.push_back({{"at", source.sources.place(leaves[i]->span)},
                    {"us", leaves[i]->us},
                    {"share", cost.share(leaves[i]->us)}});
  return json;
}

/// The facts of one entry that matter most, with its advice; the best advice is the next step.
static Json costAnswer(const Call &call, const Source &source, const Cost &cost, Answer &answer) {
  Json json = {{"entry", cost.entry}, {"target", cost.target}, {"sizes", sizesJson(cost.sizes)}};
  if (!cost.unknown.empty()) {
    json["unknown"] = cost.unknown;
    return json;
  }
  json["us"] = cost.us;
  json["bound"] = cost.bound;
  json["least"] = {{"us", cost.roofline.us}, {"by", cost.roofline.by}};
  json["groups"] = cost.groups;
  json["groups_of_chip"] = cost.groupsOfChip;
  json["dearest"] = dearest(source, cost);
  json["advice"] = Json::array();
  json["hints"] = Json::array();
  Json again = {{"tool", "cost"},
                {"arguments", argumentsFor(call, kSubject | of(ArgumentId::Seconds))}};
  for (const CostAdvice &advice : cost.advice) {
    std::string id = answer.fix(call, source.sources, advice.text, advice.edits, again);
    json["advice"].push_back({{"id", id},
                              {"kind", advice.kind},
                              {"text", advice.text},
                              {"at", source.sources.place(advice.span)},
                              {"us", advice.us}});
    answer.next("apply_fix", {{"id", id}}, advice.text,
                {cost.entry + ": " + timeText(cost.us) + " -> " + timeText(advice.us),
                 cost.us - advice.us});
  }
  for (const CostHint &hint : cost.hints)
    json["hints"].push_back(
        {{"text", hint.text}, {"at", source.sources.place(hint.span)}, {"share", hint.gain}});
  return json;
}

static bool hasChoice(const CallableDecl &decl) {
  return std::any_of(decl.tunables.begin(), decl.tunables.end(),
                     [](const Tunable &tunable) { return tunable.domain.size() > 1; });
}

/// What is worth trying where no advice is left.
static void addFurtherSteps(const Call &call, const CallableDecl &decl, Answer &answer) {
  Json arguments = argumentsFor(call, kSubject);
  arguments["entry"] = decl.name;
  if (hasChoice(decl))
    answer.next("tune", arguments, "searches all values of the tunables of `" + decl.name + "`",
                {"only known once they are tried"});
  answer.next("sim", arguments, "shows what `" + decl.name + "` waits for",
              {"the causes, and the time that each costs"});
}

void runCost(Call &call, Answer &answer) {
  std::unique_ptr<Source> source = checkSource(call, answer, true);
  std::optional<Chip> chip = source ? timedChipOf(call, *source, answer) : std::nullopt;
  if (!chip)
    return;
  std::vector<const CallableDecl *> chosen = chipEntries(call, *source, chip->machine, answer);
  if (chosen.empty())
    return;
  CompilerOptions options = optionsFor(*source, chip->machine);
  int64_t budget = call.arguments.whole(ArgumentId::Seconds, 20);
  std::vector<Cost> costs;
  std::vector<const CallableDecl *> quiet; // for which no advice was found
  lowerChosen(call, *source, chosen, options,
              [&](const BoundEntry &entry, const ChipProgram &program) {
                const CallableDecl &decl = *entry.binding.decl;
                CostQuestion question{*source->program, source->sources,      entry, chip->machine,
                                      chip->costs,      sizesFor(call, decl), true};
                Cost &cost = costs.emplace_back(costOf(question, program));
                size_t tries = 0;
                AdviceLimits limits;
                limits.seconds = budget;
                limits.isOver = [&] {
                  call.progress(static_cast<double>(tries), static_cast<double>(limits.mostTries),
                                "trying changes of " + decl.name);
                  ++tries;
                  return false;
                };
                if (budget > 0)
                  advise(cost, question, options, limits);
                if (cost.advice.empty())
                  quiet.push_back(&decl);
              });
  if (costs.empty())
    return refuseNotLowered(call, *source, answer);
  answer.body["costs"] = Json::array();
  for (const Cost &cost : costs) {
    answer.summary +=
        (answer.summary.empty() ? "" : "\n") + cost.entry + " on " + cost.target + ": ";
    answer.summary +=
        cost.unknown.empty()
            ? timeText(cost.us) + ", " + cost.bound + ", " +
                  printed("%.1f x the least for ", cost.us / std::max(cost.roofline.us, 1e-9)) +
                  cost.roofline.by
            : "no time is known: " + cost.unknown;
    if (!cost.advice.empty())
      answer.summary +=
          "; " + cost.advice.front().text + " gives " + timeText(cost.advice.front().us);
    else if (cost.unknown.empty())
      answer.summary += "; no change that was tried is faster";
    answer.body["costs"].push_back(costAnswer(call, *source, cost, answer));
  }
  for (const CallableDecl *decl : quiet)
    addFurtherSteps(call, *decl, answer);
  answer.keep("cost.json",
              "the time by statement, pipe and launch, and what was tried (docs/schemas/cost.json)",
              costDocument(costs, source->sources));
}

// ---- Memory -------------------------------------------------------------------------------------

void runLedger(Call &call, Answer &answer) {
  std::unique_ptr<Source> source = checkSource(call, answer, true);
  std::optional<Chip> chip = source ? chipOf(call, *source, answer) : std::nullopt;
  std::vector<const CallableDecl *> chosen;
  if (chip)
    chosen = chipEntries(call, *source, chip->machine, answer);
  if (chosen.empty())
    return;
  BufferLedger ledger;
  std::vector<StatementParts> statements;
  lowerChosen(call, *source, chosen, optionsFor(*source, chip->machine),
              [&](const BoundEntry &, const ChipProgram &program) {
                ledger.machine = program.ledger.machine;
                ledger.functions.insert(ledger.functions.end(), program.ledger.functions.begin(),
                                        program.ledger.functions.end());
                ledger.kernels.insert(ledger.kernels.end(), program.ledger.kernels.begin(),
                                      program.ledger.kernels.end());
                statements.insert(statements.end(), program.statements.begin(),
                                  program.statements.end());
              });
  if (ledger.machine.empty())
    return refuseNotLowered(call, *source, answer);
  std::string document = ledgerJson(ledger, statements);
  answer.body["machine"] = ledger.machine;
  answer.body["memories"] = Json::array();
  Json whole = Json::parse(document);
  for (const Json &function : whole["functions"])
    for (const Json &space : function["spaces"]) {
      Json row = {{"function", function["name"]}};
      for (const char *member : {"place", "peak", "usable", "fits"})
        row[member] = space[member];
      answer.body["memories"].push_back(std::move(row));
    }
  answer.summary = std::to_string(whole["functions"].size()) + " functions of " +
                   std::to_string(chosen.size()) + " entries fit " + ledger.machine;
  if (!statements.empty())
    answer.summary += "; " + std::to_string(statements.size()) +
                      " statements are computed in parts: " + statementsText(statements);
  answer.keep("ledger.json",
              "every buffer with its address, bytes and life (docs/schemas/ledger.json)", document);
  answer.keep("ledger.txt", "the same as tables", statementsText(statements) + ledgerText(ledger),
              "text/plain");
  answer.next("cost", argumentsFor(call, kSubject), "predicts the time, and tries changes",
              {"only known once they are tried"});
}

// ---- In time ------------------------------------------------------------------------------------

/// What matters most of the summary of a run.
static void fillSim(const Json &summary, Answer &answer) {
  for (const char *member : {"entry", "machine", "dims", "us", "bound", "groups", "groups_of_chip",
                             "pipes", "critical_path"})
    if (auto found = summary.find(member); found != summary.end())
      answer.body[member] = *found;
  answer.body["hints"] = Json::array();
  answer.body["waits"] = Json::array();
  for (const Json &wait : summary.value("waits", Json::array()))
    if (answer.body["waits"].size() < 4)
      answer.body["waits"].push_back({{"text", wait["text"]},
                                      {"cause", wait["cause"]},
                                      {"us", wait["us"]},
                                      {"critical", wait["critical"]}});
}

void runSim(Call &call, Answer &answer) {
  namespace sim = rt::sim;
  std::optional<TimedEntry> timed = timedEntryOf(call, answer);
  if (!timed)
    return;
  auto &[source, chip, decl] = *timed;
  constexpr uint64_t mostOperations = 150000;
  bool isPart = false, isKnown = false;
  std::string problem;
  lowerChosen(call, *source, {decl}, optionsFor(*source, chip.machine),
              [&](const BoundEntry &entry, const ChipProgram &program) {
                CostQuestion question{*source->program, source->sources,       entry, chip.machine,
                                      chip.costs,       sizesFor(call, *decl), true};
                call.progress(0, 0, "simulating");
                std::optional<sim::Report> report =
                    timelineOf(question, program, mostOperations, isPart, problem);
                if (!report)
                  return;
                isKnown = true;
                Json summary = Json::parse(sim::writeSummary(*report));
                fillSim(summary, answer);
                answer.body["part"] = isPart;
                for (const sim::Hint &hint : sim::hintsOf(*report))
                  if (answer.body["hints"].size() < 5)
                    answer.body["hints"].push_back({{"text", hint.text}, {"share", hint.gain}});
                answer.summary = sim::writeShort(*report);
                answer.keep("sim.json",
                            "pipes, waits with their causes, the critical path, gains, lines "
                            "(docs/schemas/sim.json)",
                            sim::writeSummary(*report));
                answer.keep("lanes.json",
                            "every task of every lane, and the gaps between with their causes "
                            "(docs/schemas/lanes.json)",
                            sim::writeLanes(*report));
                answer.keep("page.txt", "the report as text", sim::writePage(*report),
                            "text/plain");
              });
  if (!isKnown && problem.empty())
    return refuseNotLowered(call, *source, answer);
  if (!isKnown)
    return answer.refuse("no time is known: " + problem);
  answer.next("cost", argumentsFor(call, kSubject), "tries changes that take these waits away",
              {"only known once they are tried"});
}

} // namespace ptl::agent
