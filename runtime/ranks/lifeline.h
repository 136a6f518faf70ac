// What ties a rank to the keeper of its run, from before MPI begins: a socket that the kernel closes
// however the rank ends, and over which the keeper ends the rank whatever that waits for.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>

namespace ptl::ranks {

/// One packet, followed by text.
struct Message {
  enum Kind : uint32_t {
    Come,   ///< `number`: the rank, `count`: how many ranks this machine has, 0 if not known
    State,  ///< `number`: whom the rank waits for, or what else it does; `count`: its progress
    Making, ///< the text is the path of a file to be removed if the run fails
    Commits, ///< every rank has done its part: the results are put where they belong, once `Go` comes
    Committed, ///< they are there
    Ends,      ///< `number`: the exit code of the run, `count`: 1 if rank 0 is to say why
    Done,      ///< the rank may be gone from now on
    Go,        ///< to a rank that commits: whatever becomes of others, it is not ended any more
    End,       ///< to a rank: end with the code `number`; the text, if any, is to be said
  };
  Kind kind = Come;
  int32_t number = 0;
  uint64_t count = 0;
};

/// What a rank does when it does not wait for another.
enum Activity : int32_t { kWorks = -1, kWaitsForAll = -2, kBegins = -3 };

/// The variable in which `ptlc run --shape` tells the ranks that it starts who keeps them.
inline constexpr const char *kKeeperVariable = "PTL_RANKS_KEEPER";

/// The exit code of ranks whose run another one has ended.
inline constexpr int kStoppedCode = 5;

/// A socket at a name that this machine knows as long as it is open; -1 if it cannot be.
int bindTo(const std::string &name);
bool sendMessage(int socket, const Message &message, const std::string &text = {});
struct Received {
  Message message;
  std::string text;
};
/// The next message; nothing if the other side is gone.
std::optional<Received> receiveMessage(int socket);

class Lifeline {
public:
  /// Ties this process to the keeper that the environment names. Under an `mpirun` that something else
  /// started, the first rank of the machine makes one. Null, and the reason, if it cannot.
  static std::unique_ptr<Lifeline> tie(double patience, std::string &why);
  ~Lifeline();
  Lifeline(const Lifeline &) = delete;

  /// Whether the keeper sees all ranks of the run, which it does if they are on this machine.
  bool coversAll() const { return coversAll_; }
  /// `whom`: a rank, or an Activity.
  void does(int32_t whom) {
    activity_.store(whom, std::memory_order_relaxed);
    progress_.fetch_add(1, std::memory_order_relaxed);
  }
  void makes(const std::string &path) { tell({Message::Making}, path); }
  /// Comes back once nothing that others do can prevent that results are put where they belong.
  void commits();
  void committed() { tell({Message::Committed}); }
  void done();
  /// Ends the whole run with a code. If the first rank has the same to say, it is to say it.
  void ends(int code, bool isShared) { tell({Message::Ends, code, isShared}); }

private:
  explicit Lifeline(int socket) : socket_(socket) {}
  void tell(const Message &message, const std::string &text = {}) {
    sendMessage(socket_, message, text);
  }
  void watch();
  bool obeys();

  int socket_;
  pid_t keeper_ = 0; ///< if ranks have made it
  bool coversAll_ = false;
  std::atomic<int32_t> activity_ = kBegins;
  std::atomic<uint64_t> progress_ = 0;
  std::atomic<bool> isDone_ = false, mayCommit_ = false;
  std::thread watcher_;
};

} // namespace ptl::ranks
