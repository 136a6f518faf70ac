// Information on processes from /proc.
#pragma once

#include <functional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace ptl::ranks {

/// One process; it stays distinguishable if its number is reused.
class Process {
public:
  Process() = default;
  explicit Process(pid_t pid);
  ~Process();
  Process(Process &&other) noexcept { swap(other); }
  Process &operator=(Process &&other) noexcept {
    swap(other);
    return *this;
  }

  pid_t pid() const { return pid_; }
  bool isKnown() const { return pid_ > 0; }
  void forget() { *this = Process(); }
  void signal(int number) const;
  /// Whether it exists and is not a zombie.
  bool isAlive() const;
  /// Whether a signal (not a debugger) has stopped it.
  bool isStopped() const;

private:
  void swap(Process &other) noexcept {
    std::swap(pid_, other.pid_);
    std::swap(handle_, other.handle_);
  }

  pid_t pid_ = 0;
  int handle_ = -1; ///< pidfd, if the system supports it
};

/// R, S, D, T, Z … of a process, its name and its parent; 0 if there is none.
struct ProcessState {
  char letter = 0;
  std::string name;
  pid_t parent = 0;
};
ProcessState stateOf(pid_t pid);

/// The path of the process's executable; empty if it is unknown.
std::string programOf(pid_t pid);
/// The nearest of its ancestors that is an `mpirun` of some MPI; 0 if none is.
pid_t launcherOf(pid_t pid);

/// All processes that can be seen.
void forEachProcess(const std::function<void(pid_t)> &visit);
/// Whether the initial environment of the process contains all of these `NAME=VALUE`.
bool beganWith(pid_t pid, const std::vector<std::string> &variables);

} // namespace ptl::ranks
