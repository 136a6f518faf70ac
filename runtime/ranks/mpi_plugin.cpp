// libptl-mpi.so: ranks of MPI 3.1. Between ranks of one machine messages go through rings in memory that they share,
// all others through MPI. Whoever waits looks again and again for a while, then gives way, and then sleeps until another
// rank wakes it, so that many ranks on few cores make progress.
#include "runtime/ranks/doorbell.h"
#include "runtime/ranks/process_memory.h"
#include "runtime/ranks/ranks.h"
#include "runtime/ranks/shared_ring.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <list>
#include <memory>
#include <mpi.h>
#include <sched.h>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;
using ptl::ranks::Doorbell;
using ptl::ranks::fetch;

constexpr int kTag = 1;
/// MPI counts in `int`.
constexpr size_t kMostBytes = size_t(1) << 30;
/// Of all rings of a machine together, and of one: more of it would not stay in a cache.
constexpr size_t kAllRings = 64 << 20, kLargestRing = 128 << 10, kLeastRing = 4 << 10;
/// Messages that are larger go through rings of this capacity only, where that takes less time than the one copy of MPI,
/// which the kernel makes page by page.
constexpr size_t kMostSmall = 64 << 10;
/// Bytes from which on messages are fetched from the memory of their sender by one copy that the kernel makes: only
/// addresses go through the ring. What does not lie in one run is put together there, part by part.
constexpr size_t kLeastFetched = 128 << 10;
/// Memory for such parts, of all neighbours together and of one; no more of it is used than they need.
constexpr size_t kAllParts = 16 << 20, kMostParts = 4 << 20;
/// So much is fetched at once of what is to be dealt out, or used while it is in a cache.
constexpr size_t kStaged = 128 << 10;
/// So much of a message is written and read at once, so that both sides are busy, and what goes to several ranks is in a
/// cache.
constexpr size_t kPiece = 32 << 10;

/// That of this rank; null if the ranks of this machine share nothing.
Doorbell *ownBell = nullptr;
/// How many ranks of this machine take turns on one core.
double ranksPerCore = 1;
int32_t coresPerRank = 1;

/// What a rank does between two looks at what it waits for. At first it gives way only if there are more ranks than
/// cores: it would wait for all of what other programs do meanwhile. It sleeps when nothing has come for a while: until
/// another rank of the machine wakes it, or, if it waits for other machines, longer and longer up to a
/// millisecond. Waking a rank takes longer than most messages do, and if some ranks slept while they wait for one that wakes up, it
/// would find them asleep.
class Patience {
public:
  explicit Patience(double seconds) : seconds_(seconds) {}
  ~Patience() { startAgain(); }

  /// False when the seconds are over; they have no end if they are less than 0. `isWoken`: what comes from other ranks
  /// rings the bell of this one.
  bool wait(bool isWoken) {
    if (++looks_ <= kLooks && ranksPerCore > 1) {
      giveWay();
      return true;
    }
    auto now = Clock::now();
    if (!hasBegun_)
      begin_ = now;
    hasBegun_ = true;
    double waited = std::chrono::duration<double>(now - begin_).count();
    if (waited < kAwake) {
      ranksPerCore <= 1 ? rest() : giveWay();
      return true;
    }
    if (isWoken)
      sleepUntilWoken();
    else
      std::this_thread::sleep_for(std::chrono::microseconds(std::min(1000, sleep_ += 10)));
    return seconds_ < 0 || waited <= seconds_;
  }

  /// A message has come, so the next wait begins with looking again, and does not sleep at once.
  void startAgain() {
    looks_ = 0;
    hasBegun_ = false;
    if (std::exchange(listens_, false))
      ownBell->ignore();
  }

private:
  static void giveWay() { ::sched_yield(); }
  static void rest() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
  }

  /// Listens first: what happens before the next look is seen then, and what happens later wakes.
  void sleepUntilWoken() {
    if (listens_)
      ownBell->sleep(heard_, kMostSleep);
    heard_ = ownBell->listen();
    listens_ = true;
  }

  static constexpr int kLooks = 64;
  static constexpr double kAwake = 500e-6;
  static constexpr long kMostSleep = 50'000'000; ///< nanoseconds
  double seconds_;
  int looks_ = 0, sleep_ = 0;
  uint32_t heard_ = 0;
  bool listens_ = false, hasBegun_ = false;
  Clock::time_point begin_;
};

