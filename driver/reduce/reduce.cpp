// `ptlc reduce`: makes a file smaller that shows a failure of the compiler.
#include "driver/commands.h"
#include "driver/reduce/failure.h"
#include "frontend/format/format.h"
#include "frontend/reduce/search.h"
#include "frontend/reduce/smaller.h"

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>
#include <unistd.h>

namespace ptl {

namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

/// A smaller form may take this many times as long as the whole file did, and at least so long.
constexpr int kMostTimes = 10;
constexpr std::chrono::milliseconds kLeastLimit{2000};
/// The whole file may take this long.
constexpr std::chrono::milliseconds kFirstLimit{120'000};

/// Ctrl-C ends the search; what was found so far is written.
std::atomic<bool> isInterrupted{false};

/// A folder that is removed at the end.
class ScratchFolder {
public:
  ScratchFolder() {
    std::string name = (fs::temp_directory_path() / "ptlc-reduce-XXXXXX").string();
    if (::mkdtemp(name.data()))
      path_ = name;
  }
  ~ScratchFolder() {
    std::error_code ignored;
    if (!path_.empty())
      fs::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder &) = delete;
  ScratchFolder &operator=(const ScratchFolder &) = delete;
  const fs::path &path() const { return path_; }

private:
  fs::path path_;
};

std::string contentOf(const fs::path &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The smaller forms of a text, made when they are asked for.
struct Forms {
  const std::string &text;
  std::vector<Rewrite> rewrites = smallerForms(text);
  size_t size() const { return rewrites.size(); }
  std::string make(size_t index) const { return rewritten(text, rewrites[index]); }
};

/// Runs texts and compares how they end with how the whole file did.
class Reducer {
public:
  Reducer(const Options &options, std::string path)
      : options_(options), path_(std::move(path)),
        words_(options.positional().begin() + 1, options.positional().end()) {
    if (words_.empty())
      words_ = {"check"};
  }

  /// Runs the whole file. Why nothing can be reduced, or empty.
  std::string start(const std::string &text);
  /// The smallest text found.
  std::string search(std::string text);
  size_t runs() const { return runs_; }
  std::string shown() const {
    return usesTest() ? "`" + testProgram() + "` succeeds" : failure_.text();
  }

private:
  bool usesTest() const { return options_.has(OptionId::TestProgram); }
  std::string testProgram() const { return std::string(options_.value(OptionId::TestProgram)); }
  size_t atOnce() const {
    int64_t cores = std::max(1u, std::thread::hardware_concurrency());
    return static_cast<size_t>(
        std::max<int64_t>(1, options_.number(OptionId::Threads).value_or(cores)));
  }
  Command commandFor(size_t number, const std::string &text) const;
  bool isSame(const ProcessEnd &end, const Command &command) const;
  std::vector<bool> judge(const std::vector<std::string> &texts);
  void showProgress(size_t bytes) const;

  const Options &options_;
  std::string path_;
  std::vector<std::string> words_;
  ScratchFolder scratch_;
  Failure failure_; ///< of the whole file
  std::chrono::milliseconds limit_ = kFirstLimit;
  std::optional<Clock::time_point> deadline_;
  size_t runs_ = 0;
};

/// Puts a text where imports and messages find it under the name of the file.
Command Reducer::commandFor(size_t number, const std::string &text) const {
  fs::path folder = scratch_.path() / std::to_string(number);
  fs::create_directories(folder);
  fs::path file = folder / fs::path(path_).filename();
  std::ofstream(file, std::ios::binary) << text;
  Command command{{}, (folder / "output").string()};
  if (usesTest()) {
    command.words = {testProgram(), file.string()};
    return command;
  }
  command.words = {executableFolder() + "ptlc"};
  command.words.insert(command.words.end(), words_.begin(), words_.end());
  fs::path beside = fs::absolute(path_).parent_path();
  command.words.insert(command.words.end(), {"-I", beside.string(), file.string()});
  return command;
}

bool Reducer::isSame(const ProcessEnd &end, const Command &command) const {
  if (end.isLate || !end.startProblem.empty())
    return false;
  return usesTest() ? end.code == 0 && end.signal == 0
                    : failureOf(end, contentOf(command.outputPath)) == failure_;
}

std::string Reducer::start(const std::string &text) {
  if (scratch_.path().empty())
    return "no temporary folder can be made";
  // What is compiled here is compiled once, and the reproducers of these runs would be many.
  ::setenv("PTL_CACHE", "off", 1);
  ::setenv("PTL_BUNDLE", "off", 1);
  ::setenv("NO_COLOR", "1", 1);
  Command command = commandFor(0, text);
  Clock::time_point begin = Clock::now();
  ProcessEnd end = runAll({command}, limit_).front();
  ++runs_;
  limit_ = std::max(kLeastLimit, kMostTimes * std::chrono::duration_cast<std::chrono::milliseconds>(
                                                  Clock::now() - begin));
  if (std::optional<int64_t> seconds = options_.number(OptionId::Budget))
    deadline_ = begin + std::chrono::seconds(*seconds);
  std::string name = usesTest() ? testProgram() : "ptlc " + words_.front();
  if (!end.startProblem.empty())
    return "`" + name + "` cannot be started: " + end.startProblem;
  if (end.isLate)
    return "`" + name + "` has not ended after " + std::to_string(kFirstLimit.count() / 1000) +
           " seconds";
  failure_ = failureOf(end, contentOf(command.outputPath));
  bool succeeds = end.code == 0 && end.signal == 0;
  if (usesTest() != succeeds)
    return "`" + name +
           (succeeds ? "` succeeds" : "` fails on the whole file (" + failure_.text() + ")");
  if (!usesTest() && !end.signal && end.code == static_cast<int>(ExitCode::Usage))
    return "`" + name + "` cannot be run: " + contentOf(command.outputPath);
  return {};
}

std::vector<bool> Reducer::judge(const std::vector<std::string> &texts) {
  if (isInterrupted || (deadline_ && Clock::now() > *deadline_))
    return {};
  std::vector<Command> commands;
  for (const std::string &text : texts)
    commands.push_back(commandFor(commands.size(), text));
  std::vector<ProcessEnd> ends = runAll(commands, limit_);
  runs_ += ends.size();
  // The processes were interrupted as well, and ended in another way than by themselves.
  if (isInterrupted)
    return {};
  std::vector<bool> same;
  for (size_t i = 0; i < ends.size(); ++i)
    same.push_back(isSame(ends[i], commands[i]));
  if (auto first = std::ranges::find(same, true); first != same.end())
    showProgress(texts[static_cast<size_t>(first - same.begin())].size());
  return same;
}

void Reducer::showProgress(size_t bytes) const {
  if (::isatty(STDERR_FILENO))
    std::fprintf(stderr, "\r%zu bytes after %zu runs  ", bytes, runs_);
}

std::string Reducer::search(std::string text) {
  auto judged = [this](const std::vector<std::string> &texts) { return judge(texts); };
  text = smallestAccepted(
      std::move(text), atOnce(), [](const std::string &each) { return Forms{each}; }, judged);
  // The gaps that were left, unless the failure depends on them.
  if (std::string tidy = formatted(text); tidy != text)
    if (std::vector<bool> same = judge({tidy}); !same.empty() && same.front())
      text = tidy;
  if (::isatty(STDERR_FILENO))
    std::fputs("\r\033[K", stderr);
  return text;
}

std::string reducedPath(const Options &options, const std::string &path) {
  if (options.has(OptionId::Output))
    return std::string(options.value(OptionId::Output));
  return (fs::path(path).parent_path() / fs::path(path).stem()).string() + ".reduced.ptl";
}

/// The command behind `--` is one that ends and that reads a file.
std::string commandProblem(const Options &options) {
  const std::vector<std::string> &words = options.positional();
  if (words.empty())
    return "name the file: `ptlc reduce FILE -- COMMAND [options]`";
  if (words.size() > 1 && options.has(OptionId::TestProgram))
    return "either `--test PROGRAM` or a command behind `--` says what the failure is, not both";
  const CommandInfo *command = words.size() > 1 ? findCommand(words[1]) : nullptr;
  if (words.size() > 1 && (!command || command->id == CommandId::Reduce ||
                           command->id == CommandId::Mcp || command->id == CommandId::Debug))
    return "`" + words[1] +
           "` is not a command that can fail on a file: behind `--` stands what "
           "`ptlc` is to do, such as `check --target a3`";
  return {};
}

} // namespace

ExitCode runReduce(const Options &options) {
  if (std::string problem = commandProblem(options); !problem.empty())
    return usageError(problem);
  const std::string &path = options.positional().front();
  Session session(options);
  std::optional<FileId> id = session.load(path);
  if (!id)
    return session.finish();
  std::string text(session.sources().file(*id).text());
  Reducer reducer(options, path);
  if (std::string problem = reducer.start(text); !problem.empty()) {
    session.sink().report(DiagId::CannotReduce, kNoSpan, {path, problem});
    return session.finish();
  }
  std::signal(SIGINT, [](int) { isInterrupted = true; });
  std::string smallest = reducer.search(text);
  std::string out = reducedPath(options, path);
  if (session.write(out, smallest))
    std::fprintf(stderr, "%s: %zu of %zu bytes, found in %zu runs; the file still shows: %s\n",
                 out == "-" ? "standard output" : out.c_str(), smallest.size(), text.size(),
                 reducer.runs(), reducer.shown().c_str());
  return session.finish();
}

} // namespace ptl
