// libptl-mpi.so: ranks of MPI 3.1. Between ranks of one machine small messages go through rings in memory
// that they share, all others through MPI. Whoever waits gives way, and sleeps when nothing comes for long, so
// that many ranks on few cores make progress.
#include "runtime/ranks/ranks.h"
#include "runtime/ranks/shared_ring.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <list>
#include <memory>
#include <mpi.h>
#include <sched.h>
#include <thread>
#include <utility>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

constexpr int kTag = 1;
/// MPI counts in `int`.
constexpr size_t kMostBytes = size_t(1) << 30;
/// Up to so many bytes copying a message twice, from one core's cache to the other's, costs less than the
/// handshake that saves one copy. Both sides of a message know its size, and so which way it goes.
constexpr size_t kMostShared = 64 << 10;
/// Of all rings of a machine together, and of one: more of it would not stay in a cache.
constexpr size_t kAllRings = 64 << 20, kLargestRing = 256 << 10, kLeastRing = 4 << 10;

/// Gives way between two looks, and sleeps longer and longer when nothing has come for a while, up to a
/// millisecond. Sleeping at once would take longer than most messages do.
class Patience {
public:
  explicit Patience(double seconds) : seconds_(seconds) {}

  /// False when the seconds are over; they have no end if they are less than 0.
  bool wait() {
    if (++looks_ <= kLooks) {
      ::sched_yield();
      return true;
    }
    auto now = Clock::now();
    if (looks_ == kLooks + 1)
      begin_ = now;
    double waited = std::chrono::duration<double>(now - begin_).count();
    if (waited < kAwake)
      ::sched_yield();
    else
      std::this_thread::sleep_for(std::chrono::microseconds(std::min(1000, sleep_ += 10)));
    return seconds_ < 0 || waited <= seconds_;
  }

private:
  static constexpr int kLooks = 64;
  static constexpr double kAwake = 500e-6;
  double seconds_;
  int looks_ = 0, sleep_ = 0;
  Clock::time_point begin_;
};

// ---- Through MPI ---------------------------------------------------------------------------------

struct Sending {
  std::unique_ptr<char[]> bytes; ///< none if they stay where they are
  int32_t peer = 0;
  MPI_Request request = MPI_REQUEST_NULL;
};
std::list<Sending> underway;

void forgetSent() {
  for (auto it = underway.begin(); it != underway.end();) {
    int isDone = 0;
    MPI_Test(&it->request, &isDone, MPI_STATUS_IGNORE);
    it = isDone ? underway.erase(it) : std::next(it);
  }
}

std::unique_ptr<char[]> copyOf(const char *bytes, size_t size) {
  auto copy = std::make_unique_for_overwrite<char[]>(size);
  std::memcpy(copy.get(), bytes, size);
  return copy;
}

void beginByMpi(int32_t peer, const char *bytes, size_t size, bool stays) {
  for (size_t at = 0; at < size; at += kMostBytes) {
    size_t part = std::min(kMostBytes, size - at);
    const char *from = bytes + at;
    Sending &sending = underway.emplace_back();
    sending.peer = peer;
    if (!stays) {
      sending.bytes = copyOf(from, part);
      from = sending.bytes.get();
    }
    MPI_Isend(from, static_cast<int>(part), MPI_BYTE, peer, kTag, MPI_COMM_WORLD, &sending.request);
  }
}

// ---- Through shared memory -----------------------------------------------------------------------

/// What had no room in the ring of a peer yet.
struct Queued {
  std::unique_ptr<char[]> copy; ///< none if the bytes stay where they are
  const char *bytes = nullptr;
  size_t size = 0;
};
struct Neighbour {
  ptl::ranks::SharedRing to, from; ///< none of a rank on another machine
  std::deque<Queued> queued;
};
std::vector<Neighbour> neighbours; ///< by rank
size_t queuedMessages = 0;

bool isShared(int32_t peer, size_t size) {
  return size <= kMostShared && neighbours[static_cast<size_t>(peer)].to;
}

void writeQueued(Neighbour &neighbour) {
  while (!neighbour.queued.empty()) {
    Queued &first = neighbour.queued.front();
    size_t size = neighbour.to.write(first.bytes, first.size);
    first.bytes += size;
    first.size -= size;
    if (first.size > 0)
      return;
    neighbour.queued.pop_front();
    --queuedMessages;
  }
}

void beginByRing(Neighbour &neighbour, const char *bytes, size_t size, bool stays) {
  if (neighbour.queued.empty()) {
    size_t written = neighbour.to.write(bytes, size);
    bytes += written;
    size -= written;
  }
  if (size == 0)
    return;
  Queued &queued = neighbour.queued.emplace_back();
  ++queuedMessages;
  if (!stays)
    queued.copy = copyOf(bytes, size);
  queued.bytes = stays ? bytes : queued.copy.get();
  queued.size = size;
}

