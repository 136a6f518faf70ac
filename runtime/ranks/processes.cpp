#include "runtime/ranks/processes.h"

#include <cctype>
#include <cstdlib>
#include <dirent.h>
#include <fcntl.h>
#include <filesystem>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace ptl::ranks {

/// A process may end between opening and reading, which fails then: what has come so far is all there is. Streams of
/// C++ throw there.
static std::string contents(pid_t pid, const char *what) {
  std::string text;
  int file = ::open(("/proc/" + std::to_string(pid) + "/" + what).c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return text;
  char part[4096];
  for (ssize_t size; (size = ::read(file, part, sizeof part)) > 0;)
    text.append(part, static_cast<size_t>(size));
  ::close(file);
  return text;
}

ProcessState stateOf(pid_t pid) {
  // `12 (any name) S 1 …`; the name may have parentheses itself.
  std::string text = contents(pid, "stat");
  size_t open = text.find('('), close = text.rfind(')');
  ProcessState state;
  if (open == text.npos || close == text.npos || close + 4 > text.size())
    return state;
  state.name = text.substr(open + 1, close - open - 1);
  state.letter = text[close + 2];
  state.parent = static_cast<pid_t>(std::atol(text.c_str() + close + 4));
  return state;
}

std::string programOf(pid_t pid) {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/" + std::to_string(pid) + "/exe", error).string();
}

pid_t launcherOf(pid_t pid) {
  // Between a rank and its launcher there may be a shell or a daemon, but not many of them.
  for (int generations = 0; generations < 4 && pid > 1; ++generations) {
    pid = stateOf(pid).parent;
    std::string name = stateOf(pid).name;
    for (const char *known : {"mpirun", "mpiexec", "orterun", "prterun", "mpiexec.hydra"})
      if (name == known)
        return pid;
  }
  return 0;
}

Process::Process(pid_t pid) : pid_(pid) {
  if (pid <= 0)
    return;
#ifdef SYS_pidfd_open
  // A handle stays that of this process, while its number may be given to another one after its
  // end.
  handle_ = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
#endif
}

Process::~Process() {
  if (handle_ >= 0)
    ::close(handle_);
}

void Process::signal(int number) const {
  if (!isKnown())
    return;
#ifdef SYS_pidfd_send_signal
  if (handle_ >= 0) {
    ::syscall(SYS_pidfd_send_signal, handle_, number, nullptr, 0);
    return;
  }
#endif
  ::kill(pid_, number);
}

bool Process::isAlive() const {
  if (!isKnown())
    return false;
#ifdef SYS_pidfd_send_signal
  if (handle_ >= 0 && ::syscall(SYS_pidfd_send_signal, handle_, 0, nullptr, 0) != 0)
    return false;
#endif
  char letter = stateOf(pid_).letter;
  // A process that nobody has waited for yet still has an entry, but does nothing any more.
  return letter != 0 && letter != 'Z' && letter != 'X';
}

bool Process::isStopped() const { return isKnown() && stateOf(pid_).letter == 'T'; }

void forEachProcess(const std::function<void(pid_t)> &visit) {
  DIR *folder = ::opendir("/proc");
  if (!folder)
    return;
  while (const dirent *entry = ::readdir(folder))
    // The other entries are about the system, not about processes.
    if (std::isdigit(static_cast<unsigned char>(entry->d_name[0])))
      visit(static_cast<pid_t>(std::atol(entry->d_name)));
  ::closedir(folder);
}

bool beganWith(pid_t pid, const std::vector<std::string> &variables) {
  std::string environment = '\0' + contents(pid, "environ");
  for (const std::string &variable : variables)
    // Zeros separate the variables, and with one at both ends no part of another variable is found.
    if (environment.find('\0' + variable + '\0') == environment.npos)
      return false;
  return environment.size() > 1;
}

} // namespace ptl::ranks
