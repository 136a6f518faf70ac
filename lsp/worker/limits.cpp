#include "lsp/worker/limits.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <poll.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <thread>
#include <unistd.h>

namespace ptl::worker {

namespace {

// State for signal handlers. They may not allocate or lock, so everything that they print is
// prepared here.
struct LastWord {
  int out = -1;
  volatile sig_atomic_t isActive = 0;
  char id[256] = "null";
  char step[128] = "";
};
LastWord lastWord; // NOLINT: signal handlers can only access globals

size_t append(char *to, size_t at, size_t limit, const char *text) {
  for (; *text && at + 1 < limit; ++text)
    to[at++] = *text;
  to[at] = '\0';
  return at;
}

void sayLastWord(const char *code, const char *what) {
  char body[1024];
  size_t at = append(body, 0, sizeof body, "{\"id\":");
  at = append(body, at, sizeof body, lastWord.id);
  at = append(body, at, sizeof body, ",\"error\":{\"code\":\"");
  at = append(body, at, sizeof body, code);
  at = append(body, at, sizeof body, "\",\"step\":\"");
  at = append(body, at, sizeof body, lastWord.step);
  at = append(body, at, sizeof body, "\",\"message\":\"the code generator ");
  at = append(body, at, sizeof body, what);
  at = append(body, at, sizeof body, " at `");
  at = append(body, at, sizeof body, lastWord.step);
  at = append(body, at, sizeof body, "`\"}}");
  char head[64] = "Content-Length: ";
  char digits[24];
  size_t count = 0;
  for (size_t rest = at; rest || !count; rest /= 10)
    digits[count++] = static_cast<char>('0' + rest % 10);
  std::reverse(digits, digits + count);
  digits[count] = '\0';
  size_t size = append(head, std::strlen(head), sizeof head, digits);
  size = append(head, size, sizeof head, "\r\n\r\n");
  // Only `write` is async-signal-safe among the ways to print; a failure to write leaves nothing to
  // do but exit.
  if (::write(lastWord.out, head, size) < 0 || ::write(lastWord.out, body, at) < 0)
    ::_exit(kExitCrash);
}

void onAlarm(int) {
  // The alarm may arrive after the request has ended, between two requests.
  if (!lastWord.isActive)
    return;
  sayLastWord("timeout", "took too long");
  ::_exit(kExitTimeout);
}

void onFault(int) {
  if (lastWord.isActive)
    sayLastWord("crash", "crashed");
  ::_exit(kExitCrash);
}

void setTimer(unsigned milliseconds) {
  itimerval timer{};
  timer.it_value.tv_sec = milliseconds / 1000;
  timer.it_value.tv_usec = static_cast<suseconds_t>(milliseconds % 1000) * 1000;
  ::setitimer(ITIMER_REAL, &timer, nullptr);
}

void copyText(char *to, size_t size, const std::string &text) {
  size_t at = 0;
  for (char c : text)
    if (at + 1 < size)
      to[at++] = c;
  to[at] = '\0';
}

} // namespace

void installLimits(int out, uint64_t memoryBytes) {
  lastWord.out = out;
  if (memoryBytes) {
    rlimit memory = {memoryBytes, memoryBytes};
    ::setrlimit(RLIMIT_AS, &memory);
  }
  rlimit none = {0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
  // The end of the reader must show as an error of `write`, not kill the process before it can
  // clean up.
  ::signal(SIGPIPE, SIG_IGN);
  // After a stack overflow there is no room on the stack for the handler, so handlers run on a
  // stack of their own.
  static char stack[1 << 16];
  stack_t alternative{};
  alternative.ss_sp = stack;
  alternative.ss_size = sizeof stack;
  ::sigaltstack(&alternative, nullptr);
  struct sigaction action{};
  action.sa_flags = SA_ONSTACK;
  action.sa_handler = onAlarm;
  ::sigaction(SIGALRM, &action, nullptr);
  action.sa_handler = onFault;
  for (int number : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP})
    ::sigaction(number, &action, nullptr);
}

void endWithReader(int out) {
  // The new thread must not receive signals: their handlers run on the alternative stack, which
  // belongs to the working thread.
  sigset_t all, before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  // A thread watches the reader, because the code generator does not return for seconds. The death
  // of the parent process would be the wrong criterion, since whoever starts a worker may pass its
  // pipes on, and so would be the end of the input, since requests may come from a file.
  std::thread([out] {
    pollfd reader = {out, 0, 0};
    int count = 0;
    do
      count = ::poll(&reader, 1, -1);
    while (count < 0 && errno == EINTR);
    if (count > 0)
      ::_exit(0);
  }).detach();
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void beginRequest(const std::string &id, unsigned milliseconds) {
  copyText(lastWord.id, sizeof lastWord.id, id.size() < sizeof lastWord.id ? id : "null");
  noteStep("start");
  lastWord.isActive = 1;
  setTimer(milliseconds);
}

void noteStep(const std::string &step) {
  // Step names normally have no quotes; any character that would break the JSON of the last message
  // is removed here, because the handler cannot escape it.
  std::string safe;
  for (char c : step)
    if (c >= ' ' && c != '"' && c != '\\')
      safe += c;
  copyText(lastWord.step, sizeof lastWord.step, safe);
}

void endRequest() {
  lastWord.isActive = 0;
  setTimer(0);
}

} // namespace ptl::worker