/// The rings of the ranks of this machine, if all of them can have some: each rank has those into it.
void shareMemory(int32_t rank, int32_t count) {
  neighbours = std::vector<Neighbour>(static_cast<size_t>(count));
  MPI_Comm here;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &here);
  MPI_Comm_set_errhandler(here, MPI_ERRORS_RETURN);
  int size = 1, own = 0;
  MPI_Comm_size(here, &size);
  MPI_Comm_rank(here, &own);
  auto all = static_cast<size_t>(size);
  size_t capacity = std::min(kLargestRing, kAllRings / (all * all)) / 64 * 64;
  if (size < 2 || capacity < kLeastRing)
    return;
  size_t stride = sizeof(ptl::ranks::RingHead) + capacity;
  char *memory = nullptr;
  MPI_Win window;
  int hasFailed = MPI_Win_allocate_shared(static_cast<MPI_Aint>(all * stride), 1, MPI_INFO_NULL,
                                          here, &memory, &window) != MPI_SUCCESS;
  if (!hasFailed)
    for (size_t i = 0; i < all; ++i)
      std::memset(memory + i * stride, 0, sizeof(ptl::ranks::RingHead));
  // Nobody writes before all rings are empty.
  int haveFailed = 0;
  MPI_Allreduce(&hasFailed, &haveFailed, 1, MPI_INT, MPI_MAX, here);
  if (haveFailed)
    return;
  std::vector<int> ranks(all);
  MPI_Allgather(&rank, 1, MPI_INT, ranks.data(), 1, MPI_INT, here);
  for (size_t i = 0; i < all; ++i) {
    char *theirs = nullptr;
    MPI_Aint bytes;
    int unit;
    MPI_Win_shared_query(window, static_cast<int>(i), &bytes, &unit, &theirs);
    Neighbour &neighbour = neighbours[static_cast<size_t>(ranks[i])];
    neighbour.to = {theirs + static_cast<size_t>(own) * stride, capacity};
    neighbour.from = {memory + i * stride, capacity};
  }
}

// ---- What the plug-in exports --------------------------------------------------------------------

/// Goes on with what has been sent.
void goOn() {
  if (!underway.empty())
    forgetSent();
  if (queuedMessages > 0)
    for (Neighbour &neighbour : neighbours)
      writeQueued(neighbour);
}

void begin(int32_t peer, const void *bytes, size_t size, bool stays) {
  goOn();
  const char *from = static_cast<const char *>(bytes);
  if (isShared(peer, size))
    beginByRing(neighbours[static_cast<size_t>(peer)], from, size, stays);
  else
    beginByMpi(peer, from, size, stays);
}

void sendTo(int32_t peer, const void *bytes, size_t size) { begin(peer, bytes, size, false); }
void postTo(int32_t peer, const void *bytes, size_t size) { begin(peer, bytes, size, true); }

int settle(int32_t peer, double seconds) {
  auto isPosted = [peer](const Sending &sending) { return sending.peer == peer && !sending.bytes; };
  for (Patience patience(seconds);;) {
    goOn();
    bool hasQueued = std::ranges::any_of(neighbours[static_cast<size_t>(peer)].queued,
                                         [](const Queued &queued) { return !queued.copy; });
    if (!hasQueued && std::ranges::none_of(underway, isPosted))
      return 0;
    if (!patience.wait())
      return 1;
  }
}

int receiveByRing(ptl::ranks::SharedRing &ring, char *to, size_t size, double seconds) {
  Patience patience(seconds);
  for (size_t at = 0;;) {
    size_t came = ring.read(to + at, size - at);
    at += came;
    if (at == size)
      return 0;
    goOn();
    // What comes in pieces is not waited for from the beginning.
    if (came > 0)
      patience = Patience(seconds);
    else if (!patience.wait())
      return 1;
  }
}

int receiveFrom(int32_t peer, void *bytes, size_t size, double seconds) {
  char *to = static_cast<char *>(bytes);
  if (isShared(peer, size))
    return receiveByRing(neighbours[static_cast<size_t>(peer)].from, to, size, seconds);
  for (size_t at = 0; at < size; at += kMostBytes) {
    MPI_Request request;
    MPI_Irecv(to + at, static_cast<int>(std::min(kMostBytes, size - at)), MPI_BYTE, peer, kTag,
              MPI_COMM_WORLD, &request);
    Patience patience(seconds);
    for (int isDone = 0;;) {
      MPI_Test(&request, &isDone, MPI_STATUS_IGNORE);
      if (isDone)
        break;
      goOn();
      if (!patience.wait())
        return 1;
    }
  }
  return 0;
}

int finishAll(double seconds) {
  MPI_Request barrier = MPI_REQUEST_NULL;
  bool isEntered = false;
  for (Patience patience(seconds);;) {
    goOn();
    if (underway.empty() && queuedMessages == 0 && !std::exchange(isEntered, true))
      MPI_Ibarrier(MPI_COMM_WORLD, &barrier);
    int isDone = 0;
    if (isEntered)
      MPI_Test(&barrier, &isDone, MPI_STATUS_IGNORE);
    if (isDone)
      return 0;
    if (!patience.wait())
      return 1;
  }
}

void leave() { MPI_Finalize(); }

/// Ranks that are all on one machine need no network: looking for drivers of one takes Open MPI 0.2 s. All ranks
/// see the same numbers; who names another way in the environment gets it.
void stayOnOneMachine() {
  const char *all = std::getenv("OMPI_COMM_WORLD_SIZE");
  const char *here = std::getenv("OMPI_COMM_WORLD_LOCAL_SIZE");
  if (all && here && std::strcmp(all, here) == 0)
    ::setenv("OMPI_MCA_pml", "ob1", 0);
}

void abortAll(int code) {
  MPI_Abort(MPI_COMM_WORLD, code);
  std::_Exit(code);
}

} // namespace

extern "C" __attribute__((visibility("default"))) const PtlRanks *ptlRanksOpen() {
  stayOnOneMachine();
  int provided = 0;
  if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS)
    return nullptr;
  static PtlRanks ranks = {kPtlRanksVersion, 0,           1,         sendTo, postTo,
                           settle,           receiveFrom, finishAll, leave,  abortAll};
  MPI_Comm_rank(MPI_COMM_WORLD, &ranks.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks.count);
  shareMemory(ranks.rank, ranks.count);
  return &ranks;
}
