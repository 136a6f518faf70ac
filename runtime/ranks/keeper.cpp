#include "runtime/ranks/keeper.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

namespace ptl::ranks {

static constexpr double kLook = 0.1; ///< seconds between two looks

static double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

Keeper::Keeper(int listener, uint32_t expected, Limits limits, NameOf nameOf,
               std::vector<std::string> origin)
    : listener_(listener), expected_(expected), limits_(limits), nameOf_(std::move(nameOf)),
      origin_(std::move(origin)), last_(now()) {
  // All ranks of a large run may come at once, and none of them asks a second time.
  ::listen(listener_, 4096);
}

Keeper::~Keeper() {
  for (const Member &member : members_)
    ::close(member.socket);
  ::close(listener_);
}

void Keeper::launchedBy(pid_t launcher, bool isOwn) {
  launcher_ = Process(launcher);
  ownsLauncher_ = isOwn;
}

std::string Keeper::nameOf(const Member &member) const {
  return nameOf_(member.rank) + " (process " + std::to_string(member.process.pid()) + ")";
}

// ---- What ranks say ----------------------------------------------------------------------------

void Keeper::accept() {
  int socket = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
  ucred other{};
  socklen_t size = sizeof other;
  // A rank may be gone again before it is accepted.
  if (socket < 0)
    return;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &other, &size) != 0 ||
      other.uid != ::geteuid()) {
    ::close(socket);
    return;
  }
  Member &member = members_.emplace_back();
  member.socket = socket;
  member.process = Process(other.pid);
  if (isEnding_)
    sendMessage(socket, {Message::End, outcome_.code}, sayOnce());
}

/// Reads one message of a rank; false where it has closed its socket, which means that it is gone.
bool Keeper::hear(Member &member) {
  if (std::optional<Received> received = receiveMessage(member.socket)) {
    heard(member, received->message, received->text);
    return true;
  }
  return false;
}

void Keeper::heard(Member &member, const Message &message, const std::string &text) {
  switch (message.kind) {
  case Message::Come:
    member.rank = static_cast<uint32_t>(message.number);
    member.hasCome = true;
    ++come_;
    if (message.count > 0)
      expected_ = static_cast<uint32_t>(message.count);
    // The keeper did not start these processes itself, as under `mpirun`; the ancestor they share
    // is what has to end with them.
    if (!launcher_.isKnown() && !ownsLauncher_)
      launchedBy(launcherOf(member.process.pid()), false);
    break;
  case Message::State:
    member.activity = message.number;
    member.progress = message.count;
    break;
  case Message::Making:
    unfinished_.insert(text);
    break;
  case Message::Commits:
    // After a failure nothing is committed any more, even if a rank asks for it before it has
    // heard.
    if (isEnding_)
      break;
    isCommitting_ = true;
    sendMessage(member.socket, {Message::Go});
    break;
  case Message::Committed:
    outcome_.isCommitted = true;
    unfinished_.clear();
    break;
  case Message::Ends:
    member.hasEnded = true;
    member.code = message.number;
    // A failure that all ranks have alike is reported by the first one only.
    member.isShared = message.count != 0 && member.rank != 0;
    if (!member.isShared)
      fail({}, member.code);
    break;
  case Message::Done:
    member.isDone = true;
    break;
  case Message::Go:
  case Message::End:
    break;
  }
}

/// A rank is gone without having said that it would.
void Keeper::lost(const Member &member) {
  isOdd_ = true;
  // Once all have done their part, only the rank that puts the results into place is needed.
  if (outcome_.isCommitted || (isCommitting_ && member.rank != 0))
    return;
  if (member.hasEnded && !member.isShared)
    return;
  fail((member.hasCome ? nameOf(member) : "process " + std::to_string(member.process.pid())) +
           " is gone: it was killed, or has crashed",
       kStoppedCode);
}

// ---- The end -----------------------------------------------------------------------------------

void Keeper::fail(std::string why, int code) {
  if (isEnding_)
    return;
  isEnding_ = true;
  isOdd_ = true;
  // After the results are in place a late failure of a rank changes nothing for the caller.
  if (!outcome_.isCommitted) {
    outcome_.code = code;
    outcome_.why = std::move(why);
  }
  endAll();
}

