// Makes random programs and runs them on all executors; what differs is shrunk and filed.
//   ptl_soak [--programs N] [--seed S] [--jobs J] [--file FOLDER] [--report FILE] [--seconds N]
//            [--budget RUNS] [--executors LIST] [--cpu PROCESSOR] [--std FOLDER] [--print SEED]
//            [--refused] [--replay] [--shrink] [--times] FILE...
// Without --file nothing is shrunk; what executors refuse is with --refused only. --report gets one
// line for each cause. --replay runs files that were filed, with their extents and others; --shrink
// makes files smaller. --times runs the programs in this process and says how long each step took.
#include "common/tool_number.h"
#include "frontend/format/format.h"
#include "frontend/parse/parse.h"
#include "tests/differential/generate/callables.h"
#include "tests/differential/soak/shrink.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <thread>

namespace ptl::differential {

struct Settings {
  size_t programs = 0;
  uint64_t seed = 1;
  int jobs = 2, budget = 600;
  double seconds = 1e9;
  std::string folder, report;
  bool filesRefused = false; ///< what executors refuse, too
  bool replays = false, shrinks = false, prints = false, times = false;
  EvaluateOptions evaluate;
  std::vector<std::string> files;
};

/// All programs that showed one cause.
struct Cause {
  Observation first;
  Case program;
  size_t count = 0;
};

static const char *kHead = "// ";

static std::string described(const Observation &seen) {
  std::string text = std::string(kindName(seen.kind)) + " on " + seen.executor + ": " + seen.text;
  return text.substr(0, 400);
}

/// The text of a filed case: what was seen, how to call it, and the program.
static std::string fileText(const Case &program, const Observation &seen) {
  std::string text =
      kHead + described(seen) + "\n" + kHead + "call: seed=" + std::to_string(program.seed);
  for (const auto &[name, value] : program.extents)
    text += " " + name + "=" + std::to_string(value);
  return text + "\n" + program.text;
}

static Case readCase(const std::string &path) {
  std::ifstream in(path);
  std::stringstream all;
  all << in.rdbuf();
  Case program;
  program.text = all.str();
  size_t at = program.text.find("// call: ");
  if (at == program.text.npos)
    return program;
  std::istringstream words(program.text.substr(at + 9, program.text.find('\n', at) - at - 9));
  for (std::string word; words >> word;) {
    size_t equals = word.find('=');
    std::string name = word.substr(0, equals),
                value = word.substr(std::min(equals, word.size() - 1) + 1);
    if (name == "seed")
      program.seed = toolNumber<uint64_t>(name, value);
    else
      program.extents[name] = toolNumber<int64_t>(name, value);
  }
  return program;
}

static std::string formattedProgram(const std::string &text) {
  SourceManager sources;
  DiagnosticSink sink;
  FileId file = sources.add("program.ptl", text);
  Tree tree = parse(sources.file(file), sink);
  return sink.hasErrors() ? text : format(tree).text;
}

class Soak {
public:
  explicit Soak(Settings settings)
      : settings_(std::move(settings)), pool_(settings_.evaluate, {}, settings_.jobs) {}

  int run();
  int replay();
  int shrinkFiles();

private:
  void take(const Case &program, const Outcome &outcome);
  void file();
  void writeReport();

