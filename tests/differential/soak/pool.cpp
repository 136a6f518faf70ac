#include "tests/differential/soak/pool.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sstream>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace ptl::differential {

namespace {

void writeAll(int file, const std::string &text) {
  for (size_t at = 0; at < text.size();) {
    ssize_t written = ::write(file, text.data() + at, text.size() - at);
    if (written <= 0)
      return;
    at += static_cast<size_t>(written);
  }
}

/// One observation a line; fields are separated by tabs.
std::string lineOf(const Observation &seen) {
  std::string extents;
  for (const auto &[name, value] : seen.extents)
    extents += (extents.empty() ? "" : ",") + name + "=" + std::to_string(value);
  std::string text = seen.text;
  std::replace(text.begin(), text.end(), '\t', ' ');
  return "seen\t" + seen.executor + "\t" + std::to_string(static_cast<int>(seen.kind)) + "\t" +
         std::to_string(seen.seed) + "\t" + extents + "\t" + text + "\n";
}

Observation parseLine(const std::string &line) {
  std::istringstream fields(line);
  std::string word, kind, seed, extents;
  Observation seen;
  std::getline(fields, word, '\t');
  std::getline(fields, seen.executor, '\t');
  std::getline(fields, kind, '\t');
  std::getline(fields, seed, '\t');
  std::getline(fields, extents, '\t');
  std::getline(fields, seen.text);
  seen.kind = static_cast<Kind>(std::atoi(kind.c_str()));
  seen.seed = std::strtoull(seed.c_str(), nullptr, 10);
  std::istringstream list(extents);
  for (std::string each; std::getline(list, each, ',');)
    if (size_t equals = each.find('='); equals != each.npos)
      seen.extents[each.substr(0, equals)] = std::atoll(each.c_str() + equals + 1);
  return seen;
}

void limitProcess(const Limits &limits) {
  rlimit time{static_cast<rlim_t>(limits.seconds), static_cast<rlim_t>(limits.seconds + 1)};
  ::setrlimit(RLIMIT_CPU, &time);
  rlimit memory{static_cast<rlim_t>(limits.megabytes) << 20, static_cast<rlim_t>(limits.megabytes)
                                                                 << 20};
  ::setrlimit(RLIMIT_AS, &memory);
  rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
}

} // namespace

struct Pool::Child {
  pid_t process = -1;
  int pipe = -1, errors = -1;
  size_t number = 0;
  Case program;
  std::string said;
};

Pool::Child Pool::start(const Case &program, size_t number) const {
  Child child;
  child.number = number;
  child.program = program;
  child.errors = ::memfd_create("errors", 0);
  int ends[2];
  if (::pipe(ends) != 0 || child.errors < 0) {
    std::perror("pipe");
    std::exit(2);
  }
  std::fflush(nullptr);
  child.process = ::fork();
  if (child.process == 0) {
    ::close(ends[0]);
    int nothing = ::open("/dev/null", O_WRONLY);
    ::dup2(nothing, 1);
    ::dup2(child.errors, 2);
    limitProcess(limits_);
    evaluate(
        program, options_,
        [&](const std::string &stage) { writeAll(ends[1], "at\t" + stage + "\n"); },
        [&](const Observation &seen) { writeAll(ends[1], lineOf(seen)); });
    writeAll(ends[1], "end\n");
    std::_Exit(0);
  }
  ::close(ends[1]);
  child.pipe = ends[0];
  return child;
}

static std::string tailOf(int file) {
  off_t size = ::lseek(file, 0, SEEK_END);
  std::string text(static_cast<size_t>(std::min<off_t>(size, 400)), ' ');
  if (::pread(file, text.data(), text.size(), size - static_cast<off_t>(text.size())) < 0)
    return "";
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

Outcome Pool::finish(Child &child, int status) {
  Outcome outcome;
  std::istringstream lines(child.said);
  std::string stage = "start";
  bool ended = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("at\t"))
      stage = line.substr(3);
    else if (line.starts_with("seen\t"))
      outcome.seen.push_back(parseLine(line));
    ended |= line == "end";
  }
  if (!ended) {
    int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    bool hangs = signal == SIGXCPU || signal == SIGKILL;
    std::string text =
        hangs    ? "no end"
        : signal ? std::string(::strsignal(signal)) + " " + tailOf(child.errors)
                 : "exit " + std::to_string(WEXITSTATUS(status)) + " " + tailOf(child.errors);
    outcome.seen.push_back({stage.substr(0, stage.find(',')),
                            hangs ? Kind::Hang : Kind::Crash,
                            text + " (" + stage + ")",
                            {},
                            child.program.seed});
  }
  ::close(child.errors);
  ::close(child.pipe);
  return outcome;
}

void Pool::run(const std::function<std::optional<Case>()> &next,
               const std::function<bool(size_t, const Case &, const Outcome &)> &done) {
  std::vector<Child> children;
  size_t number = 0;
  bool more = true;
  while (more || !children.empty()) {
    while (more && static_cast<int>(children.size()) < jobs_) {
      std::optional<Case> program = next();
      if (!program)
        more = false;
      else
        children.push_back(start(*program, number++));
    }
    std::vector<pollfd> polled;
    for (const Child &child : children)
      polled.push_back({child.pipe, POLLIN, 0});
    if (polled.empty() || ::poll(polled.data(), polled.size(), -1) < 0)
      continue;
    for (size_t i = children.size(); i-- > 0;) {
      if (!polled[i].revents)
        continue;
      char buffer[4096];
      ssize_t got = ::read(children[i].pipe, buffer, sizeof buffer);
      if (got > 0) {
        children[i].said.append(buffer, static_cast<size_t>(got));
        continue;
      }
      int status = 0;
      ::waitpid(children[i].process, &status, 0);
      Outcome outcome = finish(children[i], status);
      Child child = std::move(children[i]);
      children.erase(children.begin() + static_cast<long>(i));
      more &= done(child.number, child.program, outcome);
    }
  }
}

std::vector<Outcome> Pool::all(const std::vector<Case> &programs,
                               const std::vector<std::string> &executors) {
  std::vector<Outcome> outcomes(programs.size());
  EvaluateOptions before = options_;
  if (!executors.empty())
    options_.executors = executors;
  size_t at = 0;
  run([&]() { return at < programs.size() ? std::optional<Case>(programs[at++]) : std::nullopt; },
      [&](size_t number, const Case &, const Outcome &outcome) {
        outcomes[number] = outcome;
        return true;
      });
  options_ = std::move(before);
  return outcomes;
}

} // namespace ptl::differential