void Keeper::endAll() {
  // Rank 0, while it puts results in place, is not disturbed: if it stopped in between, some results would be new and some old.
  bool isBetween = isCommitting_ && !outcome_.isCommitted;
  // Without a process that says it, the first rank that can does.
  const Member *speaker = nullptr;
  if (!ownsLauncher_ && !outcome_.why.empty())
    for (const Member &member : members_)
      if (!member.hasEnded && member.stopped == 0 && !(isBetween && member.rank == 0) &&
          (!speaker || member.rank < speaker->rank))
        speaker = &member;
  if (!speaker)
    return endOthers();
  // `mpirun` kills all ranks as soon as one ends with a code. The others are asked when this one is
  // gone, because it may not have said anything before.
  speaker_ = speaker->socket;
  sendMessage(speaker_, {Message::End, outcome_.code}, sayOnce());
}

/// Asks all ranks to end but the one that says why.
void Keeper::endOthers() {
  int speaker = std::exchange(speaker_, -1);
  bool isBetween = isCommitting_ && !outcome_.isCommitted;
  for (const Member &member : members_)
    if ((!member.hasEnded || member.isShared) && !(isBetween && member.rank == 0) &&
        member.socket != speaker)
      sendMessage(member.socket, {Message::End, outcome_.code}, {});
}

/// Why the run ends, for the one rank that says it: where none was there yet, the first that comes.
std::string Keeper::sayOnce() {
  bool isSaid = std::exchange(isSaid_, true);
  return isSaid || ownsLauncher_ || outcome_.why.empty() ? std::string()
                                                         : "ptlc: error: " + outcome_.why + "\n";
}

void Keeper::removeUnfinished() {
  for (const std::string &path : unfinished_)
    ::unlink(path.c_str());
  unfinished_.clear();
}

/// Who was asked to end and does not is made to; then whatever has started the ranks.
void Keeper::pressOn(double seconds) {
  if (!isEnding_ && !(outcome_.isCommitted && isOdd_))
    return;
  // After success the results are in place, so ranks that are slow to end get more time.
  double step = isEnding_ ? limits_.end : 5 * limits_.end;
  // Each limit acts once, in the look in which the time goes past it.
  double before = ending_;
  ending_ += seconds;
  auto passes = [&](double limit) { return before < limit && ending_ >= limit; };
  if (speaker_ >= 0 && passes(step / 3))
    endOthers();
  if (passes(step))
    for (const Member &member : members_)
      member.process.signal(SIGKILL);
  // A process that never reported may be any other program of the same launcher; only those of this program are stopped.
  if (passes(step))
    for (pid_t pid : candidates())
      if (programOf(pid) == programOf(::getpid()))
        ::kill(pid, SIGKILL);
  if (members_.empty() || ending_ >= step)
    removeUnfinished();
  if (passes(launcherStopped_ > 0 ? step : 2 * step)) {
    launcher_.signal(SIGTERM);
    launcher_.signal(SIGCONT);
  }
  if (passes(3 * step))
    launcher_.signal(SIGKILL);
}

// ---- What ranks do not say ---------------------------------------------------------------------

/// Stopped by a signal, while another goes on: nobody would ever wait long enough.
void Keeper::lookForStopped(double seconds) {
  size_t stopped = 0;
  for (Member &member : members_) {
    bool isStopped = member.process.isStopped();
    member.stopped = isStopped ? member.stopped + seconds : 0;
    stopped += isStopped;
  }
  bool isBetween = isCommitting_ && !outcome_.isCommitted;
  if (stopped < members_.size())
    for (const Member &member : members_)
      if (member.stopped >= limits_.stopped && (!isBetween || member.rank == 0)) {
        fail(nameOf(member) + " was stopped by a signal, and others wait for it", kStoppedCode);
        return;
      }
  launcherStopped_ = ownsLauncher_ && launcher_.isStopped() ? launcherStopped_ + seconds : 0;
  if (launcherStopped_ >= limits_.stopped)
    fail("mpirun (process " + std::to_string(launcher_.pid()) + ") was stopped by a signal",
         kStoppedCode);
}

/// The processes of this run that have not come, and may be ranks or become some.
std::vector<pid_t> Keeper::candidates() const {
  std::vector<pid_t> found;
  if (origin_.empty())
    return found;
  std::string own = programOf(::getpid()), launchers = programOf(launcher_.pid());
  forEachProcess([&](pid_t pid) {
    if (pid == launcher_.pid() || pid == ::getpid() || !beganWith(pid, origin_))
      return;
    for (const Member &member : members_)
      if (member.process.pid() == pid)
        return;
    // Of those that a launcher of our own has started, what is no rank yet is going to be one.
    std::string program = programOf(pid);
    if (!ownsLauncher_ || program == own || program == launchers)
      found.push_back(pid);
  });
  return found;
}

