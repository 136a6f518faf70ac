// libptl-mpi.so: ranks of MPI 3.1. Whoever waits sleeps between two looks, so that many ranks on few
// cores make progress.
#include "runtime/ranks/ranks.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <list>
#include <memory>
#include <mpi.h>
#include <thread>
#include <utility>

namespace {

constexpr int kTag = 1;
/// MPI counts in `int`.
constexpr size_t kMostBytes = size_t(1) << 30;

struct Sending {
  std::unique_ptr<char[]> bytes; ///< none if they stay where they are
  int32_t peer = 0;
  MPI_Request request = MPI_REQUEST_NULL;
};
std::list<Sending> underway;

/// Sleeps longer and longer while nothing comes, up to a millisecond. The first looks follow each other:
/// where ranks share cores MPI itself gives way in each of them.
class Patience {
public:
  void wait() {
    if (++looks_ > kLooks)
      std::this_thread::sleep_for(
          std::chrono::microseconds(std::min(1000, 10 * (looks_ - kLooks))));
  }

private:
  static constexpr int kLooks = 256;
  int looks_ = 0;
};

void forgetSent() {
  for (auto it = underway.begin(); it != underway.end();) {
    int isDone = 0;
    MPI_Test(&it->request, &isDone, MPI_STATUS_IGNORE);
    it = isDone ? underway.erase(it) : std::next(it);
  }
}

void begin(int32_t peer, const void *bytes, size_t size, bool stays) {
  forgetSent();
  for (size_t at = 0; at < size; at += kMostBytes) {
    size_t part = std::min(kMostBytes, size - at);
    const char *from = static_cast<const char *>(bytes) + at;
    Sending &sending = underway.emplace_back();
    sending.peer = peer;
    if (!stays) {
      sending.bytes = std::make_unique_for_overwrite<char[]>(part);
      std::memcpy(sending.bytes.get(), from, part);
      from = sending.bytes.get();
    }
    MPI_Isend(from, static_cast<int>(part), MPI_BYTE, peer, kTag, MPI_COMM_WORLD, &sending.request);
  }
}

void sendTo(int32_t peer, const void *bytes, size_t size) { begin(peer, bytes, size, false); }
void postTo(int32_t peer, const void *bytes, size_t size) { begin(peer, bytes, size, true); }

int settle(int32_t peer, double seconds) {
  auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  auto isPosted = [peer](const Sending &sending) { return sending.peer == peer && !sending.bytes; };
  for (Patience patience;; patience.wait()) {
    forgetSent();
    if (std::ranges::none_of(underway, isPosted))
      return 0;
    if (seconds >= 0 && std::chrono::steady_clock::now() > end)
      return 1;
  }
}

int receiveFrom(int32_t peer, void *bytes, size_t size, double seconds) {
  auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  for (size_t at = 0; at < size; at += kMostBytes) {
    MPI_Request request;
    MPI_Irecv(static_cast<char *>(bytes) + at, static_cast<int>(std::min(kMostBytes, size - at)),
              MPI_BYTE, peer, kTag, MPI_COMM_WORLD, &request);
    Patience patience;
    for (int isDone = 0; !isDone; patience.wait()) {
      MPI_Test(&request, &isDone, MPI_STATUS_IGNORE);
      if (isDone)
        break;
      forgetSent();
      if (seconds >= 0 && std::chrono::steady_clock::now() > end)
        return 1;
    }
  }
  return 0;
}

int finishAll(double seconds) {
  auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  Patience patience;
  MPI_Request barrier = MPI_REQUEST_NULL;
  bool isEntered = false;
  for (int isDone = 0; !isDone; patience.wait()) {
    forgetSent();
    if (underway.empty() && !std::exchange(isEntered, true))
      MPI_Ibarrier(MPI_COMM_WORLD, &barrier);
    if (isEntered)
      MPI_Test(&barrier, &isDone, MPI_STATUS_IGNORE);
    if (isDone)
      break;
    if (seconds >= 0 && std::chrono::steady_clock::now() > end)
      return 1;
  }
  return 0;
}

void leave() { MPI_Finalize(); }

void abortAll(int code) {
  MPI_Abort(MPI_COMM_WORLD, code);
  std::_Exit(code);
}

} // namespace

extern "C" __attribute__((visibility("default"))) const PtlRanks *ptlRanksOpen() {
  int provided = 0;
  if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS)
    return nullptr;
  static PtlRanks ranks = {kPtlRanksVersion, 0,           1,         sendTo, postTo,
                           settle,           receiveFrom, finishAll, leave,  abortAll};
  MPI_Comm_rank(MPI_COMM_WORLD, &ranks.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks.count);
  return &ranks;
}
