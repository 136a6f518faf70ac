#include "runtime/ranks/attend.h"

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace ptl::ranks {

// ---- Below `ptlc run --shape` ------------------------------------------------------------------

static std::atomic<int> interruption = 0;

/// While it lives, signals that would end this process are noted: the ranks go first.
class Interruptions {
public:
  Interruptions() {
    struct sigaction action{};
    action.sa_handler = [](int number) { interruption = number; };
    for (size_t i = 0; i < std::size(kNumbers); ++i) {
      ::sigaction(kNumbers[i], nullptr, &before_[i]);
      if (before_[i].sa_handler != SIG_IGN) // as `nohup` asks
        ::sigaction(kNumbers[i], &action, nullptr);
    }
  }
  ~Interruptions() {
    for (size_t i = 0; i < std::size(kNumbers); ++i)
      ::sigaction(kNumbers[i], &before_[i], nullptr);
    if (int number = interruption)
      ::raise(number);
  }
  Interruptions(const Interruptions &) = delete;

private:
  static constexpr int kNumbers[] = {SIGINT, SIGTERM, SIGHUP};
  struct sigaction before_[std::size(kNumbers)];
};

/// Becomes `mpirun`; on failure, the reason goes to `report`.
[[noreturn]] static void becomeLauncher(std::vector<std::string> &words, int report) {
  // If this process is killed, the launcher must not go on alone.
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  // Ranks have no input, and what forwards it would be stopped in the background.
  if (int nothing = ::open("/dev/null", O_RDONLY); nothing >= 0)
    ::dup2(nothing, STDIN_FILENO);
  std::vector<char *> arguments;
  for (std::string &word : words)
    arguments.push_back(word.data());
  arguments.push_back(nullptr);
  ::execvp(arguments[0], arguments.data());
  int why = errno;
  if (::write(report, &why, sizeof why) < 0)
    ::_exit(127);
  ::_exit(127);
}

/// The number of the process; 0 and the reason if it cannot be started.
static pid_t startLauncher(std::vector<std::string> &words, std::string &why) {
  int report[2];
  if (::pipe2(report, O_CLOEXEC) != 0) {
    why = std::strerror(errno);
    return 0;
  }
  pid_t child = ::fork();
  if (child == 0)
    becomeLauncher(words, report[1]);
  ::close(report[1]);
  int error = child < 0 ? errno : 0;
  // The pipe is closed by a successful `exec`, so that nothing arrives, and holds the reason where
  // it fails.
  bool hasFailed = child < 0 || ::read(report[0], &error, sizeof error) == sizeof error;
  ::close(report[0]);
  if (!hasFailed)
    return child;
  if (child > 0)
    ::waitpid(child, nullptr, 0);
  why = words[0] + " cannot be started: " + std::strerror(error);
  return 0;
}

/// Kills what is still below this process, which orphans have come to, and buries it.
static void clearAway() {
  for (int looks = 0; looks < 500; ++looks) {
    forEachProcess([](pid_t pid) {
      if (stateOf(pid).parent == ::getpid())
        ::kill(pid, SIGKILL);
    });
    while (::waitpid(-1, nullptr, WNOHANG) > 0)
      ;
    if (::waitpid(-1, nullptr, WNOHANG) < 0)
      return;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

/// Looks until the launcher is gone; its exit code.
static int untilLaunched(Keeper &keeper, pid_t launcher) {
  for (;;) {
    keeper.look();
    if (int number = interruption)
      keeper.fail({}, 128 + number);
    int status = 0;
    // Orphans come to this process, too, and have to be buried while the launcher runs.
    pid_t gone = ::waitpid(-1, &status, WNOHANG);
    if (gone == launcher) {
      keeper.launcherIsGone();
      return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }
  }
}

Outcome attend(std::vector<std::string> words, uint32_t count, Limits limits,
               Keeper::NameOf nameOf) {
  auto ticks = std::chrono::steady_clock::now().time_since_epoch().count();
  std::string name = "ptl-run-" + std::to_string(::getpid()) + "-" + std::to_string(ticks);
  int listener = bindTo(name);
  if (listener < 0)
    return {false, kStoppedCode, "no socket for the ranks: " + std::string(std::strerror(errno))};
  ::setenv(kKeeperVariable, name.c_str(), 1);
  // Ranks outlive their launcher where that is killed; then they become children of this process,
  // which can find and end them.
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  Interruptions interruptions;
  Keeper keeper(listener, count, limits, std::move(nameOf),
                {std::string(kKeeperVariable) + "=" + name});
  std::string why;
  pid_t launcher = startLauncher(words, why);
  if (launcher == 0)
    return {false, kStoppedCode, why};
  keeper.launchedBy(launcher, true);
  int code = untilLaunched(keeper, launcher);
  // The last messages of ranks may come after the end of their launcher, so they are waited for. A
  // rank that outlives its launcher for longer than that is a failure.
  for (double waited = 0; keeper.hasMembers() && waited < 10; waited += 0.1) {
    keeper.look();
    if (waited > limits.end && !keeper.isEnding())
      keeper.fail(words[0] + " is gone, and ranks are not", kStoppedCode);
  }
  clearAway();
  keeper.removeUnfinished();
  Outcome outcome = keeper.outcome();
  if (outcome.isCommitted)
    return {true, 0, {}};
  if (outcome.code == 0) {
    outcome.code = code ? code : kStoppedCode;
    outcome.why =
        words[0] + " ended with code " + std::to_string(code) + " before the program had ended";
  }
  return outcome;
}

// ---- Left behind by a rank ---------------------------------------------------------------------

[[noreturn]] static void keep(int listener, uint32_t expected, double patience,
                              const std::vector<std::string> &origin) {
  // Who forwards what ranks say waits until nobody can say anything.
  int nothing = ::open("/dev/null", O_RDWR);
  for (int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    ::dup2(nothing, stream);
  // Files that the rank had open must not stay open in the keeper: others may wait for their end.
  int own = ::dup2(listener, STDERR_FILENO + 1);
  for (int64_t other = own + 1; other < ::sysconf(_SC_OPEN_MAX) && other < 4096; ++other)
    ::close(static_cast<int>(other));
  Limits limits;
  limits.patience = patience;
  Keeper keeper(
      own, expected, limits, [](uint32_t rank) { return "rank " + std::to_string(rank); }, origin);
  while (!keeper.isOver() && keeper.idle() < 2 * limits.missing)
    keeper.look();
  keeper.removeUnfinished();
  // The launcher may still wait for ranks that are gone, so `look` goes on pressing it until it ends, too.
  while (keeper.isEnding() && keeper.launcher().isAlive() && keeper.idle() < 5 * limits.end)
    keeper.look();
  ::_exit(0);
}

pid_t startKeeper(int listener, uint32_t expected, double patience,
                  const std::vector<std::string> &origin) {
  int report[2];
  if (::pipe2(report, O_CLOEXEC) != 0)
    return 0;
  pid_t child = ::fork(), keeper = 0;
  if (child != 0) {
    ::close(report[1]);
    if (child < 0 || ::read(report[0], &keeper, sizeof keeper) != sizeof keeper)
      keeper = 0;
    ::close(report[0]);
    ::waitpid(child, nullptr, 0);
    return keeper;
  }
  // In a session of its own, and nobody's child: what ends the rank does not end it.
  ::setsid();
  // The child in between ends at once, so the grandchild has no parent that could wait for it or
  // take it along.
  keeper = ::fork();
  if (keeper == 0)
    keep(listener, expected, patience, origin);
  if (::write(report[1], &keeper, sizeof keeper) < 0)
    ::_exit(1);
  ::_exit(0);
}

} // namespace ptl::ranks
