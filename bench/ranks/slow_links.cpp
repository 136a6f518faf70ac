// A plug-in of ranks whose messages take as long as on links that move by themselves: `PTL_LINK_MBS` megabytes a second into each
// rank, one message after the other, while its cores go on. Otherwise it does what the plug-in `PTL_LINK_PLUGIN` does. At the end the
// first rank prints how many seconds its link was busy, if `PTL_LINK_MBS` is set.
#include "runtime/ranks/ranks.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <thread>

namespace {

using Clock = std::chrono::steady_clock;

const PtlRanks *ranks;
double secondsOfByte = 0, busy = 0;
Clock::time_point isFree;

int receiveFrom(int32_t peer, size_t size, void *place, PtlMoveBytes take, void *message,
                double seconds) {
  int isLate = ranks->receive(peer, size, place, take, message, seconds);
  double lasts = static_cast<double>(size) * secondsOfByte;
  busy += lasts;
  isFree = std::max(isFree, Clock::now()) +
           std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(lasts));
  std::this_thread::sleep_until(isFree);
  return isLate;
}

void leave() {
  if (ranks->rank == 0 && secondsOfByte > 0)
    std::fprintf(stderr, "link busy for %.6f s\n", busy);
  ranks->leave();
}

} // namespace

extern "C" __attribute__((visibility("default"))) const PtlRanks *ptlRanksOpen() {
  void *library = ::dlopen(std::getenv("PTL_LINK_PLUGIN"), RTLD_NOW | RTLD_GLOBAL);
  auto open = reinterpret_cast<PtlRanksOpen>(library ? ::dlsym(library, PTL_RANKS_OPEN) : nullptr);
  ranks = open ? open() : nullptr;
  if (!ranks)
    return nullptr;
  if (const char *rate = std::getenv("PTL_LINK_MBS"))
    secondsOfByte = 1e-6 / std::strtod(rate, nullptr);
  static PtlRanks slow = *ranks;
  slow.receive = receiveFrom;
  slow.leave = leave;
  return &slow;
}