  Settings settings_;
  Pool pool_;
  std::map<std::string, Cause> causes_;
  size_t done_ = 0;
};

void Soak::take(const Case &program, const Outcome &outcome) {
  ++done_;
  for (const Observation &seen : outcome.seen) {
    // Wrong values say nothing of their cause: each is one until it has been shrunk.
    std::string key = causeOf(seen);
    if (seen.kind == Kind::Wrong || seen.kind == Kind::Hang)
      key += " seed " + std::to_string(program.seed);
    Cause &cause = causes_[key];
    if (cause.count++ == 0) {
      cause.first = seen;
      cause.program = program;
      bool tells = seen.kind != Kind::Refused;
      if (tells)
        std::printf("seed %llu: %s\n", static_cast<unsigned long long>(program.seed),
                    described(seen).c_str());
      std::fflush(stdout);
    } else if (program.text.size() < cause.program.text.size()) { // the smallest is shrunk soonest
      cause.first = seen;
      cause.program = program;
    }
  }
}

void Soak::file() {
  std::map<std::string, std::string> filed; // by what the shrunk program is without its numbers
  std::vector<std::pair<std::string, Cause>> causes(causes_.begin(), causes_.end());
  std::stable_sort(causes.begin(), causes.end(), [](const auto &a, const auto &b) {
    auto rank = [](const Cause &cause) {
      return std::pair(cause.first.kind, cause.program.text.size());
    };
    return rank(a.second) < rank(b.second);
  });
  for (auto &[key, cause] : causes) {
    Kind kind = cause.first.kind;
    if (kind == Kind::Invalid || (kind == Kind::Refused && !settings_.filesRefused))
      continue;
    Case small = shrink(pool_, cause.program, cause.first, settings_.budget);
    small.text = formattedProgram(small.text);
    std::string shape;
    for (char c : small.text)
      if (!std::isdigit(static_cast<unsigned char>(c)) &&
          !std::isspace(static_cast<unsigned char>(c)))
        shape += c;
    std::string name = std::string(kindName(kind)) + "-" +
                       (cause.first.executor.starts_with("cpu") ? "cpu" : "chip") + "-" +
                       std::to_string(std::hash<std::string>()(shape) % 1000000) + ".ptl";
    if (!filed.emplace(name, key).second)
      continue;
    std::filesystem::create_directories(settings_.folder);
    std::ofstream(settings_.folder + "/" + name) << fileText(small, cause.first);
    std::printf("%s (%zu times): %s\n", name.c_str(), cause.count, described(cause.first).c_str());
    std::fflush(stdout);
  }
}

void Soak::writeReport() {
  std::map<Kind, std::pair<size_t, size_t>> byKind; // causes, programs
  std::ostringstream lines;
  for (const auto &[key, cause] : causes_) {
    ++byKind[cause.first.kind].first;
    byKind[cause.first.kind].second += cause.count;
    lines << cause.count << "\t" << cause.program.seed << "\t" << cause.first.executor << "\t"
          << key << "\t" << cause.first.text << "\n";
  }
  if (!settings_.report.empty())
    std::ofstream(settings_.report) << lines.str();
  std::printf("%zu programs", done_);
  for (const auto &[kind, counts] : byKind)
    std::printf(", %s: %zu (%zu causes)", std::string(kindName(kind)).c_str(), counts.second,
                counts.first);
  std::printf("\n");
}

int Soak::run() {
  auto start = std::chrono::steady_clock::now();
  constexpr size_t many = 100;
  if (settings_.programs >= many)
    compileSharedCode(settings_.evaluate);
  uint64_t next = settings_.seed, last = settings_.seed + settings_.programs;
  pool_.run(
      [&]() -> std::optional<Case> {
        std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
        if (next == last || passed.count() > settings_.seconds)
          return std::nullopt;
        uint64_t seed = next++;
        return Case{randomSource(seed), {}, seed};
      },
      [&](size_t, const Case &program, const Outcome &outcome) {
        take(program, outcome);
        return true;
      });
  writeReport();
  std::fflush(stdout);
  if (!settings_.folder.empty())
    file();
  bool isFine = true;
  for (const auto &[key, cause] : causes_) {
    Kind kind = cause.first.kind;
    bool counts = kind != Kind::Refused && kind != Kind::Invalid;
    isFine &= !counts;
  }
  return isFine ? 0 : 1;
}

int Soak::replay() {
  std::vector<Case> cases;
  for (const std::string &path : settings_.files)
    cases.push_back(readCase(path));
  std::vector<Outcome> outcomes = pool_.all(cases);
  int failures = 0;
  for (size_t i = 0; i < cases.size(); ++i)
    for (const Observation &seen : outcomes[i].seen) {
      ++failures;
      std::printf("%s: %s\n", settings_.files[i].c_str(), described(seen).c_str());
    }
  std::printf("%zu programs, %d observations\n", cases.size(), failures);
  return failures == 0 && !cases.empty() ? 0 : 1;
}

int Soak::shrinkFiles() {
  for (const std::string &path : settings_.files) {
    Case program = readCase(path);
    Outcome outcome = pool_.all({program}).front();
    if (outcome.isFine())
      continue;
    Case small = shrink(pool_, program, outcome.seen.front(), settings_.budget);
    small.text = formattedProgram(small.text);
    std::printf("%s", fileText(small, outcome.seen.front()).c_str());
  }
  return 0;
}

/// Prints where the time goes.
static int reportTimes(Settings settings) {
  StepClock clock;
  settings.evaluate.clock = &clock;
  settings.evaluate.isThrifty = true;
  auto quiet = [](const auto &) {};
  for (uint64_t seed = settings.seed; seed < settings.seed + settings.programs; ++seed)
    evaluate({randomSource(seed), {}, seed}, settings.evaluate, quiet, quiet);
  clock.enter("");
  std::printf("%s", clock.report().c_str());
  return 0;
}

/// Ends the process where there is no such processor, or this one cannot run its code.
static cpu::Processor processorNamed(const std::string &name) {
  std::string problem = cpu::Processor::problemOf(name);
  if (problem.empty()) {
    cpu::Processor processor = cpu::Processor::named(name);
    if (processor.lackingHere().empty())
      return processor;
    problem = "this processor lacks " + processor.lackingHere().front();
  }
  std::fprintf(stderr, "--cpu %s: %s\n", name.c_str(), problem.c_str());
  std::exit(2);
}

static Settings parseArguments(int argc, char **argv) {
  Settings settings;
  settings.jobs = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  for (int i = 1; i < argc; ++i) {
    std::string word = argv[i];
    auto value = [&] { return i + 1 < argc ? std::string(argv[++i]) : std::string(); };
    if (word == "--programs")
      settings.programs = toolNumber<decltype(settings.programs)>(word, value());
    else if (word == "--seed")
      settings.seed = toolNumber<uint64_t>(word, value());
    else if (word == "--jobs")
      settings.jobs = toolNumber<int>(word, value());
    else if (word == "--budget")
      settings.budget = toolNumber<int>(word, value());
    else if (word == "--seconds")
      settings.seconds = toolNumber<double>(word, value());
    else if (word == "--file")
      settings.folder = value();
    else if (word == "--refused")
      settings.filesRefused = true;
    else if (word == "--report")
      settings.report = value();
    else if (word == "--std")
      settings.evaluate.stdPath = value();
    else if (word == "--cpu")
      settings.evaluate.processor = processorNamed(value());
    else if (word == "--samples")
      settings.evaluate.samples = toolNumber<decltype(settings.evaluate.samples)>(word, value());
    else if (word == "--executors") {
      settings.evaluate.executors.clear();
      std::istringstream list(value());
      for (std::string each; std::getline(list, each, ',');)
        settings.evaluate.executors.push_back(each);
    } else if (word == "--replay")
      settings.replays = true;
    else if (word == "--times")
      settings.times = true;
    else if (word == "--shrink")
      settings.shrinks = true;
    else if (word == "--print")
      settings.prints = true, settings.seed = toolNumber<uint64_t>(word, value());
    else
      settings.files.push_back(word);
  }
  return settings;
}

} // namespace ptl::differential

int main(int argc, char **argv) {
  using namespace ptl::differential;
  Settings settings = parseArguments(argc, argv);
  if (settings.prints) {
    std::printf("%s", randomSource(settings.seed).c_str());
    return 0;
  }
  if (settings.times)
    return reportTimes(settings);
  settings.evaluate.isThrifty = !settings.replays && !settings.shrinks;
  Soak soak(settings);
  if (settings.replays)
    return soak.replay();
  return settings.shrinks ? soak.shrinkFiles() : soak.run();
}
