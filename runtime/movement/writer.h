// Helpers by which the algorithms write their steps.
#pragma once

#include "runtime/movement/step_list.h"

#include <functional>
#include <utility>

namespace ptl::movement {

/// A box of a buffer.
struct Piece {
  uint32_t buffer = 0;
  Box box;
};

/// Adds steps to the list of one rank. Empty boxes need no step; both sides of a message see the
/// same boxes, so both leave it out.
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
  /// Sends all pieces in one message.
  void send(uint32_t peer, std::vector<Piece> pieces) {
    size_t first = steps_.steps.size();
    for (Piece &piece : pieces)
      send(piece.buffer, peer, std::move(piece.box));
    join(first);
  }
  void receive(uint32_t peer, std::vector<Piece> pieces) {
    size_t first = steps_.steps.size();
    for (Piece &piece : pieces)
      receive(piece.buffer, peer, std::move(piece.box));
    join(first);
  }

private:
  void add(Step step) {
    if (elementCount(step.box) > 0)
      steps_.steps.push_back(std::move(step));
  }
  void join(size_t first) {
    for (; first + 1 < steps_.steps.size(); ++first)
      steps_.steps[first].isJoined = true;
  }

  StepList &list_;
  uint32_t rank_;
  RankSteps &steps_;
};

/// An ordered group of ranks, in which the writer's own rank has number `me`.
struct Group {
  std::vector<uint32_t> ranks;
  uint32_t me = 0;
  uint32_t size() const { return static_cast<uint32_t>(ranks.size()); }
};
inline Group allRanks(const Writer &w) {
  Group all{{}, w.rank()};
  for (uint32_t rank = 0; rank < w.ranks(); ++rank)
    all.ranks.push_back(rank);
  return all;
}

/// The two groups of a rank in two-level algorithms: its neighbours, and the ranks at the same
/// place of other groups.
struct TwoLevels {
  uint32_t inner = 1, outer = 1;
  Group beside, across;
};
inline TwoLevels twoLevelsOf(const Writer &w) {
  uint32_t inner = innerRanks(w.request());
  TwoLevels levels{inner, w.ranks() / inner, {{}, w.rank() % inner}, {{}, w.rank() / inner}};
  for (uint32_t place = 0; place < inner; ++place)
    levels.beside.ranks.push_back(levels.across.me * inner + place);
  for (uint32_t group = 0; group < levels.outer; ++group)
    levels.across.ranks.push_back(group * inner + levels.beside.me);
  return levels;
}

/// The block along an axis that the rank at a place of a group owns, and those that the ranks at the
/// place own in all groups.
inline Box blockAt(const Writer &w, const TwoLevels &levels, size_t axis, uint32_t group,
                   uint32_t place) {
  return partBox(w.request().shape, axis, w.ranks(), group * levels.inner + place);
}
inline std::vector<Box> blocksAtPlace(const Writer &w, const TwoLevels &levels, size_t axis,
                                      uint32_t place) {
  std::vector<Box> boxes;
  for (uint32_t group = 0; group < levels.outer; ++group)
    boxes.push_back(blockAt(w, levels, axis, group, place));
  return boxes;
}

/// All pairs within a group, by their numbers there: a message to every other rank and one from it,
/// in rounds that end with the receive, or with all sends first.
template <typename Send, typename Receive>
void exchange(const Group &group, bool allAtOnce, Send send, Receive receive) {
  uint32_t n = group.size(), me = group.me;
  for (uint32_t round = 1; round < n; ++round) {
    send((me + round) % n);
    if (!allAtOnce)
      receive((me + n - round) % n);
  }
  for (uint32_t round = 1; allAtOnce && round < n; ++round)
    receive((me + n - round) % n);
}

/// Blocks `first` to `last` (excluded) along an axis that is cut over all ranks.
inline Box blocksOf(const Request &request, size_t axis, uint32_t first, uint32_t last) {
  Box box = wholeBox(request.shape);
  box[axis] = {blockOf(request.shape[axis], request.ranks, first).begin,
               blockOf(request.shape[axis], request.ranks, int64_t(last) - 1).end};
  return box;
}

} // namespace ptl::movement
