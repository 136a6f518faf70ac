// Algorithms that add: reduce-scatter and all-reduce.
#include "runtime/movement/sum_steps.h"

#include "runtime/movement/gather_steps.h"

#include <algorithm>

namespace ptl::movement {

namespace {

using BoxesOf = std::function<std::vector<Box>(uint32_t number)>;

/// Every rank of a group receives the summands of its own boxes, `boxesOf(its number)`, from all
/// others and adds them. The summand of box `i` lies in buffer `from(number, i)`, and the sum of
/// the rank's own box `i` is written to buffer `to[i]`. Its own summand is read in place and never
/// written.
void sumAmong(Writer &w, const Group &group, bool allAtOnce, const BoxesOf &boxesOf,
              const std::function<uint32_t(uint32_t number, size_t box)> &from,
              const std::vector<uint32_t> &to) {
  uint32_t n = group.size(), me = group.me;
  std::vector<Box> own = boxesOf(me);
  // A rank that is alone has no messages, but its result is expected in the buffer of the sum.
  if (n == 1) {
    for (size_t i = 0; i < own.size(); ++i)
      w.copy(to[i], from(me, i), own[i]);
    return;
  }
  // The leftmost summand that is received from another rank goes into the sum's buffer.
  uint32_t first = me == 0 ? 1 : 0; // the leftmost received
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
  // The tree over the ranks in order, the same as in `findMistake`: every algorithm adds in this
  // order, so that all of them give the same bits.
  for (size_t i = 0; i < own.size(); ++i)
    for (uint32_t distance = 1; distance < n; distance *= 2)
      for (uint32_t left = 0; left + distance < n; left += 2 * distance) {
        uint32_t &a = summands[i][left], b = summands[i][left + distance];
        // A combine writes its first operand. The own summand must not be written, so the sum goes
        // to the other operand's buffer, with the operands' order turned back by `isOwn`. The
        // leftmost received summand lies in `to[i]`, and so the root of the tree does.
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

/// First the ranks of a group add among themselves, each the blocks of all ranks at its place; then
/// the ranks at one place of all groups add these sums. So each block crosses between groups as one
/// sum instead of as one summand per rank.
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

/// Each round a rank sends half of its remaining blocks to its partner, at distances 1, 2, 4 …, and
/// so ends with the sum of one block. Nearest neighbours come first because the shared tree adds
/// them first.
void sumByHalving(Writer &w, size_t axis) {
  uint32_t n = w.ranks(), me = w.rank();
  const Request &request = w.request();
  Box whole = wholeBox(request.shape);
  uint32_t sum = kSourceBuffer;
  for (uint32_t distance = 1; distance < n; distance *= 2) {
    uint32_t peer = me ^ distance;
    bool isLast = 2 * distance == n;
    // A new buffer each round: what was sent is never overwritten, so that a large message can be
    // posted without a copy. The last sum is written to the result.
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

/// A binomial tree whose root is rank 0: `sumAtRoot` leaves the sum of all ranks in its result.
void sumAtRoot(Writer &w) {
  uint32_t n = w.ranks(), me = w.rank();
  uint32_t theirs = w.scratch(w.result());
  for (uint32_t distance = 1; distance < n; distance *= 2) {
    // A rank that has sent its sum has nothing more to do: its subtree is in that sum.
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

/// The first message is sent from the source in place, and the own summand is added to what was
/// received into the result, which saves copying the source.
void sumByDoubling(Writer &w) {
  uint32_t me = w.rank();
  if (w.ranks() == 1)
    return w.copy(kResultBuffer, kSourceBuffer, w.result());
  w.send(kSourceBuffer, me ^ 1, w.result());
  w.receive(kResultBuffer, me ^ 1, w.result());
  w.combine(kResultBuffer, kSourceBuffer, w.result(), (me & 1) == 0);
  uint32_t theirs = w.ranks() > 2 ? w.scratch(w.result()) : kResultBuffer;
  // Each partner adds the same two sums in the same order, so both have the same bits.
  for (uint32_t distance = 2; distance < w.ranks(); distance *= 2) {
    w.send(kResultBuffer, me ^ distance, w.result());
    w.receive(theirs, me ^ distance, w.result());
    w.combine(kResultBuffer, theirs, w.result(), (me & distance) != 0);
  }
}

/// Halving, which sends half of the remaining blocks to the partner each round, and then doubling,
/// which returns the sums along the same pairs.
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
    // The first round received into the result and adds the source to it; later rounds received
    // into the scratch buffer and add that to the result.
    w.combine(kResultBuffer, isFirst ? kSourceBuffer : theirs, kept, isFirst != isUpper);
  }
  // The way back visits the partners in the reverse order, so that what is joined lies side by
  // side.
  for (uint32_t distance = n / 2; distance > 0; distance /= 2) {
    // The partner returns what it kept when both halved at this distance. Blocks were split between neighbours first, so the ranges are
    // joined in the reverse order, and each joined range is contiguous.
    uint32_t peer = me ^ distance;
    bool isUpper = (me & distance) != 0;
    w.send(kResultBuffer, peer, blocks(first, count));
    uint32_t other = isUpper ? first - count : first + count;
    w.receive(kResultBuffer, peer, blocks(other, count));
    first = std::min(first, other);
    count *= 2;
  }
}

/// The axis along which an all-reduce is cut into blocks: the longest one, so that few blocks are
/// empty.
size_t longestAxis(const std::vector<int64_t> &shape) {
  return static_cast<size_t>(std::max_element(shape.begin(), shape.end()) - shape.begin());
}

/// No caller of an all-reduce asks which rank owns which block. The ranks at one place own adjacent
/// blocks, so that these are sent as one box.
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
  sumByLevels(
      w, levels, [&](uint32_t place) { return blocksAtPlace(w, levels, axis, place); },
      [&](uint32_t group) {
        return Piece{group, blockAt(w, levels, axis, group, levels.beside.me)};
      });
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
