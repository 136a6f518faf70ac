// Watches the ranks of one machine. If one of them is killed, stopped or exits, the others end within
// seconds, whether `mpirun` notices it or not, and unfinished files are removed.
#pragma once

#include "runtime/ranks/lifeline.h"
#include "runtime/ranks/processes.h"

#include <functional>
#include <poll.h>
#include <set>
#include <string>
#include <vector>

namespace ptl::ranks {

/// Time limits in seconds. Only the time during which the keeper itself runs counts, because a machine
/// that is slow for the ranks is slow for the keeper, too.
struct Limits {
  double patience = 60; ///< while all ranks wait for each other and none makes progress
  double begin = 300;   ///< until MPI has begun
  double stopped = 5;   ///< while a signal has stopped one rank and not another
  double missing = 10;  ///< after a rank has ended before it connected
  double end = 3;       ///< from asking processes to end to killing them
};

/// How a run ended.
struct Outcome {
  bool isCommitted = false; ///< all results have been written to their files
  int code = 0;
  std::string why; ///< the reason, if no rank has reported it
};

class Keeper {
public:
  using NameOf = std::function<std::string(uint32_t rank)>;

  /// `expected` is the number of ranks that will connect, 0 if their first messages tell it. `origin` are
  /// environment variables by which processes of this run are recognised.
  Keeper(int listener, uint32_t expected, Limits limits, NameOf nameOf,
         std::vector<std::string> origin);
  ~Keeper();
  Keeper(const Keeper &) = delete;

  /// Waits a moment for messages, and handles them.
  void look();
  /// Ends all ranks for a reason that no rank has reported.
  void fail(std::string why, int code);
  /// Removes the files of a run that has not committed, after all ranks have ended.
  void removeUnfinished();
  /// Sets the process that started the ranks. If it is a child of this process (`isOwn`), it is ended with
  /// the run, and the run ends if a signal stops it.
  void launchedBy(pid_t launcher, bool isOwn);
  void launcherIsGone() { launcher_.forget(); }

  bool hasLaunched() const { return !members_.empty() || sawCandidate_; }
  bool hasMembers() const { return !members_.empty(); }
  bool isEnding() const { return isEnding_; }
  /// Whether all expected ranks have connected and have ended.
  bool isOver() const { return expected_ > 0 && come_ >= expected_ && members_.empty(); }
  /// Whether rank `0` has committed, or why all ended.
  const Outcome &outcome() const { return outcome_; }
  /// The seconds for which no rank has been connected.
  double idle() const { return idle_; }
  const Process &launcher() const { return launcher_; }

private:
  struct Member {
    int socket = -1;
    Process process;
    uint32_t rank = 0;
    int32_t activity = kBegins;
    uint64_t progress = 0;
    double stopped = 0; ///< seconds
    int code = 0;       ///< of its end
    bool hasCome = false, isDone = false, hasEnded = false, isShared = false;
  };

  void accept();
  void hearAll(const std::vector<pollfd> &news);
  bool hear(Member &member);
  void heard(Member &member, const Message &message, const std::string &text);
  void lost(const Member &member);
  std::vector<pid_t> candidates() const;
  void endAll();
  void endOthers();
  std::string sayOnce();
  void lookForStopped(double seconds);
  void lookForMissing(double seconds);
  void lookForStandstill(double seconds);
  void lookForSharedEnd(double seconds);
  void pressOn(double seconds);
  std::string nameOf(const Member &member) const;

  int listener_;
  int speaker_ = -1; ///< the socket of the rank that is saying why all end
  uint32_t expected_, come_ = 0;
  Limits limits_;
  NameOf nameOf_;
  std::vector<std::string> origin_;
  std::vector<Member> members_;
  std::set<std::string> unfinished_;
  Process launcher_;
  bool ownsLauncher_ = false, sawCandidate_ = false, isEnding_ = false, isSaid_ = false;
  bool isCommitting_ = false, isOdd_ = false;
  double launcherStopped_ = 0, missing_ = 0, standstill_ = 0, shared_ = 0, ending_ = 0, idle_ = 0;
  uint64_t lastSum_ = 0;
  double last_ = 0; ///< the time of the last `look`
  Outcome outcome_;
};

} // namespace ptl::ranks
