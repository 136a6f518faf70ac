// Makes the steps of each algorithm.
#include "runtime/movement/step_list.h"

#include <algorithm>
#include <bit>

namespace ptl::movement {

namespace {

/// Adds steps to the list of one rank. What has no elements needs no step; both sides of a message
/// see the same box, so both leave it out.
class Writer {
public:
  Writer(StepList &list, uint32_t rank) : list_(list), rank_(rank), steps_(list.ranks[rank]) {
    steps_.buffers = {sourceBoxOf(list.request, rank), resultBoxOf(list.request, rank)};
  }

  uint32_t rank() const { return rank_; }
  uint32_t ranks() const { return list_.request.ranks; }
  const Request &request() const { return list_.request; }
  const Box &result() const { return steps_.buffers[kResultBuffer]; }
  uint32_t scratch(Box box) {
    steps_.buffers.push_back(std::move(box));
    return static_cast<uint32_t>(steps_.buffers.size() - 1);
  }
  void send(uint32_t from, uint32_t peer, Box box) {
    add({StepKind::Send, 0, from, peer, std::move(box)});
  }
  void receive(uint32_t to, uint32_t peer, Box box) {
    add({StepKind::Receive, to, 0, peer, std::move(box)});
  }
  void copy(uint32_t to, uint32_t from, Box box) {
    add({StepKind::Copy, to, from, 0, std::move(box)});
  }
  void combine(uint32_t to, uint32_t from, Box box, bool fromFirst = false) {
    add({StepKind::Combine, to, from, 0, std::move(box), fromFirst});
  }

private:
  void add(Step step) {
    if (elementCount(step.box) > 0)
      steps_.steps.push_back(std::move(step));
  }

