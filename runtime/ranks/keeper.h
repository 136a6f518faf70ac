// Watches over the ranks of one machine: whichever of them is killed, stopped or gone, and whatever
// `mpirun` notices of that, the others end within seconds and no file is left unfinished.
#pragma once

#include "runtime/ranks/lifeline.h"
#include "runtime/ranks/processes.h"

#include <functional>
#include <poll.h>
#include <set>
#include <string>
#include <vector>

namespace ptl::ranks {

/// Seconds, of which only those count in which the keeper itself ran: a machine that is slow for all is
/// slow for the keeper, too.
struct Limits {
  double patience = 60; ///< all ranks wait for each other, and nothing moves
  double begin = 300;   ///< MPI does not begin
  double stopped = 5;   ///< a rank is stopped by a signal, another is not
  double missing = 10;  ///< a rank is gone before it came
  double end = 3;       ///< between asking processes to end and making them
};

/// What became of a run.
struct Outcome {
  bool isCommitted = false; ///< all results are where they belong
  int code = 0;
  std::string why; ///< what no rank has said itself
};

class Keeper {
public:
  using NameOf = std::function<std::string(uint32_t rank)>;

  /// `expected`: how many ranks are to come, 0 if they will say so. `origin`: what processes of this run
  /// have in their environment.
  Keeper(int listener, uint32_t expected, Limits limits, NameOf nameOf,
         std::vector<std::string> origin);
  ~Keeper();
  Keeper(const Keeper &) = delete;

  /// Waits a moment for news, and acts.
  void look();
  /// Ends all, for a reason that is not the ranks'.
  void fail(std::string why, int code);
  /// Removes the files of a run that has not committed; no rank is there any more.
  void removeUnfinished();
  /// Who has started the ranks. If that is this process's own child, it ends with the run, and when
  /// it is stopped nothing goes on.
  void launchedBy(pid_t launcher, bool isOwn);
  void launcherIsGone() { launcher_.forget(); }

  bool hasLaunched() const { return !members_.empty() || sawCandidate_; }
  bool hasMembers() const { return !members_.empty(); }
  bool isEnding() const { return isEnding_; }
  /// Whether all that were to come have come, and are gone.
  bool isOver() const { return expected_ > 0 && come_ >= expected_ && members_.empty(); }
  /// Whether rank `0` has committed, or why all ended.
  const Outcome &outcome() const { return outcome_; }
  /// Seconds that nobody has been tied to this keeper.
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
  std::string sayOnce();
  void lookForStopped(double seconds);
  void lookForMissing(double seconds);
  void lookForStandstill(double seconds);
  void lookForSharedEnd(double seconds);
  void pressOn(double seconds);
  std::string nameOf(const Member &member) const;

  int listener_;
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
  double last_ = 0; ///< when it last looked
  Outcome outcome_;
};

} // namespace ptl::ranks
