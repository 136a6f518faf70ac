#include "runtime/sim/time/analysis.h"
#include "runtime/sim/time/analysis_tasks.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

namespace ptl::rt::sim {
namespace {

class Analyser {
public:
  Analyser(const Timeline &timeline, Analysis &result) : t_(timeline), result_(result) {
    workAt_.resize(t_.records.size());
    for (uint32_t i = 0; i < workAt_.size(); ++i) {
      // Instructions are found from any record of their lane in one step.
      uint32_t before = t_.records[i].before;
      workAt_[i] = isWork(i) ? i : before == kNoRecord ? kNoRecord : workAt_[before];
    }
  }

  void lanes();
  void path();
  void weighRepeats();
  void addAlike();
  void sumUp();
  void group();

private:
  const Site &siteOf(uint32_t record) const { return t_.sites[t_.records[record].site]; }
  bool isWork(uint32_t record) const { return siteOf(record).isWork(); }
  bool onScalar(uint32_t record) const { return t_.lanes[t_.records[record].lane].pipe == Pipe::S; }
  Gap gapBefore(uint32_t record, Cycles since) const;
  uint32_t blockerOf(uint32_t wait) const;
  uint32_t stepBack(uint32_t record);
  uint32_t beforeBlock(uint32_t block);
  uint32_t endOfBlock(uint32_t block, Cycles until);
  uint32_t beforeTask(uint32_t task, Cycles until);
  uint32_t endOfTask(uint32_t task, Cycles until);
  uint32_t endAlike(uint32_t task, Cycles until);
  void noteTask(uint32_t task);
  void piece(PathPiece::Kind kind, uint32_t record, Cycles start, Cycles end);
  void endPiece(uint32_t record, Cycles until);

