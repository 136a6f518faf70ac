#include "agent/tools/handlers.h"
#include "agent/tools/source.h"
#include "compile/call/compiled_handler.h"
#include "compile/report/test_report.h"

namespace ptl::agent {

namespace {
/// Fewer than the reference executor takes: new values of `static` dimensions are compiled anew.
constexpr unsigned kAgentSamples = 12, kAgentShrinkRuns = 60;

struct TestExecutor {
  std::string name;
  std::unique_ptr<CompiledExecutor> compiled; ///< null: the reference executor
};
} // namespace

/// Empty after refusing the call.
static std::vector<TestExecutor> executorsOf(const Call &call, Source &source, Answer &answer) {
  std::vector<std::string> names = call.arguments.texts(ArgumentId::Executors);
  if (names.empty())
    names = {"cpu", "reference"};
  std::vector<TestExecutor> executors;
  for (const std::string &name : names) {
    const Machine *machine = source.options.machines->find(name);
    if (!machine && name != "reference") {
      answer.refuse("there is no executor `" + name + "`; there are cpu, reference, and the chips");
      return {};
    }
    executors.push_back({name, nullptr});
    if (machine)
      executors.back().compiled = std::make_unique<CompiledExecutor>(
          *source.program, source.sources,
          optionsFor(source, machine->executable ? std::nullopt : std::optional(*machine)),
          source.sink);
  }
  return executors;
}

static Json shortFailure(const SourceManager &sources, const TestReport &report) {
  Json block = testJson(sources, report);
  Json failure = {{"name", block["name"]},
                  {"executor", block["executor"]},
                  {"at", block["failures"][0]["at"]},
                  {"message", block["failures"][0]["message"]}};
  if (block.contains("shape"))
    failure["shape"] = block["shape"];
  return failure;
}

void runTest(Call &call, Answer &answer) {
  std::unique_ptr<Source> source = checkSource(call, answer, true);
  if (!source)
    return;
  std::vector<TestExecutor> executors = executorsOf(call, *source, answer);
  if (executors.empty())
    return;
  auto tests = reference::findTests(*source->program, call.arguments.text(ArgumentId::Filter));
  if (tests.empty()) {
    answer.next("search_docs", {{"query", "property test expect"}}, "shows how tests are written",
                {"a check of what it computes"});
    return answer.refuse(
        "the file has no test or property block" +
        std::string(call.arguments.has(ArgumentId::Filter) ? " with that name" : ""));
  }
  std::vector<TestReport> reports;
  double total = static_cast<double>(tests.size() * executors.size());
  for (const CallableDecl *decl : tests)
    for (TestExecutor &executor : executors) {
      call.progress(static_cast<double>(reports.size()), total,
                    decl->name + " on " + executor.name);
      reference::TestOptions options;
      if (executor.compiled) {
        options.samples = kAgentSamples;
        options.shrinkRuns = kAgentShrinkRuns;
        options.handler = compiledHandler(*executor.compiled, source->sources);
      }
      options.samples = static_cast<unsigned>(
          std::min<int64_t>(call.arguments.whole(ArgumentId::Samples, options.samples), 10000));
      options.seed = static_cast<uint64_t>(call.arguments.whole(ArgumentId::Seed, 1));
      reports.push_back(
          {executor.name, reference::runTest(*source->program, source->sources, *decl, options)});
    }
  Json document = testDocument(source->sources, reports);
  answer.body["passed"] = document["passed"];
  answer.body["failed"] = document["failed"];
  answer.body["failures"] = Json::array();
  for (const TestReport &report : reports)
    if (!report.outcome.passed() && answer.body["failures"].size() < 5)
      answer.body["failures"].push_back(shortFailure(source->sources, report));
  answer.keep("test.json", "every block on every executor (docs/schemas/test.json)",
              document.dump(2) + "\n");
  answer.summary = source->path + ": " + document["passed"].dump() + " passed, " +
                   document["failed"].dump() + " failed";
  Json file = argumentsFor(call, of(ArgumentId::File) | of(ArgumentId::Text));
  for (const Json &failure : answer.body["failures"]) {
    answer.summary +=
        "\n" + failure["at"].get<std::string>() + ": " + failure["message"].get<std::string>();
    if (failure.contains("shape"))
      answer.summary += " with " + failure["shape"].dump();
  }
  if (document["failed"] == 0)
    return answer.next("cost", file, "its results are right; predicts the time and tries changes",
                       {"only known once they are tried"});
  Json again = file;
  again["filter"] = answer.body["failures"][0]["name"];
  again["executors"] = Json::array({answer.body["failures"][0]["executor"]});
  answer.next("test", again, "runs the failing block alone, once the source is changed",
              {"whether it passes"});
}

} // namespace ptl::agent
