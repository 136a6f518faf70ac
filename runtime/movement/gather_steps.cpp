// Algorithms that give every rank the whole array: all-gather and broadcast.

#include "runtime/movement/gather_steps.h"

#include <algorithm>
#include <bit>

namespace ptl::movement {

namespace {

/// The buffer that holds a rank's own block; blocks that were received are in the result.
struct OwnBlock {
  uint32_t buffer = kResultBuffer;
  /// Copies the own block into the result. Called after it was sent, so that the copy overlaps the
  /// message.
  void place(Writer &w) const {
    if (buffer != kResultBuffer)
      w.copy(kResultBuffer, buffer, sourceBoxOf(w.request(), w.rank()));
  }
};

/// The ring: each rank passes on the block that it received in the previous round.
void passRoundFrom(Writer &w, size_t axis, OwnBlock own) {
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

/// Block `first` and the `count - 1` blocks behind it, which wrap around at the end: at most two
/// boxes.
std::vector<Piece> blocksFrom(const Request &request, size_t axis, uint32_t first, uint32_t count,
                              uint32_t buffer) {
  uint32_t n = request.ranks;
  first %= n;
  // Blocks up to the last one are one box, and those that begin again at block 0 another one.
  uint32_t straight = std::min(count, n - first);
  std::vector<Piece> pieces = {{buffer, blocksOf(request, axis, first, first + straight)}};
  if (count > straight)
    pieces.push_back({buffer, blocksOf(request, axis, 0, count - straight)});
  return pieces;
}

/// Each round a rank sends all its blocks, its own and those behind it, to a rank before it, and so
/// has twice as many. Any number of ranks will do: the last round sends only the blocks that are
/// missing.
void gatherByDoubling(Writer &w, size_t axis, OwnBlock own) {
  uint32_t n = w.ranks(), me = w.rank();
  if (n == 1)
    own.place(w);
  for (uint32_t have = 1; have < n; have *= 2) {
    uint32_t count = std::min(have, n - have);
    uint32_t from = have == 1 ? own.buffer : kResultBuffer;
    w.send((me + n - have % n) % n, blocksFrom(w.request(), axis, me, count, from));
    if (have == 1)
      own.place(w);
    w.receive((me + have) % n, blocksFrom(w.request(), axis, me + have, count, kResultBuffer));
  }
}

/// First the ranks at one place of all groups gather, while each has only its own block, because
/// little is to cross between groups; then the ranks of each group exchange everything they have.
void gatherByLevels(Writer &w, size_t axis) {
  TwoLevels levels = twoLevelsOf(w);
  gatherAmong(w, levels.across, true, kSourceBuffer, [&](uint32_t group) {
    return std::vector<Box>{blockAt(w, levels, axis, group, levels.beside.me)};
  });
  gatherAmong(w, levels.beside, true, kResultBuffer,
              [&](uint32_t place) { return blocksAtPlace(w, levels, axis, place); });
}

std::vector<Piece> piecesOf(uint32_t buffer, std::vector<Box> boxes) {
  std::vector<Piece> pieces;
  for (Box &box : boxes)
    pieces.push_back({buffer, std::move(box)});
  return pieces;
}

/// A binomial tree from the first rank of the group, which holds the array in buffer `ofFirst`.
void broadcastAmong(Writer &w, const Group &group, uint32_t ofFirst) {
  uint32_t n = group.size(), me = group.me;
  // A rank receives from the rank without its lowest set bit, and sends to those at the smaller
  // distances.
  uint32_t lowest = me == 0 ? std::bit_ceil(n) : me & (~me + 1);
  if (me != 0)
    w.receive(kResultBuffer, group.ranks[me - lowest], w.result());
  for (uint32_t distance = lowest / 2; distance > 0; distance /= 2)
    if (me + distance < n)
      w.send(me == 0 ? ofFirst : kResultBuffer, group.ranks[me + distance], w.result());
}

/// The group rotated so that its rank number `first` comes first.
Group turned(Group group, uint32_t first) {
  std::rotate(group.ranks.begin(), group.ranks.begin() + first, group.ranks.end());
  group.me = (group.me + group.size() - first) % group.size();
  return group;
}

/// The array goes from each rank to the next in pieces, so that all links are busy at once.
void broadcastAlongChain(Writer &w, uint32_t root) {
  Group chain = turned(allRanks(w), root);
  const std::vector<int64_t> &shape = w.request().shape;
  std::vector<Box> pieces = {w.result()};
  if (!shape.empty()) {
    // Pieces along the first axis are contiguous. Only if it has fewer positions than pieces the
    // longest axis is cut instead.
    auto count = static_cast<int64_t>(std::max(1u, w.request().pieces));
    size_t axis =
        shape[0] >= count
            ? 0
            : static_cast<size_t>(std::max_element(shape.begin(), shape.end()) - shape.begin());
    pieces.clear();
    for (int64_t piece = 0; piece < count; ++piece)
      pieces.push_back(partBox(shape, axis, count, piece));
  }
  for (const Box &piece : pieces) {
    if (chain.me > 0)
      w.receive(kResultBuffer, chain.ranks[chain.me - 1], piece);
    if (chain.me + 1 < chain.size())
      w.send(chain.me == 0 ? kSourceBuffer : kResultBuffer, chain.ranks[chain.me + 1], piece);
  }
}

/// First along the ranks at the root's place, one in each group, and from there within each group.
void broadcastByLevels(Writer &w, uint32_t root) {
  TwoLevels levels = twoLevelsOf(w);
  uint32_t place = root % levels.inner;
  if (levels.beside.me == place)
    broadcastAmong(w, turned(levels.across, root / levels.inner), kSourceBuffer);
  broadcastAmong(w, turned(levels.beside, place), w.rank() == root ? kSourceBuffer : kResultBuffer);
}

} // namespace

void passRound(Writer &w, size_t axis) { passRoundFrom(w, axis, {}); }

void gatherAmong(Writer &w, const Group &group, bool allAtOnce, uint32_t own,
                 const std::function<std::vector<Box>(uint32_t)> &boxesOf) {
  uint32_t left = group.size() - 1;
  auto place = [&] {
    for (Box &box : boxesOf(group.me))
      if (own != kResultBuffer)
        w.copy(kResultBuffer, own, std::move(box));
  };
  exchange(
      group, allAtOnce,
      [&](uint32_t other) {
        w.send(group.ranks[other], piecesOf(own, boxesOf(group.me)));
        // The own boxes are copied while the last message is on its way.
        if (--left == 0)
          place();
      },
      [&](uint32_t other) {
        w.receive(group.ranks[other], piecesOf(kResultBuffer, boxesOf(other)));
      });
  if (group.size() == 1)
    place();
}

static void gatherPairwise(Writer &w, size_t axis, bool allAtOnce, uint32_t own) {
  gatherAmong(w, allRanks(w), allAtOnce, own, [&](uint32_t part) {
    return std::vector<Box>{partBox(w.request().shape, axis, w.ranks(), part)};
  });
}

void gatherAtOnce(Writer &w, size_t axis) { gatherPairwise(w, axis, true, kResultBuffer); }

void broadcastResult(Writer &w, uint32_t root, uint32_t ofRoot) {
  broadcastAmong(w, turned(allRanks(w), root), ofRoot);
}

void writeAllGather(Writer &w, Algorithm algorithm) {
  size_t axis = w.request().fromAxis;
  OwnBlock own{kSourceBuffer};
  if (algorithm == Algorithm::Ring)
    passRoundFrom(w, axis, own);
  else if (algorithm == Algorithm::Doubling)
    gatherByDoubling(w, axis, own);
  else if (algorithm == Algorithm::TwoLevel)
    gatherByLevels(w, axis);
  else
    gatherPairwise(w, axis, algorithm == Algorithm::Mesh, own.buffer);
}

void writeBroadcast(Writer &w, Algorithm algorithm) {
  uint32_t root = w.request().root;
  if (algorithm == Algorithm::Chain)
    broadcastAlongChain(w, root);
  else if (algorithm == Algorithm::TwoLevel)
    broadcastByLevels(w, root);
  else
    broadcastResult(w, root, kSourceBuffer);
  if (w.rank() == root)
    w.copy(kResultBuffer, kSourceBuffer, w.result());
}

} // namespace ptl::movement
