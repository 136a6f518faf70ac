// The connection between a rank and the keeper of its run, which exists before MPI begins. It is a socket
// that the kernel closes however the rank ends, and through which the keeper can end a rank that waits.
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
    Come,      ///< `number`: the rank, `count`: how many ranks this machine has, 0 if not known
    State,     ///< `number`: the rank for which it waits, or an `Activity`; `count`: its progress
    Making,    ///< the text is the path of a file to be removed if the run fails
    Commits,   ///< every rank has done its part; the results are written once `Go` arrives
    Committed, ///< the results have been written
    Ends,      ///< `number`: the exit code of the run, `count`: 1 if rank 0 is to say why
    Done,      ///< from now on the rank may end
    Go,        ///< to the rank that commits: it will not be ended, whatever happens to the others
    End,       ///< to a rank: end with the code `number` after printing the text, if there is one
  };
  Kind kind = Come;
  int32_t number = 0;
  uint64_t count = 0;
};

/// The activity of a rank that is not waiting for another rank.
enum Activity : int32_t { kWorks = -1, kWaitsForAll = -2, kBegins = -3 };

/// The environment variable in which `ptlc run --shape` names the keeper to the ranks that it starts.
inline constexpr const char *kKeeperVariable = "PTL_RANKS_KEEPER";

/// The exit code of ranks whose run another one has ended.
inline constexpr int kStoppedCode = 5;

/// Opens a socket under a name that is known on this machine as long as the socket is open; -1 after a
/// failure.
int bindTo(const std::string &name);
bool sendMessage(int socket, const Message &message, const std::string &text = {});
struct Received {
  Message message;
  std::string text;
};
/// The next message; nothing if the other side has closed the connection.
std::optional<Received> receiveMessage(int socket);

class Lifeline {
public:
  /// Connects this process to the keeper that the environment names. Under an `mpirun` started by
  /// the user, the first rank of the machine starts a keeper. Null, with the reason, after a
  /// failure.
  static std::unique_ptr<Lifeline> tie(double patience, std::string &why);
  ~Lifeline();
  Lifeline(const Lifeline &) = delete;

  /// Whether the keeper watches all ranks of the run, that is, whether all are on this machine.
  bool coversAll() const { return coversAll_; }
  /// `whom`: a rank, or an Activity.
  void does(int32_t whom) {
    activity_.store(whom, std::memory_order_relaxed);
    progress_.fetch_add(1, std::memory_order_relaxed);
  }
  void makes(const std::string &path) { tell({Message::Making}, path); }
  /// Returns when the results may be written: from then on no failure of another rank ends this one.
  void commits();
  void committed() { tell({Message::Committed}); }
  void done();
  /// Ends the whole run with an exit code. With `isShared` the first rank reports the same reason.
  void ends(int code, bool isShared) { tell({Message::Ends, code, isShared}); }

private:
  explicit Lifeline(int socket) : socket_(socket) {}
  void tell(const Message &message, const std::string &text = {}) {
    sendMessage(socket_, message, text);
  }
  void watch();
  bool obeys();

  int socket_;
  pid_t keeper_ = 0; ///< the keeper that this rank has started; 0: none
  bool coversAll_ = false;
  std::atomic<int32_t> activity_ = kBegins;
  std::atomic<uint64_t> progress_ = 0;
  std::atomic<bool> isDone_ = false, mayCommit_ = false;
  std::thread watcher_;
};

} // namespace ptl::ranks
