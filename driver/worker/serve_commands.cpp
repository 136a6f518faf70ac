#include "driver/worker/serve_commands.h"

#include "driver/check.h"
#include "driver/command_line.h"
#include "driver/ir/commands.h"

#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

namespace ptl {

namespace {

using Json = nlohmann::json;

/// Takes what is written to a stream of the process.
class Captured {
public:
  explicit Captured(int stream)
      : stream_(stream), kept_(::fcntl(stream, F_DUPFD_CLOEXEC, 3)),
        file_(::memfd_create("printed", MFD_CLOEXEC)) {
    ::dup2(file_, stream_);
  }
  Captured(const Captured &) = delete;
  Captured &operator=(const Captured &) = delete;
  ~Captured() {
    ::dup2(kept_, stream_);
    ::close(kept_);
    ::close(file_);
  }

  /// All that was written so far.
  std::string text() const {
    off_t size = ::lseek(file_, 0, SEEK_END);
    std::string text(static_cast<size_t>(std::max<off_t>(size, 0)), '\0');
    ssize_t read = ::pread(file_, text.data(), text.size(), 0);
    text.resize(static_cast<size_t>(std::max<ssize_t>(read, 0)));
    return text;
  }

private:
  int stream_, kept_, file_;
};

} // namespace

/// Whether a command leaves the process as it was and reads nothing but files.
static bool isServed(const CommandLine &line) {
  bool isOnRanks = line.options.has(OptionId::Shape) && !line.options.has(OptionId::InProcess);
  constexpr std::array own = {OptionId::Threads, OptionId::Resume, OptionId::Checkpoint,
                              OptionId::Pool, OptionId::Patience};
  if (!line.command || isOnRanks || std::any_of(own.begin(), own.end(), [&](OptionId option) {
        return line.options.has(option);
      }))
    return false;
  auto readsInput = [](const std::string &word) { return word == "-" || word.ends_with("=@-"); };
  const std::vector<std::string> &words = line.options.positional();
  if (std::any_of(words.begin(), words.end(), readsInput))
    return false;
  return line.command->id == CommandId::Check || needsCompiler(*line.command, line.options);
}

static ExitCode runServed(const CommandLine &line) {
  if (needsCompiler(*line.command, line.options))
    return runCommand(*line.command, line.options);
  return runCheck(line.options, {}, [&] { return runCommand(*line.command, line.options); });
}

/// Whether a request has the members that it must have.
static bool isRequest(const Json &request) {
  if (!request.is_object() || !request.contains("arguments") || !request.contains("folder"))
    return false;
  const Json &words = request["arguments"];
  return request["folder"].is_string() && words.is_array() &&
         std::all_of(words.begin(), words.end(), [](const Json &word) { return word.is_string(); });
}

/// The answer to a request, with what follows it.
static std::string answerTo(const Json &request) {
  std::vector<std::string> arguments = {"ptlc"};
  bool isPlain = true; // no file of arguments is among them
  for (const Json &word : request["arguments"]) {
    arguments.push_back(word.get<std::string>());
    isPlain &= !arguments.back().starts_with("@");
  }
  CommandLine line = readCommandLine(arguments);
  if (!isPlain || !isServed(line) || ::chdir(request["folder"].get<std::string>().c_str()) != 0)
    return Json({{"unserved", true}}).dump() + "\n";
  std::string out, err;
  ExitCode code;
  {
    Captured printed(STDOUT_FILENO), told(STDERR_FILENO);
    code = runServed(line);
    llvm::outs().flush();
    std::cout.flush();
    std::fflush(nullptr);
    out = printed.text();
    err = told.text();
  }
  Json head = {{"code", static_cast<int>(code)}, {"out", out.size()}, {"err", err.size()}};
  return head.dump() + "\n" + out + err;
}

static bool writeWhole(int file, std::string_view text) {
  while (!text.empty()) {
    ssize_t written = ::write(file, text.data(), text.size());
    if (written < 0)
      return false;
    text.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

int serveCommands() {
  // Commands that print do not get between the answers, and none reads the requests.
  int answers = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  int requests = ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
  int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  ::dup2(nothing, STDIN_FILENO);
  ::dup2(STDERR_FILENO, STDOUT_FILENO);
  FILE *lines = ::fdopen(requests, "r");
  char *line = nullptr;
  size_t room = 0;
  bool isFine = lines != nullptr;
  for (ssize_t length; isFine && (length = ::getline(&line, &room, lines)) > 0;) {
    Json request = Json::parse(line, line + length, nullptr, /*allow_exceptions=*/false);
    if (!isRequest(request)) {
      std::fputs("a request is a line of JSON with `arguments`, a list of strings, and `folder`\n",
                 stderr);
      isFine = false;
    } else {
      isFine = writeWhole(answers, answerTo(request));
    }
  }
  std::free(line);
  return static_cast<int>(isFine ? ExitCode::Fine : ExitCode::Usage);
}

} // namespace ptl
