// A plug-in of ranks for tests, of which one fails at a point that is known: `PTL_TEST_FAULT=POINT:RANK:WHAT`. Otherwise it does
// what the plug-in `PTL_TEST_PLUGIN` does.
#include "runtime/ranks/ranks.h"

#include <cstdlib>
#include <dlfcn.h>
#include <signal.h>
#include <string>
#include <unistd.h>

namespace {

const PtlRanks *ranks;

/// Fails if this is the point, and this process the rank, that the environment names; true if what
/// happens here is to be lost.
bool reach(const std::string &point) {
  const char *fault = std::getenv("PTL_TEST_FAULT"), *rank = std::getenv("OMPI_COMM_WORLD_RANK");
  std::string text = fault ? fault : "", here = point + ":" + (rank ? rank : "") + ":";
  if (text.compare(0, here.size(), here) != 0)
    return false;
  std::string what = text.substr(here.size());
  if (what == "kill")
    ::raise(SIGKILL);
  else if (what == "stop")
    ::raise(SIGSTOP);
  else if (what == "stop-parent")
    ::kill(::getppid(), SIGSTOP);
  else if (what == "exit")
    ::_exit(0);
  else if (what == "crash")
    ::raise(SIGSEGV);
  return what == "lose";
}

bool reach(const char *point, int &times) { return reach(point + std::to_string(++times)); }

int sent = 0;

void sendTo(int32_t peer, const void *bytes, size_t size) {
  if (!reach("send", sent))
    ranks->send(peer, bytes, size);
}

void postTo(int32_t peer, size_t size, PtlMoveBytes give, void *message) {
  if (!reach("send", sent))
    ranks->post(peer, size, give, message);
}

int settle(int32_t peer, double seconds) {
  static int times = 0;
  reach("settle", times);
  return ranks->settle(peer, seconds);
}

int receiveFrom(int32_t peer, size_t size, void *place, PtlMoveBytes take, void *message,
                double seconds) {
  static int times = 0;
  reach("receive", times);
  return ranks->receive(peer, size, place, take, message, seconds);
}

int finishAll(double seconds) {
  reach("finish");
  int code = ranks->finish(seconds);
  reach("finished");
  return code;
}

void leave() {
  reach("leave");
  ranks->leave();
}

void abortAll(int code) { ranks->abort(code); }

} // namespace

extern "C" __attribute__((visibility("default"))) const PtlRanks *ptlRanksOpen() {
  reach("begin");
  void *library = ::dlopen(std::getenv("PTL_TEST_PLUGIN"), RTLD_NOW | RTLD_GLOBAL);
  auto open = reinterpret_cast<PtlRanksOpen>(library ? ::dlsym(library, PTL_RANKS_OPEN) : nullptr);
  ranks = open ? open() : nullptr;
  if (!ranks)
    return nullptr;
  reach("begun");
  static PtlRanks faulty = *ranks;
  faulty.send = sendTo;
  faulty.post = postTo;
  faulty.settle = settle;
  faulty.receive = receiveFrom;
  faulty.finish = finishAll;
  faulty.leave = leave;
  faulty.abort = abortAll;
  return &faulty;
}