// ---- Through MPI ---------------------------------------------------------------------------------

struct Sending {
  std::shared_ptr<char[]> bytes; ///< none if they stay where they are
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

/// Keeps `copy`, if the bytes are there.
void beginByMpi(int32_t peer, const char *bytes, size_t size, std::shared_ptr<char[]> copy) {
  for (size_t at = 0; at < size; at += kMostBytes) {
    Sending &sending = underway.emplace_back(Sending{copy, peer, MPI_REQUEST_NULL});
    MPI_Isend(bytes + at, static_cast<int>(std::min(kMostBytes, size - at)), MPI_BYTE, peer, kTag,
              MPI_COMM_WORLD, &sending.request);
  }
}

// ---- Through shared memory -----------------------------------------------------------------------

/// A message, or the rest of one.
struct Message {
  size_t size = 0;
  PtlMoveBytes move = nullptr; ///< writes or reads the next bytes
  void *state = nullptr;
  char *bytes = nullptr;        ///< where they lie or belong, if in one run
  std::unique_ptr<char[]> copy; ///< none if the bytes stay where they are
  bool isLent = false;          ///< the neighbour fetches it
  bool isInPlace = false;       ///< all at once, from where it lies

  void give(char *to, size_t count) {
    if (move)
      return move(state, to, count);
    std::memcpy(to, std::exchange(bytes, bytes + count), count);
  }
  void take(const char *from, size_t count) {
    if (!bytes)
      return move(state, const_cast<char *>(from), count);
    std::memcpy(bytes, from, count);
    hasCome(count);
  }
  /// The next bytes lie at their destination, and whoever moves them on is told.
  void hasCome(size_t count) {
    char *place = std::exchange(bytes, bytes + count);
    if (move)
      move(state, place, count);
  }
};
Message messageOf(size_t size, PtlMoveBytes move, void *message) {
  return {size, move, move ? message : nullptr, move ? nullptr : static_cast<char *>(message),
          nullptr};
}

/// Bytes that another rank fetches.
struct Lent {
  uint64_t address = 0; ///< 0: the message comes through the ring
  uint64_t size = 0;
};

struct Neighbour {
  ptl::ranks::SharedRing to, from; ///< none of a rank on another machine
  Doorbell *bell = nullptr;
  std::deque<Message> queued; ///< what had no room in the ring yet
  pid_t process = 0;
  bool isToWarm = false, isFromWarm = false;
  uint64_t lent = 0;                  ///< how many times it was lent something
  char *parts = nullptr;              ///< room for two parts of messages
  std::array<uint64_t, 2> partLent{}; ///< the last that was lent from each
  bool isSecond = false;              ///< which of them is next
};
std::vector<Neighbour> neighbours; ///< by rank
size_t queuedMessages = 0;
size_t ringCapacity = 0;
size_t partSize = 0;
bool canFetch = false; ///< whether each rank of the machine may read the memory of each other

/// Both sides of a message know its size, and so which way it goes.
bool isShared(int32_t peer, size_t size) {
  return neighbours[static_cast<size_t>(peer)].to &&
         (size <= kMostSmall || ringCapacity >= kMostSmall || canFetch);
}
/// Whether a message is lent, in one or several parts.
bool isLent(size_t size) { return canFetch && size >= kLeastFetched; }

/// Gets the pages of a ring at its first use: one after the other they take longer than messages do.
void warm(ptl::ranks::SharedRing &ring, bool &isWarm) {
  if (std::exchange(isWarm, true))
    return;
  auto [memory, size] = ring.memory();
  auto page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  auto begin = reinterpret_cast<uintptr_t>(memory), first = begin / page * page;
  ::madvise(reinterpret_cast<void *>(first), begin + size - first, MADV_POPULATE_WRITE);
}

/// Writes a piece of a message, if there is room; so many bytes.
size_t writePiece(Neighbour &neighbour, Message &message) {
  warm(neighbour.to, neighbour.isToWarm);
  size_t written = neighbour.to.writeBy(std::min(message.size, kPiece),
                                        [&](char *to, size_t count) { message.give(to, count); });
  message.size -= written;
  return written;
}

/// Lends a neighbour the bytes of a message where they lie, or the next part of it, if there is room; so many bytes.
size_t lendPiece(Neighbour &neighbour, Message &message) {
  if (neighbour.to.room() < sizeof(Lent))
    return 0;
  Lent lent{reinterpret_cast<uintptr_t>(message.bytes), message.size};
  if (!message.isInPlace) {
    uint64_t &last = neighbour.partLent[neighbour.isSecond];
    if (neighbour.to.fetched() < last)
      return 0;
    if (!neighbour.parts)
      neighbour.parts = ptl::ranks::largePages(2 * partSize);
    char *part = neighbour.parts + (neighbour.isSecond ? partSize : 0);
    lent = {reinterpret_cast<uintptr_t>(part), std::min(message.size, partSize)};
    message.give(part, lent.size);
    last = neighbour.lent + 1;
    neighbour.isSecond = !neighbour.isSecond;
  }
  neighbour.to.write(reinterpret_cast<const char *>(&lent), sizeof lent);
  ++neighbour.lent;
  message.size -= lent.size;
  return lent.size;
}

size_t movePiece(Neighbour &neighbour, Message &message) {
  return message.isLent ? lendPiece(neighbour, message) : writePiece(neighbour, message);
}

/// Writes what there is room for, a piece to each neighbour in turn: pieces of one array are still in a cache when the
/// next neighbour gets them. Whether there was anything.
bool writeQueued() {
  bool hasWritten = false;
  for (bool goesOn = queuedMessages > 0; goesOn;) {
    goesOn = false;
    for (Neighbour &neighbour : neighbours) {
      if (neighbour.queued.empty())
        continue;
      Message &first = neighbour.queued.front();
      bool isWritten = movePiece(neighbour, first) > 0;
      goesOn |= isWritten;
      if (isWritten)
        neighbour.bell->ring();
      if (first.size == 0) {
        neighbour.queued.pop_front();
        --queuedMessages;
      }
    }
    hasWritten |= goesOn;
  }
  return hasWritten;
}

/// The rest stays in the queue; of bytes that stay only for now, a copy.
void beginByRing(Neighbour &neighbour, Message message, bool stays) {
  message.isLent = isLent(message.size);
  message.isInPlace = stays && !message.move;
  if (neighbour.queued.empty()) {
    while (message.size > 0 && movePiece(neighbour, message) > 0) {
    }
    neighbour.bell->ring();
  }
  if (message.size == 0)
    return;
  if (!stays) {
    message.copy = copyOf(message.bytes, message.size);
    message.bytes = message.copy.get();
  }
  neighbour.queued.push_back(std::move(message));
  ++queuedMessages;
}

/// The cores on which some rank may run: each rank may be bound to some of them.
int coresOfRanks(MPI_Comm here) {
  cpu_set_t own, all;
  CPU_ZERO(&own);
  if (::sched_getaffinity(0, sizeof own, &own) != 0)
    CPU_SET(0, &own);
  MPI_Allreduce(&own, &all, sizeof own, MPI_BYTE, MPI_BOR, here);
  return CPU_COUNT(&all);
}

/// Ranks may not read the memory of others where the system forbids it, or does not show them each other.
void tryFetching(MPI_Comm here, const std::vector<int> &ranks) {
  static const uint64_t word = 0x9e3779b97f4a7c15;
  uint64_t own[] = {static_cast<uint64_t>(::getpid()), reinterpret_cast<uintptr_t>(&word)};
  std::vector<uint64_t> all(2 * ranks.size());
  MPI_Allgather(own, sizeof own, MPI_BYTE, all.data(), sizeof own, MPI_BYTE, here);
  int isRead = 1, areRead = 0;
  for (size_t i = 0; i < ranks.size(); ++i) {
    pid_t process = static_cast<pid_t>(all[2 * i]);
    uint64_t read = 0;
    isRead &= fetch(process, all[2 * i + 1], &read, sizeof read) && read == word;
    neighbours[static_cast<size_t>(ranks[i])].process = process;
  }
  MPI_Allreduce(&isRead, &areRead, 1, MPI_INT, MPI_MIN, here);
  canFetch = areRead != 0;
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
  int cores = coresOfRanks(here);
  ranksPerCore = std::max(1.0, static_cast<double>(size) / cores);
  coresPerRank = std::max(1, cores / size);
  auto all = static_cast<size_t>(size);
  size_t capacity = std::min(kLargestRing, kAllRings / (all * all)) / 64 * 64;
  if (size < 2 || capacity < kLeastRing)
    return;
  size_t stride = sizeof(ptl::ranks::RingHead) + capacity;
  // The memory of a rank begins with its bell, which is followed by one ring for the messages of each rank.
  auto ringOf = [stride](char *memory, size_t from) {
    return memory + sizeof(Doorbell) + from * stride;
  };
  char *memory = nullptr;
  MPI_Win window;
  int hasFailed = MPI_Win_allocate_shared(static_cast<MPI_Aint>(sizeof(Doorbell) + all * stride), 1,
                                          MPI_INFO_NULL, here, &memory, &window) != MPI_SUCCESS;
  if (!hasFailed)
    std::memset(memory, 0, sizeof(Doorbell));
  for (size_t i = 0; i < all && !hasFailed; ++i)
    std::memset(ringOf(memory, i), 0, sizeof(ptl::ranks::RingHead));
  // The reduction is also the barrier that lets no rank write into a ring before its owner has cleared it.
  enum { Failed, TakesNoFences, Questions };
  std::array<int, Questions> mine = {hasFailed, !Doorbell::takeFences()}, any = {};
  MPI_Allreduce(mine.data(), any.data(), Questions, MPI_INT, MPI_MAX, here);
  if (any[Failed])
    return;
  std::vector<int> ranks(all);
  MPI_Allgather(&rank, 1, MPI_INT, ranks.data(), 1, MPI_INT, here);
  for (size_t i = 0; i < all; ++i) {
    char *theirs = nullptr;
    MPI_Aint bytes;
    int unit;
    MPI_Win_shared_query(window, static_cast<int>(i), &bytes, &unit, &theirs);
    Neighbour &neighbour = neighbours[static_cast<size_t>(ranks[i])];
    neighbour.to = {ringOf(theirs, static_cast<size_t>(own)), capacity};
    neighbour.from = {ringOf(memory, i), capacity};
    neighbour.bell = reinterpret_cast<Doorbell *>(theirs);
  }
  tryFetching(here, ranks);
  partSize = std::min(kMostParts, kAllParts / all) / 2;
  ringCapacity = capacity;
  ownBell = reinterpret_cast<Doorbell *>(memory);
  if (!any[TakesNoFences])
    ownBell->fenceOthers();
}

// ---- What the plug-in exports --------------------------------------------------------------------

/// Goes on with what has been sent. Whether some of it went.
bool goOn() {
  if (!underway.empty())
    forgetSent();
  return writeQueued();
}

/// Whether what this rank may wait for beside a message of `peer` rings its bell.
bool isWoken(int32_t peer) {
  return ownBell && underway.empty() && neighbours[static_cast<size_t>(peer)].bell;
}

void sendTo(int32_t peer, const void *bytes, size_t size) {
  goOn();
  char *from = const_cast<char *>(static_cast<const char *>(bytes));
  if (isShared(peer, size))
    return beginByRing(neighbours[static_cast<size_t>(peer)], messageOf(size, nullptr, from),
                       false);
  std::unique_ptr<char[]> copy = copyOf(from, size);
  from = copy.get();
  beginByMpi(peer, from, size, std::move(copy));
}

void postTo(int32_t peer, size_t size, PtlMoveBytes give, void *message) {
  goOn();
  if (isShared(peer, size))
    return beginByRing(neighbours[static_cast<size_t>(peer)], messageOf(size, give, message), true);
  if (!give)
    return beginByMpi(peer, static_cast<const char *>(message), size, nullptr);
  auto copy = std::make_unique_for_overwrite<char[]>(size);
  give(message, copy.get(), size);
  const char *from = copy.get();
  beginByMpi(peer, from, size, std::move(copy));
}

/// Whether a rank of the machine has all that it was sent, or it is in its ring: what is in the queue goes only while this
/// rank waits for something.
bool hasLeft(const Neighbour &neighbour) {
  return neighbour.queued.empty() &&
         (neighbour.lent == 0 || neighbour.to.fetched() == neighbour.lent);
}

int settle(int32_t peer, double seconds) {
  auto isToPeer = [peer](const Sending &sending) { return sending.peer == peer; };
  for (Patience patience(seconds);;) {
    bool isMoving = goOn();
    if (hasLeft(neighbours[static_cast<size_t>(peer)]) && std::ranges::none_of(underway, isToPeer))
      return 0;
    if (isMoving)
      patience.startAgain();
    else if (!patience.wait(isWoken(peer)))
      return 1;
  }
}

/// What comes through the ring.
int readMessage(int32_t peer, Message message, double seconds) {
  Neighbour &neighbour = neighbours[static_cast<size_t>(peer)];
  warm(neighbour.from, neighbour.isFromWarm);
  Patience patience(seconds);
  for (;;) {
    size_t come =
        neighbour.from.readBy(std::min(message.size, kPiece),
                              [&](const char *from, size_t count) { message.take(from, count); });
    message.size -= come;
    if (come > 0)
      neighbour.bell->ring();
    if (message.size == 0)
      return 0;
    bool isMoving = goOn();
    // What comes in pieces is not waited for from the beginning.
    if (come > 0 || isMoving)
      patience.startAgain();
    else if (!patience.wait(isWoken(peer)))
      return 1;
  }
}

/// Brings a lent part where it belongs; false if its rank has ended.
bool fetchPart(Neighbour &neighbour, const Lent &lent, Message &message) {
  static const std::unique_ptr<char[]> staged = std::make_unique_for_overwrite<char[]>(kStaged);
  for (uint64_t at = 0; at < lent.size;) {
    size_t size = message.move ? std::min<size_t>(lent.size - at, kStaged) : lent.size;
    bool isStaged = !message.bytes;
    char *to = isStaged ? staged.get() : message.bytes;
    if (!fetch(neighbour.process, lent.address + at, to, size))
      return false;
    isStaged ? message.take(to, size) : message.hasCome(size);
    at += size;
  }
  message.size -= lent.size;
  neighbour.from.hasFetched();
  neighbour.bell->ring();
  return true;
}

int receiveByRing(int32_t peer, Message message, double seconds) {
  if (!isLent(message.size))
    return readMessage(peer, std::move(message), seconds);
  Neighbour &neighbour = neighbours[static_cast<size_t>(peer)];
  while (message.size > 0) {
    Lent lent;
    if (readMessage(peer, messageOf(sizeof lent, nullptr, &lent), seconds))
      return 1;
    if (!fetchPart(neighbour, lent, message)) {
      // What watches over the ranks notices that one has ended; from here it is one that sends nothing.
      for (Patience patience(seconds); patience.wait(false);) {
      }
      return 1;
    }
    goOn();
  }
  return 0;
}

int receiveByMpi(int32_t peer, char *to, size_t size, double seconds) {
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
      if (!patience.wait(false))
        return 1;
    }
  }
  return 0;
}

