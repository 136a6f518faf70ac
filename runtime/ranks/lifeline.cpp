#include "runtime/ranks/lifeline.h"

#include "common/read_number.h"
#include "runtime/ranks/attend.h"
#include "runtime/ranks/processes.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <vector>

namespace ptl::ranks {

// ---- Sockets -----------------------------------------------------------------------------------

/// A name without a file, which is gone with its last user.
static socklen_t addressOf(const std::string &name, sockaddr_un &address) {
  std::memset(&address, 0, sizeof address);
  address.sun_family = AF_UNIX;
  size_t size = std::min(name.size(), sizeof address.sun_path - 1);
  std::memcpy(address.sun_path + 1, name.data(), size);
  return static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + size);
}

static int newSocket() { return ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0); }

int bindTo(const std::string &name) {
  sockaddr_un address;
  socklen_t size = addressOf(name, address);
  int socket = newSocket();
  if (socket >= 0 && ::bind(socket, reinterpret_cast<sockaddr *>(&address), size) == 0)
    return socket;
  if (socket >= 0)
    ::close(socket);
  return -1;
}

/// `listens`: the process at the other end.
static int connectTo(const std::string &name, pid_t &listens) {
  sockaddr_un address;
  socklen_t size = addressOf(name, address);
  int socket = newSocket();
  ucred other{};
  socklen_t otherSize = sizeof other;
  if (socket >= 0 && ::connect(socket, reinterpret_cast<sockaddr *>(&address), size) == 0 &&
      ::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &other, &otherSize) == 0 &&
      other.uid == ::geteuid()) {
    listens = other.pid;
    return socket;
  }
  if (socket >= 0)
    ::close(socket);
  return -1;
}

bool sendMessage(int socket, const Message &message, const std::string &text) {
  std::string packet(reinterpret_cast<const char *>(&message), sizeof message);
  packet += text;
  return ::send(socket, packet.data(), packet.size(), MSG_NOSIGNAL) >= 0;
}

std::optional<Received> receiveMessage(int socket) {
  std::array<char, 8192> packet;
  ssize_t size = ::recv(socket, packet.data(), packet.size(), 0);
  if (size < static_cast<ssize_t>(sizeof(Message)))
    return std::nullopt;
  Received received;
  std::memcpy(&received.message, packet.data(), sizeof(Message));
  received.text.assign(packet.data() + sizeof(Message),
                       static_cast<size_t>(size) - sizeof(Message));
  return received;
}

// ---- What the environment says -----------------------------------------------------------------

/// The number in the first of these variables that is there; -1 if none is. A value that is no number says
/// so in `why`: ranks that take it for another would wait for each other.
static int64_t firstNumber(std::initializer_list<const char *> names, std::string &why) {
  for (const char *name : names)
    if (const char *value = std::getenv(name)) {
      std::optional<int32_t> number = integerIn<int32_t>(value);
      if (!number || *number < 0)
        why = std::string(name) + "=" + value + " in the environment is not a number of ranks";
      return number.value_or(-1);
    }
  return -1;
}

/// What only processes of this run have in their environment, whoever started them.
static std::vector<std::string> originOfRun() {
  std::vector<std::string> origin;
  for (const char *name :
       {"PMIX_NAMESPACE", "OMPI_MCA_orte_hnp_uri", "PMI_JOBID", "SLURM_JOB_ID", "SLURM_STEP_ID"})
    if (const char *value = std::getenv(name))
      origin.push_back(std::string(name) + "=" + value);
  return origin;
}

static std::string nameOfKeeper(const std::vector<std::string> &origin) {
  uint64_t hash = 0xcbf29ce484222325; // FNV-1a
  for (const std::string &variable : origin)
    for (char letter : variable)
      hash = (hash ^ static_cast<uint8_t>(letter)) * 0x100000001b3;
  // Without a name of the run, all ranks of the machine have one parent.
  if (origin.empty())
    hash = static_cast<uint64_t>(::getppid());
  return "ptl-ranks-" + std::to_string(::geteuid()) + "-" + std::to_string(hash);
}

