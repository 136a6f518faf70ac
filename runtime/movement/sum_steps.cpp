// Algorithms that add: reduce-scatter and all-reduce.
#include "runtime/movement/writer.h"

#include <algorithm>

namespace ptl::movement {

namespace {

using BoxesOf = std::function<std::vector<Box>(uint32_t number)>;

/// Every rank of a group gets the summands of its own boxes, `boxesOf(its number)`, from all others and adds
/// them. Summands of box `i` lie in buffer `from(number, i)`, and the sum of its own box `i` comes to be in
/// buffer `to[i]`. Its own summand is added from where it lies.
void sumAmong(Writer &w, const Group &group, bool allAtOnce, const BoxesOf &boxesOf,
              const std::function<uint32_t(uint32_t number, size_t box)> &from,
              const std::vector<uint32_t> &to) {
  uint32_t n = group.size(), me = group.me;
  std::vector<Box> own = boxesOf(me);
  if (n == 1) {
    for (size_t i = 0; i < own.size(); ++i)
      w.copy(to[i], from(me, i), own[i]);
    return;
  }
  uint32_t first = me == 0 ? 1 : 0; // The leftmost that comes from elsewhere.
  std::vector<std::vector<uint32_t>> summands(own.size());
  for (size_t i = 0; i < own.size(); ++i)
    for (uint32_t part = 0; part < n; ++part)
      summands[i].push_back(part == me ? from(me, i) : part == first ? to[i] : w.scratch(own[i]));
  exchange(
      group, allAtOnce,
      [&](uint32_t other) {
        std::vector<Piece> pieces;
        for (const Box &box : boxesOf(other))
          pieces.push_back({from(other, pieces.size()), box});
        w.send(group.ranks[other], std::move(pieces));
      },
      [&](uint32_t other) {
        std::vector<Piece> pieces;
        for (size_t i = 0; i < own.size(); ++i)
          pieces.push_back({summands[i][other], own[i]});
        w.receive(group.ranks[other], std::move(pieces));
      });
  for (size_t i = 0; i < own.size(); ++i)
    for (uint32_t distance = 1; distance < n; distance *= 2)
      for (uint32_t left = 0; left + distance < n; left += 2 * distance) {
        uint32_t &a = summands[i][left], b = summands[i][left + distance];
        bool isOwn = a == from(me, i);
        w.combine(isOwn ? b : a, isOwn ? a : b, own[i], isOwn);
        a = isOwn ? b : a;
      }
}

void sumAtOwners(Writer &w, size_t axis, bool allAtOnce) {
  sumAmong(
      w, allRanks(w), allAtOnce,
      [&](uint32_t part) {
        return std::vector<Box>{partBox(w.request().shape, axis, w.ranks(), part)};
      },
      [](uint32_t, size_t) { return kSourceBuffer; }, {kResultBuffer});
}

/// First among those that stand together, each for all blocks of those at its place; then among these. So
/// each block crosses between groups as one sum instead of many summands.
void sumByLevels(Writer &w, const TwoLevels &levels,
                 const std::function<std::vector<Box>(uint32_t place)> &boxesOf,
                 const std::function<Piece(uint32_t group)> &blockAt) {
  std::vector<uint32_t> sums;
  for (Box &box : boxesOf(levels.beside.me))
    sums.push_back(w.scratch(std::move(box)));
  sumAmong(w, levels.beside, true, boxesOf, [](uint32_t, size_t) { return kSourceBuffer; }, sums);
  sumAmong(
      w, levels.across, true, [&](uint32_t group) { return std::vector<Box>{blockAt(group).box}; },
      [&](uint32_t group, size_t) { return sums[blockAt(group).buffer]; }, {kResultBuffer});
}

/// Half of what is left goes to the partner each time, at distances 1, 2, 4 …: at the end every rank has the
/// sum of one block. Neighbours come first, as everywhere.
void sumByHalving(Writer &w, size_t axis) {
  uint32_t n = w.ranks(), me = w.rank();
  const Request &request = w.request();
  Box whole = wholeBox(request.shape);
  uint32_t sum = kSourceBuffer;
  for (uint32_t distance = 1; distance < n; distance *= 2) {
    uint32_t peer = me ^ distance;
    bool isLast = 2 * distance == n;
    // The sum so far is never written again where it is sent from; the last one belongs into the result.
    uint32_t theirs = isLast ? kResultBuffer : w.scratch(whole);
    std::vector<Piece> gone, kept;
    for (uint32_t block = 0; block < n; ++block)
      if (block % distance == me % distance) {
        bool isKept = (block & distance) == (me & distance);
        (isKept ? kept : gone)
            .push_back({isKept ? theirs : sum, partBox(request.shape, axis, n, block)});
      }
    w.send(peer, std::move(gone));
    w.receive(peer, kept);
    for (const Piece &piece : kept)
      w.combine(theirs, sum, piece.box, (me & distance) == 0);
    sum = theirs;
  }
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

/// Halves of what is left go to the partner, and the sums come back the same way.
void sumByHalvesAndBack(Writer &w, size_t axis) {
  uint32_t n = w.ranks(), me = w.rank();
  if (n == 1)
    return w.copy(kResultBuffer, kSourceBuffer, w.result());
  auto blocks = [&](uint32_t first, uint32_t count) {
    return blocksOf(w.request(), axis, first, first + count);
  };
  uint32_t first = 0, count = n, theirs = kResultBuffer;
  for (uint32_t distance = 1; distance < n; distance *= 2) {
    uint32_t peer = me ^ distance, half = count / 2;
    bool isUpper = (me & distance) != 0;
    Box gone = blocks(isUpper ? first : first + half, half);
    first += isUpper ? half : 0;
    count = half;
    Box kept = blocks(first, count);
    bool isFirst = distance == 1;
    if (distance == 2)
      theirs = w.scratch(kept);
    w.send(isFirst ? kSourceBuffer : kResultBuffer, peer, gone);
    w.receive(theirs, peer, kept);
    // What has come into the result first is added to what lies in the source.
    w.combine(kResultBuffer, isFirst ? kSourceBuffer : theirs, kept, isFirst != isUpper);
  }
  for (uint32_t distance = n / 2; distance > 0; distance /= 2) {
    uint32_t peer = me ^ distance;
    bool isUpper = (me & distance) != 0;
    w.send(kResultBuffer, peer, blocks(first, count));
    uint32_t other = isUpper ? first - count : first + count;
    w.receive(kResultBuffer, peer, blocks(other, count));
    first = std::min(first, other);
    count *= 2;
  }
}

/// The axis that an all-reduce cuts for its owners: the longest.
size_t longestAxis(const std::vector<int64_t> &shape) {
  return static_cast<size_t>(std::max_element(shape.begin(), shape.end()) - shape.begin());
}

/// Of an all-reduce nobody asks who owns which block: those at one place own blocks side by side, which go
/// as one box.
void allReduceByLevels(Writer &w, size_t axis) {
  TwoLevels levels = twoLevelsOf(w);
  uint32_t outer = levels.outer;
  auto ofPlace = [&](uint32_t place) {
    return std::vector<Box>{blocksOf(w.request(), axis, place * outer, (place + 1) * outer)};
  };
  auto ofGroup = [&](uint32_t group) {
    uint32_t block = levels.beside.me * outer + group;
    return Piece{0, blocksOf(w.request(), axis, block, block + 1)};
  };
  sumByLevels(w, levels, ofPlace, ofGroup);
  gatherAmong(w, levels.across, true, kResultBuffer,
              [&](uint32_t group) { return std::vector<Box>{ofGroup(group).box}; });
  gatherAmong(w, levels.beside, true, kResultBuffer, ofPlace);
}

} // namespace

void writeReduceScatter(Writer &w, Algorithm algorithm) {
  size_t axis = w.request().toAxis;
  if (algorithm == Algorithm::Halving && w.ranks() > 1)
    return sumByHalving(w, axis);
  if (algorithm != Algorithm::TwoLevel)
    return sumAtOwners(w, axis, algorithm == Algorithm::Mesh);
  TwoLevels levels = twoLevelsOf(w);
  auto block = [&](uint32_t group, uint32_t place) {
    return partBox(w.request().shape, axis, w.ranks(), group * levels.inner + place);
  };
  sumByLevels(
      w, levels,
      [&](uint32_t place) {
        std::vector<Box> boxes;
        for (uint32_t group = 0; group < levels.outer; ++group)
          boxes.push_back(block(group, place));
        return boxes;
      },
      [&](uint32_t group) { return Piece{group, block(group, levels.beside.me)}; });
}

void writeAllReduce(Writer &w, Algorithm algorithm) {
  switch (algorithm) {
  case Algorithm::Ring:
  case Algorithm::Mesh: {
    size_t axis = longestAxis(w.request().shape);
    sumAtOwners(w, axis, algorithm == Algorithm::Mesh);
    return algorithm == Algorithm::Ring ? passRound(w, axis) : gatherAtOnce(w, axis);
  }
  case Algorithm::Halving:
    return sumByHalvesAndBack(w, longestAxis(w.request().shape));
  case Algorithm::TwoLevel:
    return allReduceByLevels(w, longestAxis(w.request().shape));
  case Algorithm::Doubling:
    return sumByDoubling(w);
  default:
    w.copy(kResultBuffer, kSourceBuffer, w.result());
    sumAtRoot(w);
    broadcastResult(w, 0, kResultBuffer);
  }
}

} // namespace ptl::movement
