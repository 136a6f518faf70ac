#include "tests/differential/soak/pool.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sstream>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
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
  rlimit memory{static_cast<rlim_t>(limits.megabytes) << 20, static_cast<rlim_t>(limits.megabytes)
                                                                 << 20};
  ::setrlimit(RLIMIT_AS, &memory);
  rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
}

/// Processor time from here on, of all threads; then the process ends with SIGPROF.
void limitTime(int seconds) {
  itimerval time{{0, 0}, {seconds, 0}};
  ::setitimer(ITIMER_PROF, &time, nullptr);
}

} // namespace

struct Pool::Job {
  Case program;
  size_t number = 0;
  bool isAlone = false;
};

struct Pool::Child {
  pid_t process = -1;
  int pipe = -1, errors = -1;
  std::vector<Job> jobs;
  size_t at = 0; ///< in `jobs`
  std::string stage = "start", output;
  Outcome outcome; ///< of the present one
  std::chrono::steady_clock::time_point heard = std::chrono::steady_clock::now();
};

Pool::Child Pool::start(std::vector<Job> jobs) const {
  Child child;
  child.jobs = std::move(jobs);
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
    for (const Job &job : child.jobs) {
      limitTime(limits_.seconds);
      evaluate(
          job.program, options_,
          [&](const std::string &stage) { writeAll(ends[1], "at\t" + stage + "\n"); },
          [&](const Observation &seen) { writeAll(ends[1], lineOf(seen)); });
      writeAll(ends[1], "end\n");
    }
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

/// Takes the lines that are complete.
bool Pool::hear(Child &child, const Done &done) {
  child.heard = std::chrono::steady_clock::now();
  bool more = true;
  size_t begin = 0;
  for (size_t end; (end = child.output.find('\n', begin)) != child.output.npos; begin = end + 1) {
    std::string line = child.output.substr(begin, end - begin);
    if (line.starts_with("at\t")) {
      child.stage = line.substr(3);
    } else if (line.starts_with("seen\t")) {
      child.outcome.seen.push_back(parseLine(line));
    } else if (line == "end") {
      const Job &job = child.jobs[child.at++];
      more &= done(job.number, job.program, child.outcome);
      child.outcome = {};
      child.stage = "start";
    }
  }
  child.output.erase(0, begin);
  return more;
}

static Observation deathOf(const std::string &stage, int status, int errors, uint64_t seed) {
  int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  bool hangs = signal == SIGPROF || signal == SIGKILL;
  std::string text = hangs ? "no end"
                     : signal
                         ? std::string(::strsignal(signal)) + " " + tailOf(errors)
                         : "exit " + std::to_string(WEXITSTATUS(status)) + " " + tailOf(errors);
  return {stage.substr(0, stage.find(',')),
          hangs ? Kind::Hang : Kind::Crash,
          text + " (" + stage + ")",
          {},
          seed};
}

/// After a process has ended: what it did not come to is done `again`, and the program that it died
/// of, too, unless that was alone.
bool Pool::finish(Child &child, const Done &done, std::vector<Job> &again) {
  int status = 0;
  ::waitpid(child.process, &status, 0);
  bool more = hear(child, done);
  if (child.at < child.jobs.size()) {
    Job &job = child.jobs[child.at];
    if (child.jobs.size() == 1) {
      child.outcome.seen.push_back(deathOf(child.stage, status, child.errors, job.program.seed));
      more &= done(job.number, job.program, child.outcome);
    } else {
      job.isAlone = true;
      again.insert(again.end(), child.jobs.begin() + static_cast<long>(child.at), child.jobs.end());
    }
  }
  ::close(child.errors);
  ::close(child.pipe);
  return more;
}

void Pool::run(const std::function<std::optional<Case>()> &next, const Done &done) {
  std::vector<Child> children;
  std::vector<Job> again;
  size_t number = 0;
  bool more = true;
  auto batch = [&] {
    std::vector<Job> jobs;
    while (jobs.size() < limits_.batch) {
      if (!again.empty()) {
        if (again.back().isAlone && !jobs.empty())
          break;
        jobs.push_back(std::move(again.back()));
        again.pop_back();
        if (jobs.back().isAlone)
          break;
        continue;
      }
      std::optional<Case> program = more ? next() : std::nullopt;
      if (!program) {
        more = false;
        break;
      }
      jobs.push_back({*program, number++});
    }
    return jobs;
  };
  do {
    while (static_cast<int>(children.size()) < jobs_) {
      std::vector<Job> jobs = batch();
      if (jobs.empty())
        break;
      children.push_back(start(std::move(jobs)));
    }
    std::vector<pollfd> polled;
    for (const Child &child : children)
      polled.push_back({child.pipe, POLLIN, 0});
    if (polled.empty() || ::poll(polled.data(), polled.size(), 10'000) < 0)
      continue;
    for (size_t i = children.size(); i-- > 0;) {
      Child &child = children[i];
      if (!polled[i].revents) {
        if (std::chrono::steady_clock::now() - child.heard > std::chrono::seconds(limits_.silence))
          ::kill(child.process, SIGKILL);
        continue;
      }
      char buffer[4096];
      ssize_t got = ::read(child.pipe, buffer, sizeof buffer);
      if (got > 0) {
        child.output.append(buffer, static_cast<size_t>(got));
        more &= hear(child, done);
        continue;
      }
      more &= finish(child, done, again);
      children.erase(children.begin() + static_cast<long>(i));
    }
  } while (more || !children.empty() || !again.empty());
}

std::vector<Outcome> Pool::all(const std::vector<Case> &programs,
                               const std::vector<std::string> &executors) {
  std::vector<Outcome> outcomes(programs.size());
  EvaluateOptions before = options_;
  size_t batchBefore = limits_.batch;
  if (!executors.empty())
    options_.executors = executors;
  options_.isThrifty = false;
  auto jobs = static_cast<size_t>(std::max(jobs_, 1));
  limits_.batch = std::clamp((programs.size() + jobs - 1) / jobs, size_t{1}, limits_.batch);
  size_t at = 0;
  run([&]() { return at < programs.size() ? std::optional<Case>(programs[at++]) : std::nullopt; },
      [&](size_t number, const Case &, const Outcome &outcome) {
        outcomes[number] = outcome;
        return true;
      });
  options_ = std::move(before);
  limits_.batch = batchBefore;
  return outcomes;
}

} // namespace ptl::differential