int receiveFrom(int32_t peer, size_t size, void *place, PtlMoveBytes take, void *message,
                double seconds) {
  if (isShared(peer, size)) {
    Message whole;
    whole.size = size;
    whole.bytes = static_cast<char *>(place);
    whole.move = take;
    whole.state = message;
    return receiveByRing(peer, std::move(whole), seconds);
  }
  auto room = place ? nullptr : std::make_unique_for_overwrite<char[]>(size);
  char *to = place ? static_cast<char *>(place) : room.get();
  if (receiveByMpi(peer, to, size, seconds))
    return 1;
  if (take)
    take(message, to, size);
  return 0;
}

int finishAll(double seconds) {
  MPI_Request barrier = MPI_REQUEST_NULL;
  bool isEntered = false;
  for (Patience patience(seconds);;) {
    goOn();
    if (underway.empty() && std::ranges::all_of(neighbours, hasLeft) &&
        !std::exchange(isEntered, true))
      MPI_Ibarrier(MPI_COMM_WORLD, &barrier);
    int isDone = 0;
    if (isEntered)
      MPI_Test(&barrier, &isDone, MPI_STATUS_IGNORE);
    if (isDone)
      return 0;
    if (!patience.wait(false))
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
  // One thread at a time speaks MPI, but not always the same one: movements go on beside computing.
  if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided) != MPI_SUCCESS ||
      provided < MPI_THREAD_SERIALIZED)
    return nullptr;
  static PtlRanks ranks = {kPtlRanksVersion, 0,      1,           1,         1,     sendTo,
                           postTo,           settle, receiveFrom, finishAll, leave, abortAll};
  MPI_Comm_rank(MPI_COMM_WORLD, &ranks.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks.count);
  shareMemory(ranks.rank, ranks.count);
  ranks.cores = coresPerRank;
  MPI_Allreduce(&ranksPerCore, &ranks.ranksPerCore, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return &ranks;
}