  const Timeline &t_;
  Analysis &result_;
  LargeVector<uint32_t> workAt_;     ///< the last instruction at or before each record of its lane
  std::map<uint32_t, Cycles> alike_; ///< on the path, of tasks that ran like this one
};

/// The instruction for which a waiting operation waited.
uint32_t Analyser::blockerOf(uint32_t wait) const {
  uint32_t other = t_.records[wait].waitedFor;
  // The scalar unit was held up by something itself.
  // The limit ends cycles of scalar units that wait for each other.
  for (int depth = 0; other != kNoRecord && onScalar(other) && depth < 8; ++depth)
    other = t_.records[other].waitedFor;
  return other == kNoRecord ? kNoRecord : workAt_[other];
}

/// The gap that ends with an instruction: of the operations in it, the one that waited longest is
/// the cause.
Gap Analyser::gapBefore(uint32_t record, Cycles since) const {
  Gap gap;
  gap.lane = t_.records[record].lane;
  gap.start = since;
  gap.end = t_.records[record].start;
  gap.next = gap.wait = record;
  Cycles longest = -1;
  for (uint32_t each = record; each != kNoRecord; each = t_.records[each].before) {
    const Record &r = t_.records[each];
    // Behind the instruction before, the operations belong to another gap.
    if (each != record && (isWork(each) || r.window > 0))
      break;
    // Waiting before the gap began does not count for it.
    Cycles waited = r.start - std::max(r.ready, since);
    if (r.cause != Cause::None && waited > longest) {
      longest = waited;
      gap.wait = each;
      gap.cause = r.cause;
    }
  }
  gap.blocker = blockerOf(gap.wait);
  if (uint32_t other = t_.records[gap.wait].waitedFor;
      gap.cause == Cause::Scalar && other != kNoRecord &&
      t_.records[other].cause == Cause::Signals) // the scalar unit stood still itself
    gap.cause = Cause::Signals;
  return gap;
}

void Analyser::lanes() {
  std::vector<LaneUse> uses(t_.lanes.size());
  std::vector<Cycles> since(t_.lanes.size(), -1);
  for (uint32_t i = 0; i < t_.records.size(); ++i) {
    const Record &record = t_.records[i];
    LaneUse &use = uses[record.lane];
    Cycles &last = since[record.lane];
    // Rounds that stand for others have no records, but their time is no gap.
    if (record.window > 0) // not idle: rounds stand for others
      last = record.end;
    if (!isWork(i))
      continue;
    if (use.tasks == 0)
      use.first = record.start;
    Cycles from = std::max(last, t_.blocks[record.block].begun);
    // Differences of less than half a cycle are rounding.
    if (record.start > from + 0.5) {
      Gap gap = gapBefore(i, from);
      use.idle[gap.cause] += gap.end - gap.start;
      result_.gaps.push_back(gap);
    }
    ++use.tasks;
    use.busy += record.end - record.start;
    use.stall += record.stall;
    use.last = last = record.end;
  }
  for (size_t lane = 0; lane < uses.size(); ++lane)
    if (uses[lane].tasks) {
      uses[lane].lane = static_cast<uint16_t>(lane);
      result_.lanes.push_back(std::move(uses[lane]));
    }
  std::stable_sort(result_.gaps.begin(), result_.gaps.end(),
                   [](const Gap &a, const Gap &b) { return a.lane < b.lane; });
}

void Analyser::piece(PathPiece::Kind kind, uint32_t record, Cycles start, Cycles end) {
  if (end <= start)
    return;
  result_.path.push_back({kind, record, start, end});
}

/// Behind the last operation of a block: until its results are there, then what is not its own.
void Analyser::endPiece(uint32_t record, Cycles until) {
  // The tail is the latency of the last result.
  const Record &last = t_.records[record];
  Cycles settled = std::min(until, last.end + last.tail);
  piece(PathPiece::Kind::Scalar, record, settled, until);
  piece(PathPiece::Kind::Latency, record, last.end, settled);
}

/// A piece for repeated rounds passes its time on, as weight, to the pieces of the rounds that it
/// repeats, and has no weight itself.
void Analyser::weighRepeats() {
  std::vector<PathPiece> &path = result_.path;
  for (size_t i = 0; i < path.size(); ++i) {
    PathPiece &repeat = path[i];
    if (repeat.kind != PathPiece::Kind::Repeat)
      continue;
    // The window before the repeat holds the rounds that it stands for.
    Cycles begin = repeat.start - t_.records[repeat.record].window;
    double times = (repeat.end - repeat.start) / (repeat.start - begin);
    for (size_t j = i; j-- > 0 && path[j].end > begin;) {
      // Only the part of a piece that lies inside of the window is repeated.
      PathPiece &piece = path[j];
      Cycles inside = piece.end - std::max(piece.start, begin);
      piece.weight *= 1 + times * inside / (piece.end - piece.start);
    }
    repeat.weight = 0;
  }
}

/// The ways through tasks like which others on the path ran, as often as those did.
void Analyser::addAlike() {
  for (auto [task, cycles] : alike_) {
    const LaunchSpan &span = t_.launches[task];
    if (span.lastBlock == kNoTask || span.end <= span.begun)
      continue;
    std::vector<PathPiece> path;
    // The path so far is put aside, since `stepBack` writes to the result's path.
    std::swap(path, result_.path);
    const BlockSpan &block = t_.blocks[span.lastBlock];
    if (block.last != kNoRecord)
      endPiece(block.last, span.end);
    for (uint32_t record = block.last; record != kNoRecord;)
      record = stepBack(record);
    std::reverse(result_.path.begin(), result_.path.end());
    weighRepeats();
    piece(PathPiece::Kind::Dispatch, kNoRecord, span.begun, block.begun);
    for (PathPiece &piece : result_.path) {
      // The way stands for the time of all tasks like it.
      piece.weight *= cycles / (span.end - span.begun);
      path.push_back(piece);
    }
    std::swap(path, result_.path);
  }
}

void Analyser::sumUp() {
  for (const PathPiece &piece : result_.path) {
    std::string part(pathKindNames[static_cast<size_t>(piece.kind)]);
    if (isOfPipe(piece.kind)) {
      const Lane &lane = t_.lanes[t_.records[piece.record].lane];
      part = (lane.cube ? "aic " : "aiv ") + std::string(pipeName(lane.pipe)) +
             (piece.kind == PathPiece::Kind::Work ? "" : " " + part);
    }
    if (piece.weight <= 0 || piece.kind == PathPiece::Kind::Alike)
      continue;
    result_.pathByPart[part] += piece.length();
    if (piece.kind == PathPiece::Kind::Latency || piece.kind == PathPiece::Kind::Barrier)
      result_.latency += piece.length();
  }
}

/// One operation of the critical path, and what comes before it.
uint32_t Analyser::stepBack(uint32_t index) {
  using Kind = PathPiece::Kind;
  const Record &record = t_.records[index];
  if (record.window > 0) {
    piece(Kind::Repeat, index, record.start, record.end);
    Cycles ended =
        record.before == kNoRecord ? t_.blocks[record.block].begun : t_.records[record.before].end;
    piece(Kind::Scalar, index, ended, record.start);
    return record.before;
  }
  // An operation has its work first and its stall after that, and the path goes backwards.
  piece(Kind::Stall, index, record.end - record.stall, record.end);
  piece(isWork(index) ? Kind::Work : Kind::Events, index, record.start, record.end - record.stall);
  // The path follows what the operation waited for last, else its own lane.
  bool waited =
      record.cause != Cause::None && record.cause != Cause::Start && record.waitedFor != kNoRecord;
  uint32_t before = waited ? record.waitedFor : record.before;
  Cycles ended = before == kNoRecord ? t_.blocks[record.block].begun : t_.records[before].end;
  if (before != kNoRecord && record.cause == Cause::Barrier)
    piece(Kind::Barrier, index, ended, record.start);
  else if (before != kNoRecord && record.cause == Cause::Latency)
    piece(Kind::Latency, before, ended, record.start);
  else if (record.cause == Cause::Tile || record.cause == Cause::Slot ||
           record.cause == Cause::Signals || t_.sites[record.site].kind == StepKind::WaitCores) {
    // The time in the hub of signals is told apart from the way between cores.
    Cycles passed = std::min(ended + record.queued, record.start);
    piece(Kind::CrossCore, index, passed, record.start);
    piece(Kind::Signals, index, ended, passed);
  } else
    piece(Kind::Scalar, index, ended, record.start);
  return before;
}

void Analyser::path() {
  uint32_t last = kNoRecord;
  for (uint32_t i = 0; i < t_.records.size(); ++i)
    // The path ends with the result that is there last, which may come after its operation's end.
    if (last == kNoRecord ||
        t_.records[i].end + t_.records[i].tail > t_.records[last].end + t_.records[last].tail)
      last = i;
  if (last == kNoRecord)
    return;
  endPiece(last, t_.end);
  noteTask(t_.blocks[t_.records[last].block].launch);
  while (last != kNoRecord) {
    uint32_t before = stepBack(last);
    // The first operation of a block leads on to what its block waited for.
    last = before != kNoRecord ? before : beforeBlock(t_.records[last].block);
  }
  std::reverse(result_.path.begin(), result_.path.end());
  std::reverse(result_.tasks.path.begin(), result_.tasks.path.end());
  weighRepeats();
  addAlike();
  sumUp();
}

void Analyser::noteTask(uint32_t task) {
  std::vector<uint32_t> &path = result_.tasks.path;
  if (path.empty() || path.back() != task)
    path.push_back(task);
}

/// The operation before the first one of a block: it belongs to the block that had the core before,
/// or to what its task had waited for. Returns the operation from which the path continues, if
/// there is one.
uint32_t Analyser::beforeBlock(uint32_t number) {
  const BlockSpan &block = t_.blocks[number];
  if (!block.waited || block.before == kNoTask)
    return beforeTask(block.launch, block.begun);
  piece(PathPiece::Kind::Launch, kNoRecord, block.start, block.begun);
  return endOfBlock(block.before, block.start);
}

uint32_t Analyser::endOfBlock(uint32_t number, Cycles until) {
  const BlockSpan *block = &t_.blocks[number];
  if (t_.launches[block->launch].like != kNoTask)
    return endAlike(block->launch, until);
  noteTask(block->launch);
  // For a block that did not run itself: the block that ran in its place.
  // The block that really ran stands before it in the list.
  for (uint32_t other = number; block->isRepresented && other-- > 0;)
    if (t_.blocks[other].launch == block->launch && !t_.blocks[other].isRepresented &&
        t_.blocks[other].end <= until)
      block = &t_.blocks[other];
  if (block->last != kNoRecord) {
    endPiece(block->last, until);
    return block->last;
  }
  piece(PathPiece::Kind::Scalar, kNoRecord, block->begun, until);
  return beforeBlock(static_cast<uint32_t>(block - t_.blocks.data()));
}

uint32_t Analyser::beforeTask(uint32_t task, Cycles until) {
  using Kind = PathPiece::Kind;
  const LaunchSpan &span = t_.launches[task];
  if (span.cause == TaskCause::Start) {
    piece(Kind::Launch, kNoRecord, 0, until);
    return kNoRecord;
  }
  piece(Kind::Dispatch, kNoRecord, span.ready, until);
  if (span.cause == TaskCause::Dependence)
    return endOfTask(span.waitedFor, span.ready);
  // The orchestrator may have waited for a task before it submitted this one.
  Cycles since = std::max(span.awaited, t_.programBegun);
  piece(Kind::Submit, kNoRecord, since, span.ready);
  if (span.awaitedTask != kNoTask)
    return endOfTask(span.awaitedTask, since);
  piece(Kind::Launch, kNoRecord, 0, since);
  return kNoRecord;
}

uint32_t Analyser::endAlike(uint32_t task, Cycles until) {
  const LaunchSpan &span = t_.launches[task];
  noteTask(task);
  piece(PathPiece::Kind::Alike, kNoRecord, span.begun, until);
  alike_[span.like] += until - span.begun;
  return beforeTask(task, span.begun);
}

uint32_t Analyser::endOfTask(uint32_t task, Cycles until) {
  const LaunchSpan &span = t_.launches[task];
  if (span.like != kNoTask)
    return endAlike(task, until);
  if (span.lastBlock != kNoTask)
    return endOfBlock(span.lastBlock, until);
  noteTask(task);
  piece(PathPiece::Kind::Scalar, kNoRecord, span.begun, until);
  return beforeTask(task, span.begun);
}

void Analyser::group() {
  std::map<std::tuple<Pipe, bool, Cause, uint32_t, uint32_t, uint32_t>, GapGroup> groups;
  auto groupOf = [&](const Gap &gap) -> GapGroup & {
    uint32_t next = t_.records[gap.next].site, wait = t_.records[gap.wait].site;
    uint32_t blocker = gap.blocker == kNoRecord ? kNoRecord : t_.records[gap.blocker].site;
    const Lane &lane = t_.lanes[gap.lane];
    GapGroup &group = groups[{lane.pipe, lane.cube, gap.cause, next, wait, blocker}];
    group.pipe = lane.pipe;
    group.cube = lane.cube;
    group.cause = gap.cause;
    group.next = next;
    group.wait = wait;
    group.blocker = blocker;
    return group;
  };
  // A gap is critical if one of its operations is on the path.
  std::vector<bool> critical(t_.records.size());
  for (const PathPiece &piece : result_.path)
    if (piece.record != kNoRecord)
      critical[piece.record] = true;
  for (const Gap &gap : result_.gaps) {
    GapGroup &group = groupOf(gap);
    ++group.count;
    group.total += gap.end - gap.start;
    if (critical[gap.next] || critical[gap.wait])
      group.critical += gap.end - gap.start;
  }
  for (auto &[key, group] : groups)
    result_.groups.push_back(group);
  std::stable_sort(result_.groups.begin(), result_.groups.end(),
                   [](const GapGroup &a, const GapGroup &b) { return a.total > b.total; });
}

/// The time in which some core had a task.
Cycles timeAtWork(const Timeline &t) {
  std::vector<std::pair<Cycles, Cycles>> spans;
  for (const LaunchSpan &launch : t.launches)
    spans.push_back({launch.begun, launch.end});
  // The union of the intervals is measured, so that overlaps count once.
  std::sort(spans.begin(), spans.end());
  Cycles sum = 0, until = 0;
  for (auto [begun, end] : spans) {
    sum += std::max(0.0, end - std::max(begun, until));
    until = std::max(until, end);
  }
  return sum;
}

/// Cores that had something to do, vector and cube cores; with others that stood for some of them.
struct CoresAtWork {
  int32_t count[2] = {};
  bool isPart = false;
};

CoresAtWork coresAtWork(const Timeline &t) {
  CoresAtWork result;
  std::set<uint32_t> cores;
  for (const LaunchSpan &launch : t.launches)
    result.isPart |= launch.standing > 0 || launch.like != kNoTask;
  for (const BlockSpan &block : t.blocks)
    if (block.works)
      // The lanes of a core follow each other, so its first lane gives the core.
      cores.insert(block.cores.begin(), block.cores.end());
  for (uint32_t core : cores)
    ++result.count[t.lanes[core * kNumPipes].cube];
  return result;
}

void pipeUses(const Timeline &t, Analysis &result) {
  Cycles atWork = result.atWork;
  std::map<std::pair<bool, Pipe>, PipeUse> uses;
  for (size_t i = 0; i < t.lanes.size(); ++i)
    if (t.used[i])
      ++uses[{t.lanes[i].cube, t.lanes[i].pipe}].lanes;
  for (size_t i = 0; i < t.sites.size(); ++i)
    if (auto use = uses.find({t.sites[i].cube, t.sites[i].pipe}); use != uses.end())
      use->second.busy += t.totals[i].busy;
  CoresAtWork cores = coresAtWork(t);
  for (auto &[key, use] : uses) {
    auto &[cube, pipe] = key;
    use.cube = cube;
    use.pipe = pipe;
    // With groups that stand for others, only those that ran have lanes.
    if (cores.isPart)
      use.lanes = cores.count[cube];
    use.share = atWork > 0 ? use.busy / (atWork * std::max(cores.count[cube], 1)) : 0;
    result.pipes.push_back(use);
  }
  std::stable_sort(result.pipes.begin(), result.pipes.end(),
                   [](const PipeUse &a, const PipeUse &b) { return a.share > b.share; });
}

void countSignals(const Timeline &t, Analysis &result) {
  double signals = 0;
  for (size_t i = 0; i < t.sites.size(); ++i)
    signals += t.sites[i].signals * static_cast<double>(t.totals[i].count);
  result.signals = static_cast<uint64_t>(signals);
  if (result.atWork > 0) // where groups stand for others it may come to a little more than all
    result.signalUse = std::min(signals * t.signal / result.atWork, 1.0);
}

void balance(const Timeline &t, Analysis &result, int64_t groupsOfChip) {
  auto total = static_cast<double>(result.tasks.cores.size());
  if (t.blocks.empty() || total == 0)
    return;
  bool cube =
      std::any_of(t.launches.begin(), t.launches.end(), [](const auto &l) { return l.cube; });
  uint32_t cubes = 0, vectors = 0;
  for (size_t lane = 0; lane < t.lanes.size(); lane += kNumPipes)
    ++(t.lanes[lane].cube ? cubes : vectors);
  std::set<uint32_t> groups;
  Cycles sum = 0;
  for (const BlockSpan &block : t.blocks) {
    const LaunchSpan &launch = t.launches[block.launch];
    // A block's time counts with the share of the cores that it takes.
    sum += (block.end - block.begun) * static_cast<double>(block.cores.size()) / total;
    // A block without a point of the grid ends within a few operations of the scalar unit.
    if (block.end - block.begun < (launch.end - launch.begun) / 50)
      continue;
    uint32_t first = block.cores.front();
    // A vector core belongs to the group of its cube core.
    groups.insert(first < cubes || !cube ? first : (first - cubes) * cubes / vectors);
  }
  result.groupsAtWork = static_cast<int32_t>(groups.size());
  result.idleGroups = static_cast<int32_t>(groupsOfChip) - result.groupsAtWork;
  result.uneven = std::max(0.0, result.atWork - sum);
}

} // namespace

Analysis analyse(const Timeline &timeline, int64_t groupsOfChip) {
  Analysis result;
  result.tasks = analyseTasks(timeline);
  result.atWork = timeAtWork(timeline);
  pipeUses(timeline, result);
  countSignals(timeline, result);
  balance(timeline, result, groupsOfChip);
  Analyser analyser(timeline, result);
  analyser.lanes();
  analyser.path();
  analyser.group();
  return result;
}

int64_t groupsOfChip(const Timeline &timeline) {
  bool cube = std::any_of(timeline.sites.begin(), timeline.sites.end(),
                          [](const Site &site) { return site.cube; });
  return std::count_if(timeline.lanes.begin(), timeline.lanes.end(),
                       [&](const Lane &lane) { return lane.cube == cube && lane.pipe == Pipe::S; });
}

std::vector<BufferLife> buffersInUse(const Timeline &timeline) {
  struct Open {
    size_t life;
    bool read = false;
  };
  // An address of one memory has one buffer at a time.
  std::map<std::tuple<Place, bool, int64_t>, Open> open;
  std::vector<BufferLife> lives;
  for (const BufferAccess &access : timeline.accesses) {
    auto [place, fresh] =
        open.insert({{access.place, access.cube, access.address}, {lives.size()}});
    // A write after a read begins anew; writes before it add to what is there.
    if (fresh || (access.writes && place->second.read)) {
      place->second = {lives.size()};
      lives.push_back({access.place, access.cube, access.start, access.end, access.bytes});
    }
    BufferLife &life = lives[place->second.life];
    life.end = std::max(life.end, access.end);
    life.bytes = std::max(life.bytes, access.bytes);
    place->second.read |= !access.writes;
  }
  return lives;
}

std::string describeSite(const Site &site) {
  std::string place = toString(site.location);
  return "`" + site.name + "`" + (place.empty() ? "" : " (" + place + ")");
}

static std::string pipeOfSite(const Site &site) {
  return std::string(pipeName(site.pipe)) + " of the " + (site.cube ? "cube" : "vector") + " core";
}

std::string describeGap(const Timeline &timeline, const GapGroup &group) {
  const Site &next = timeline.sites[group.next], &wait = timeline.sites[group.wait];
  const Site *blocker = group.blocker == kNoRecord ? nullptr : &timeline.sites[group.blocker];
  std::string text = describeSite(next) + " waits for ";
  std::string other = blocker ? describeSite(*blocker) + " on " + pipeOfSite(*blocker) : "";
  switch (group.cause) {
  case Cause::Event:
    text += blocker ? other : "an event";
    if (!wait.why.empty())
      text += "; " + wait.why;
    break;
  case Cause::Tile:
    text += "a tile from " + (blocker ? other : "another core");
    break;
  case Cause::Slot:
    text += "a free slot of its queue" + (blocker ? ", kept until " + other : "");
    break;
  case Cause::Signals:
    text += "signals between cores that come before that of " + (blocker ? other : "another core");
    break;
  case Cause::Scalar:
  case Cause::Room:
    text += "the scalar unit" + (blocker ? ", which waited for " + other : " to issue it");
    break;
  case Cause::Latency:
    text += "the results of " + (blocker ? other : "the instruction before it");
    break;
  case Cause::Barrier:
    text += "a barrier" + (blocker ? ", and that for the results of " + other : "");
    break;
  case Cause::Start:
    text += "the kernel to begin";
    break;
  case Cause::None:
    text += "nothing";
    break;
  }
  return text;
}

static std::string percent(double share) { return std::to_string(std::lround(share * 100)) + " %"; }

/// The share of the critical path on which instructions wait to be issued, where that is more than
/// any pipe has of it; otherwise 0.
static double issueShare(const Analysis &analysis) {
  Cycles whole = 0, issue = 0, longest = 0;
  std::map<std::string, Cycles> pipes;
  for (const auto &[part, cycles] : analysis.pathByPart) {
    whole += cycles;
    if (part == "scalar unit")
      issue = cycles;
    else if (part.starts_with("aic ") || part.starts_with("aiv ")) // `aic mte1 events`
      longest = std::max(longest, pipes[part.substr(0, part.find(' ', 4))] += cycles);
  }
  return issue > longest && whole > 0 ? issue / whole : 0;
}

std::string describeBound(const Analysis &analysis) {
  if (analysis.pipes.empty())
    return "";
  if (double share = issueShare(analysis); share > 0)
    return "scalar-bound " + percent(share);
  const PipeUse &use = analysis.pipes.front();
  if (analysis.signalUse > use.share)
    return "signal-bound " + percent(analysis.signalUse);
  static constexpr std::string_view names[kNumPipes] = {"scalar", "vector", "cube", "move",
                                                        "load",   "store",  "store"};
  return std::string(names[static_cast<size_t>(use.pipe)]) + "-bound " + percent(use.share);
}

} // namespace ptl::rt::sim