  StepList &list_;
  uint32_t rank_;
  RankSteps &steps_;
};

/// Each with each other: a message to every other rank and one from it, in rounds that end with what
/// came, or all that goes first.
template <typename Send, typename Receive>
void exchange(const Writer &w, bool allAtOnce, Send send, Receive receive) {
  uint32_t n = w.ranks(), me = w.rank();
  for (uint32_t round = 1; round < n; ++round) {
    send((me + round) % n);
    if (!allAtOnce)
      receive((me + n - round) % n);
  }
  for (uint32_t round = 1; allAtOnce && round < n; ++round)
    receive((me + n - round) % n);
}

// ---- Sums at their owners ------------------------------------------------------------------------

/// Every rank gets the summands of its block along `axis` from all others and adds them. Its own is
/// added from where it lies, and the sum comes to be in the result.
void sumAtOwners(Writer &w, size_t axis, bool allAtOnce) {
  const Request &request = w.request();
  uint32_t n = w.ranks(), me = w.rank();
  auto block = [&](uint32_t part) { return partBox(request.shape, axis, n, part); };
  if (n == 1)
    return w.copy(kResultBuffer, kSourceBuffer, block(me));
  uint32_t first = me == 0 ? 1 : 0; // The leftmost that comes from elsewhere.
  std::vector<uint32_t> summands;
  for (uint32_t part = 0; part < n; ++part)
    summands.push_back(part == me      ? kSourceBuffer
                       : part == first ? kResultBuffer
                                       : w.scratch(block(me)));
  exchange(
      w, allAtOnce, [&](uint32_t to) { w.send(kSourceBuffer, to, block(to)); },
      [&](uint32_t from) { w.receive(summands[from], from, block(me)); });
  // A tree over the numbers of the parts: the order of additions depends neither on who adds nor on when messages come.
  for (uint32_t distance = 1; distance < n; distance *= 2)
    for (uint32_t left = 0; left + distance < n; left += 2 * distance) {
      uint32_t &a = summands[left], b = summands[left + distance];
      // The source is only read: where it is the left summand, the sum goes to the right one.
      bool isOwn = a == kSourceBuffer;
      w.combine(isOwn ? b : a, isOwn ? a : b, block(me), isOwn);
      a = isOwn ? b : a;
    }
}

// ---- Gathering -----------------------------------------------------------------------------------

/// Where a rank has its own block of what is gathered: what comes from elsewhere is in the result.
struct OwnBlock {
  uint32_t buffer = kResultBuffer;
  /// Into the result, after it has been sent: meanwhile it is on its way.
  void place(Writer &w) const {
    if (buffer != kResultBuffer)
      w.copy(kResultBuffer, buffer, sourceBoxOf(w.request(), w.rank()));
  }
};

/// What each rank has of the result goes round.
void passRound(Writer &w, size_t axis, OwnBlock own) {
  uint32_t n = w.ranks(), me = w.rank();
  auto block = [&](uint32_t part) { return partBox(w.request().shape, axis, n, part % n); };
  for (uint32_t round = 0; round + 1 < n; ++round) {
    w.send(round == 0 ? own.buffer : kResultBuffer, (me + 1) % n, block(me + n - round));
    if (round == 0)
      own.place(w);
    w.receive(kResultBuffer, (me + n - 1) % n, block(me + n - round - 1));
  }
  if (n == 1)
    own.place(w);
}

/// Blocks `first` and the `count - 1` behind it, round the end: at most two boxes.
std::vector<Box> blocksFrom(const Request &request, size_t axis, uint32_t first, uint32_t count) {
  std::vector<Box> boxes;
  uint32_t n = request.ranks;
  first %= n;
  // Blocks up to the last one are one box, and those that begin again at block 0 another one.
  uint32_t straight = std::min(count, n - first);
  auto add = [&](uint32_t begin, uint32_t blocks) {
    if (blocks == 0)
      return;
    Box box = partBox(request.shape, axis, n, begin);
    box[axis].end = blockOf(request.shape[axis], n, begin + blocks - 1).end;
    boxes.push_back(std::move(box));
  };
  add(first, straight);
  add(0, count - straight);
  return boxes;
}

/// Whoever has the blocks behind its own gives them to who stands before: twice as many each time.
void gatherByDoubling(Writer &w, size_t axis, OwnBlock own) {
  uint32_t n = w.ranks(), me = w.rank();
  if (n == 1)
    own.place(w);
  for (uint32_t have = 1; have < n; have *= 2) {
    uint32_t count = std::min(have, n - have);
    for (Box &box : blocksFrom(w.request(), axis, me, count))
      w.send(have == 1 ? own.buffer : kResultBuffer, (me + n - have % n) % n, std::move(box));
    if (have == 1)
      own.place(w);
    for (Box &box : blocksFrom(w.request(), axis, me + have, count))
      w.receive(kResultBuffer, (me + have) % n, std::move(box));
  }
}

void gatherPairwise(Writer &w, size_t axis, bool allAtOnce, OwnBlock own) {
  uint32_t n = w.ranks(), me = w.rank(), left = n - 1;
  auto block = [&](uint32_t part) { return partBox(w.request().shape, axis, n, part); };
  exchange(
      w, allAtOnce,
      [&](uint32_t to) {
        w.send(own.buffer, to, block(me));
        if (--left == 0)
          own.place(w);
      },
      [&](uint32_t from) { w.receive(kResultBuffer, from, block(from)); });
  if (n == 1)
    own.place(w);
}

void allGather(Writer &w, Algorithm algorithm) {
  size_t axis = w.request().fromAxis;
  OwnBlock own{kSourceBuffer};
  if (algorithm == Algorithm::Ring)
    passRound(w, axis, own);
  else if (algorithm == Algorithm::Doubling)
    gatherByDoubling(w, axis, own);
  else
    gatherPairwise(w, axis, algorithm == Algorithm::Mesh, own);
}

// ---- Trees ---------------------------------------------------------------------------------------

/// From the root, which has it in buffer `ofRoot`, along a binomial tree; ranks are counted from the root.
void broadcastResult(Writer &w, uint32_t root, uint32_t ofRoot) {
  uint32_t n = w.ranks(), me = (w.rank() + n - root) % n;
  auto rankOf = [&](uint32_t place) { return (place + root) % n; };
  uint32_t lowest = me == 0 ? std::bit_ceil(n) : me & (~me + 1);
  if (me != 0)
    w.receive(kResultBuffer, rankOf(me - lowest), w.result());
  for (uint32_t distance = lowest / 2; distance > 0; distance /= 2)
    if (me + distance < n)
      w.send(me == 0 ? ofRoot : kResultBuffer, rankOf(me + distance), w.result());
}

/// The sum of all comes to rank 0.
void sumAtRoot(Writer &w) {
  uint32_t n = w.ranks(), me = w.rank();
  uint32_t theirs = w.scratch(w.result());
  for (uint32_t distance = 1; distance < n; distance *= 2) {
    if (me & distance) {
      w.send(kResultBuffer, me - distance, w.result());
      return;
    }
    if (me + distance < n) {
      w.receive(theirs, me + distance, w.result());
      w.combine(kResultBuffer, theirs, w.result());
    }
  }
}

/// The first summand is sent from where it lies, and added to what has come into the result.
void sumByDoubling(Writer &w) {
  uint32_t me = w.rank();
  if (w.ranks() == 1)
    return w.copy(kResultBuffer, kSourceBuffer, w.result());
  w.send(kSourceBuffer, me ^ 1, w.result());
  w.receive(kResultBuffer, me ^ 1, w.result());
  w.combine(kResultBuffer, kSourceBuffer, w.result(), (me & 1) == 0);
  uint32_t theirs = w.ranks() > 2 ? w.scratch(w.result()) : kResultBuffer;
  for (uint32_t distance = 2; distance < w.ranks(); distance *= 2) {
    w.send(kResultBuffer, me ^ distance, w.result());
    w.receive(theirs, me ^ distance, w.result());
    w.combine(kResultBuffer, theirs, w.result(), (me & distance) != 0);
  }
}

/// The axis that an all-reduce cuts for its owners: the longest.
size_t longestAxis(const std::vector<int64_t> &shape) {
  return static_cast<size_t>(std::max_element(shape.begin(), shape.end()) - shape.begin());
}

void allReduce(Writer &w, Algorithm algorithm) {
  if (algorithm == Algorithm::Ring || algorithm == Algorithm::Mesh) {
    size_t axis = longestAxis(w.request().shape);
    sumAtOwners(w, axis, algorithm == Algorithm::Mesh);
    if (algorithm == Algorithm::Ring)
      passRound(w, axis, {});
    else
      gatherPairwise(w, axis, true, {});
    return;
  }
  if (algorithm == Algorithm::Doubling) {
    sumByDoubling(w);
    return;
  }
  w.copy(kResultBuffer, kSourceBuffer, w.result());
  sumAtRoot(w);
  broadcastResult(w, 0, kResultBuffer);
}

/// Each gives each what `between` says of the two. What stays where it is is copied when all is on its way.
template <typename Between> void sendThenPlace(Writer &w, bool allAtOnce, Between between) {
  uint32_t me = w.rank(), left = w.ranks() - 1;
  auto place = [&] { w.copy(kResultBuffer, kSourceBuffer, between(me, me)); };
  exchange(
      w, allAtOnce,
      [&](uint32_t to) {
        w.send(kSourceBuffer, to, between(me, to));
        if (--left == 0)
          place();
      },
      [&](uint32_t from) { w.receive(kResultBuffer, from, between(from, me)); });
  if (w.ranks() == 1)
    place();
}

/// The rows that a rank has for another.
Box rowsBetween(const Request &request, uint32_t from, uint32_t to) {
  return {{from, from + 1},
          {to, to + 1},
          {0, request.counts[size_t(from) * request.ranks + to]},
          {0, request.shape[3]}};
}

void moveRows(Writer &w, bool allAtOnce) {
  const Request &request = w.request();
  sendThenPlace(w, allAtOnce,
                [&](uint32_t from, uint32_t to) { return rowsBetween(request, from, to); });
}

void allToAll(Writer &w, bool allAtOnce) {
  const Request &request = w.request();
  auto between = [&](uint32_t from, uint32_t to) {
    return intersection(sourceBoxOf(request, from), resultBoxOf(request, to));
  };
  sendThenPlace(w, allAtOnce, between);
}

/// Who gives a rank the elements of a box that some ranks have: itself if it can, else one of them,
/// not the same for all.
uint32_t giverOf(const Request &request, const Box &box, uint32_t to) {
  if (request.sources[to] == box)
    return to;
  std::vector<uint32_t> owners;
  for (uint32_t rank = 0; rank < request.ranks; ++rank)
    if (request.sources[rank] == box)
      owners.push_back(rank);
  return owners[to % owners.size()];
}

void moveBoxes(Writer &w, bool allAtOnce) {
  const Request &request = w.request();
  auto between = [&](uint32_t from, uint32_t to) {
    const Box &box = request.sources[from];
    bool gives = elementCount(box) > 0 && giverOf(request, box, to) == from;
    return gives ? intersection(box, request.results[to]) : Box{{0, 0}};
  };
  sendThenPlace(w, allAtOnce, between);
}

void broadcast(Writer &w) {
  broadcastResult(w, w.request().root, kSourceBuffer);
  if (w.rank() == w.request().root)
    // The tree adds up in the result, because what a rank is given must not change.
    w.copy(kResultBuffer, kSourceBuffer, w.result());
}

} // namespace

// ---- Requests ------------------------------------------------------------------------------------

Box sourceBoxOf(const Request &request, uint32_t rank) {
  Box whole = wholeBox(request.shape);
  switch (request.kind) {
  case Kind::AllGather:
  case Kind::AllToAll:
    return partBox(request.shape, request.fromAxis, request.ranks, rank);
  case Kind::Broadcast:
    if (rank != request.root)
      for (Interval &interval : whole)
        interval.end = 0;
    return whole;
  case Kind::Boxes:
    return request.sources[rank];
  case Kind::Rows:
    return partBox(request.shape, 0, request.ranks, rank);
  case Kind::AllReduce:
  case Kind::ReduceScatter:
    return whole;
  }
  __builtin_unreachable();
}

Box resultBoxOf(const Request &request, uint32_t rank) {
  if (request.kind == Kind::Boxes)
    return request.results[rank];
  if (request.kind == Kind::Rows)
    return partBox(request.shape, 1, request.ranks, rank);
  bool isCut = request.kind == Kind::ReduceScatter || request.kind == Kind::AllToAll;
  return isCut ? partBox(request.shape, request.toAxis, request.ranks, rank)
               : wholeBox(request.shape);
}

std::vector<Box> writtenBoxesOf(const Request &request, uint32_t rank) {
  if (request.kind != Kind::Rows)
    return {resultBoxOf(request, rank)};
  std::vector<Box> boxes;
  for (uint32_t from = 0; from < request.ranks; ++from)
    boxes.push_back(rowsBetween(request, from, rank));
  return boxes;
}

std::string_view algorithmName(Algorithm algorithm) {
  constexpr std::string_view names[] = {"pairwise", "ring", "doubling", "tree", "mesh"};
  return names[static_cast<size_t>(algorithm)];
}

static std::vector<Algorithm> allFor(const Request &request) {
  switch (request.kind) {
  case Kind::AllGather:
    return {Algorithm::Ring, Algorithm::Doubling, Algorithm::Pairwise, Algorithm::Mesh};
  case Kind::AllReduce: {
    std::vector<Algorithm> all = {Algorithm::Tree};
    if (std::has_single_bit(request.ranks))
      all.push_back(Algorithm::Doubling);
    if (!request.shape.empty())
      all.insert(all.end(), {Algorithm::Ring, Algorithm::Mesh});
    return all;
  }
  case Kind::Broadcast:
    return {Algorithm::Tree};
  case Kind::ReduceScatter:
  case Kind::AllToAll:
  case Kind::Boxes:
  case Kind::Rows:
    return {Algorithm::Pairwise, Algorithm::Mesh};
  }
  __builtin_unreachable();
}

std::vector<Algorithm> algorithmsFor(const Request &request) {
  std::vector<Algorithm> all = allFor(request);
  if (request.wanted && std::ranges::find(all, *request.wanted) != all.end())
    return {*request.wanted};
  return all;
}

std::optional<Algorithm> algorithmNamed(std::string_view name) {
  for (Algorithm algorithm : {Algorithm::Pairwise, Algorithm::Ring, Algorithm::Doubling,
                              Algorithm::Tree, Algorithm::Mesh})
    if (algorithmName(algorithm) == name)
      return algorithm;
  return std::nullopt;
}

StepList makeSteps(const Request &request, Algorithm algorithm) {
  StepList list{request, algorithm, std::vector<RankSteps>(request.ranks)};
  bool allAtOnce = algorithm == Algorithm::Mesh;
  for (uint32_t rank = 0; rank < request.ranks; ++rank) {
    Writer w(list, rank);
    switch (request.kind) {
    case Kind::AllReduce:
      allReduce(w, algorithm);
      break;
    case Kind::ReduceScatter:
      sumAtOwners(w, request.toAxis, allAtOnce);
      break;
    case Kind::AllGather:
      allGather(w, algorithm);
      break;
    case Kind::AllToAll:
      allToAll(w, allAtOnce);
      break;
    case Kind::Broadcast:
      broadcast(w);
      break;
    case Kind::Boxes:
      moveBoxes(w, allAtOnce);
      break;
    case Kind::Rows:
      moveRows(w, allAtOnce);
      break;
    }
  }
  return list;
}

int64_t mostElementsSent(const StepList &list) {
  int64_t most = 0;
  for (const RankSteps &rank : list.ranks) {
    int64_t sent = 0;
    for (const Step &step : rank.steps)
      if (step.kind == StepKind::Send)
        sent += elementCount(step.box);
    most = std::max(most, sent);
  }
  return most;
}

} // namespace ptl::movement