/// A keeper that a signal has stopped would keep all ranks waiting, and no other process would ever let it go on.
static void letGoOn(pid_t keeper) {
  if (keeper > 0 && stateOf(keeper).letter == 'T')
    ::kill(keeper, SIGCONT);
}

/// Among ranks whose run has no keeper yet, the first makes one.
static int connectOrKeep(uint32_t expected, double patience, pid_t &keeper) {
  std::vector<std::string> origin = originOfRun();
  std::string name = nameOfKeeper(origin);
  pid_t made = 0;
  for (int tries = 0; tries < 2000; ++tries) {
    if (int socket = connectTo(name, keeper); socket >= 0)
      return socket;
    if (int listener = bindTo(name); listener >= 0) {
      // The keeper is the one who listens, so that every rank sees who it is.
      made = startKeeper(listener, expected, patience, origin);
      ::close(listener);
    } else {
      letGoOn(made);
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }
  return -1;
}

// ---- The life of a rank ------------------------------------------------------------------------

std::unique_ptr<Lifeline> Lifeline::tie(double patience, std::string &why) {
  int64_t local = firstNumber({"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"}, why);
  int64_t all = firstNumber({"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS"}, why);
  int64_t rank =
      firstNumber({"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID"}, why);
  if (!why.empty())
    return nullptr;
  auto expected = static_cast<uint32_t>(std::max<int64_t>(local, 0));
  const char *name = std::getenv(kKeeperVariable);
  pid_t keeper = 0;
  int socket = name ? connectTo(name, keeper) : connectOrKeep(expected, patience, keeper);
  if (socket < 0) {
    why = "the process that monitors the ranks has ended or cannot be reached: " +
          std::string(std::strerror(errno));
    return nullptr;
  }
  std::unique_ptr<Lifeline> line(new Lifeline(socket));
  line->coversAll_ = all > 0 && all == local;
  line->keeper_ = name ? 0 : keeper; // The user may stop `ptlc run`.
  line->tell({Message::Come, static_cast<int32_t>(rank), expected});
  // Signals are for the thread that works.
  sigset_t every, before;
  ::sigfillset(&every);
  ::pthread_sigmask(SIG_SETMASK, &every, &before);
  line->watcher_ = std::thread([watched = line.get()] { watched->watch(); });
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return line;
}

Lifeline::~Lifeline() {
  isDone_ = true;
  // This wakes the watcher out of its wait, which a mere `close` would not.
  ::shutdown(socket_, SHUT_RDWR);
  watcher_.join();
  ::close(socket_);
}

void Lifeline::done() {
  isDone_ = true;
  tell({Message::Done});
}

void Lifeline::commits() {
  tell({Message::Commits});
  // The keeper answers when it knows of no failure; if there is one, it ends this process instead.
  mayCommit_.wait(false);
}

/// Does what the keeper says; false when there is nothing more to expect.
bool Lifeline::obeys() {
  std::optional<Received> order = receiveMessage(socket_);
  if (!order) {
    if (isDone_)
      return false;
    ::_exit(kStoppedCode); // The keeper is gone.
  }
  if (order->message.kind == Message::Go) {
    mayCommit_ = true;
    mayCommit_.notify_all();
  }
  if (order->message.kind != Message::End)
    return true;
  if (!order->text.empty() && ::write(STDERR_FILENO, order->text.data(), order->text.size()) < 0)
    ::_exit(order->message.number);
  ::_exit(order->message.number);
}

void Lifeline::watch() {
  uint64_t told = 0;
  for (;;) {
    pollfd news{socket_, POLLIN, 0};
    // Between messages it looks twice a second, which is often enough for what the keeper wants to
    // know.
    if (::poll(&news, 1, 500) > 0 && !obeys())
      return;
    letGoOn(keeper_);
    if (uint64_t progress = progress_.load(std::memory_order_relaxed); progress != told) {
      tell({Message::State, activity_.load(std::memory_order_relaxed), progress});
      told = progress;
    }
  }
}

} // namespace ptl::ranks