/// A rank may be killed or stopped before it comes here. The others would begin MPI for ever.
void Keeper::lookForMissing(double seconds) {
  if (expected_ == 0 || come_ >= expected_ || origin_.empty())
    return;
  std::vector<pid_t> others = candidates();
  sawCandidate_ |= !others.empty();
  // A process that a signal has stopped (state T) will not report, so it does not count as one that is still on its way.
  std::erase_if(others, [](pid_t pid) { return stateOf(pid).letter == 'T'; });
  bool isMissing = hasLaunched() && come_ + others.size() < expected_;
  // A process that is slow to begin is among the candidates; time counts only while there are too few of them.
  missing_ = isMissing ? missing_ + seconds : 0;
  if (missing_ < limits_.missing)
    return;
  std::set<uint32_t> there;
  for (const Member &member : members_)
    there.insert(member.rank);
  std::string names;
  for (uint32_t rank = 0; rank < expected_; ++rank)
    if (!there.contains(rank))
      names += (names.empty() ? "" : ", ") + nameOf_(rank);
  isOdd_ = true;
  fail(names + (expected_ - come_ > 1 ? " are" : " is") +
           " gone before MPI began: killed, stopped, or ended at the start",
       kStoppedCode);
}

/// Everybody waits, and nothing moves: what one waits for was never sent.
void Keeper::lookForStandstill(double seconds) {
  if (expected_ == 0 || come_ < expected_ || isCommitting_ || members_.empty())
    return;
  uint64_t sum = 0;
  bool moves = false, isBeginning = false;
  for (const Member &member : members_) {
    moves |= member.isDone || member.hasEnded || member.activity == kWorks;
    // The start of MPI may take much longer than a step between ranks, and shows no progress
    // meanwhile.
    isBeginning |= member.activity == kBegins;
    sum += member.progress;
  }
  standstill_ = moves || sum != lastSum_ ? 0 : standstill_ + seconds;
  lastSum_ = sum;
  double limit = isBeginning ? std::max(limits_.begin, limits_.patience) : limits_.patience;
  if (standstill_ < limit)
    return;
  std::string text = "no data has arrived for " + std::to_string(static_cast<int64_t>(limit)) +
                     " seconds (--patience)";
  for (size_t i = 0; i < std::min<size_t>(members_.size(), 8); ++i) {
    const Member &member = members_[i];
    text += (i ? ", " : ": ") + nameOf(member);
    text += member.activity == kBegins ? " begins MPI"
            : member.activity == kWaitsForAll
                ? " is done"
                : " waits for " + nameOf_(static_cast<uint32_t>(member.activity));
  }
  fail(text, kStoppedCode);
}

/// What several ranks would say the first one says; if it waits instead, the run ends without it.
void Keeper::lookForSharedEnd(double seconds) {
  const Member *shared = nullptr, *first = nullptr;
  for (const Member &member : members_) {
    if (member.isShared)
      shared = &member;
    if (member.rank == 0)
      first = &member;
  }
  bool isWaiting = shared && !(first && first->activity == kWorks);
  shared_ = isWaiting ? shared_ + seconds : 0;
  if (shared_ >= limits_.stopped)
    fail(first ? nameOf(*shared) + " has stopped, and the first one waits" : "", shared->code);
}

/// What has come; ranks whose sockets are closed are gone.
void Keeper::hearAll(const std::vector<pollfd> &news) {
  std::vector<Member> gone;
  for (size_t i = members_.size(); i-- > 0;)
    if (news[i + 1].revents && !hear(members_[i])) {
      gone.push_back(std::move(members_[i]));
      members_.erase(members_.begin() + static_cast<ptrdiff_t>(i));
    }
  for (const Member &member : gone) {
    ::close(member.socket);
    if (member.socket == speaker_)
      endOthers();
    if (!member.isDone && !isEnding_)
      lost(member);
  }
  if (news[0].revents)
    accept();
}

void Keeper::look() {
  std::vector<pollfd> news = {{listener_, POLLIN, 0}};
  for (const Member &member : members_)
    news.push_back({member.socket, POLLIN, 0});
  if (::poll(news.data(), news.size(), static_cast<int>(kLook * 1000)) > 0)
    hearAll(news);
  double passed = now() - last_;
  if (passed < kLook / 2)
    return;
  last_ += passed;
  // However long this process was kept from running counts as two looks at most.
  double seconds = std::min(passed, 2 * kLook);
  idle_ = members_.empty() ? idle_ + seconds : 0;
  if (!isEnding_) {
    lookForStopped(seconds);
    lookForMissing(seconds);
    lookForStandstill(seconds);
    lookForSharedEnd(seconds);
  }
  pressOn(seconds);
}

} // namespace ptl::ranks
