// Algorithms of movements in which each rank has a different box for each other one: all-to-all,
// boxes and rows.

#include "runtime/movement/exchange_steps.h"

#include <map>

namespace ptl::movement {

namespace {

/// The rank that gives `to` the elements of a box that several ranks hold: `to` itself if it holds
/// them, else one of the owners, chosen by `to` so that the load is spread over them.
uint32_t giverOf(const Request &request, const Box &box, uint32_t to) {
  if (request.sources[to] == box)
    return to;
  std::vector<uint32_t> owners;
  for (uint32_t rank = 0; rank < request.ranks; ++rank)
    if (request.sources[rank] == box)
      owners.push_back(rank);
  return owners[to % owners.size()];
}

/// The box that rank `from` has for rank `to`; it may have no elements.
Box boxBetween(const Request &request, uint32_t from, uint32_t to) {
  if (request.kind == Kind::Rows)
    return rowsBetween(request, from, to);
  if (request.kind == Kind::AllToAll)
    return intersection(sourceBoxOf(request, from), resultBoxOf(request, to));
  const Box &box = request.sources[from];
  bool gives = elementCount(box) > 0 && giverOf(request, box, to) == from;
  return gives ? intersection(box, request.results[to]) : Box(request.shape.size());
}

void place(Writer &w) {
  w.copy(kResultBuffer, kSourceBuffer, boxBetween(w.request(), w.rank(), w.rank()));
}

/// Each rank sends each other rank its box directly. The own box is copied while the last message
/// is on its way.
void sendDirectly(Writer &w, bool allAtOnce) {
  uint32_t me = w.rank(), left = w.ranks() - 1;
  auto between = [&](uint32_t from, uint32_t to) { return boxBetween(w.request(), from, to); };
  exchange(
      allRanks(w), allAtOnce,
      [&](uint32_t to) {
        w.send(kSourceBuffer, to, between(me, to));
        if (--left == 0)
          place(w);
      },
      [&](uint32_t from) { w.receive(kResultBuffer, from, between(from, me)); });
  if (w.ranks() == 1)
    place(w);
}

/// The boxes that pass through a rank which is neither their sender nor their receiver, by both.
class Passing {
public:
  explicit Passing(Writer &w) : w_(w) {}
  /// Where a box is received (`comes`), or lies to be sent on.
  Piece piece(uint32_t from, uint32_t to, bool comes) {
    Box box = boxBetween(w_.request(), from, to);
    if (comes && to == w_.rank())
      return {kResultBuffer, std::move(box)};
    if (from == w_.rank())
      return {kSourceBuffer, std::move(box)};
    auto [found, isNew] = buffers_.try_emplace({from, to});
    if (isNew)
      found->second = w_.scratch(box);
    return {found->second, std::move(box)};
  }

private:
  Writer &w_;
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> buffers_;
};

/// Bruck's algorithm: a box whose receiver is `d` ranks further travels the distances that are the
/// set bits of `d`, and all boxes that travel one distance are one message. So there are few
/// messages, log2 of the ranks, but a byte is sent up to that often.
void sendByBits(Writer &w) {
  uint32_t n = w.ranks(), me = w.rank();
  Passing passing(w);
  place(w);
  for (uint32_t distance = 1; distance < n; distance *= 2) {
    std::vector<Piece> gone, come;
    for (uint32_t way = distance; way < n; ++way) {
      if (!(way & distance))
        continue;
      // Before this round the box has travelled the lower bits of its distance.
      uint32_t done = way % distance;
      uint32_t from = (me + n - done) % n, cameFrom = (from + n - distance) % n;
      gone.push_back(passing.piece(from, (from + way) % n, false));
      come.push_back(passing.piece(cameFrom, (cameFrom + way) % n, true));
    }
    w.send((me + distance) % n, std::move(gone));
    w.receive((me + n - distance) % n, std::move(come));
  }
}

/// First to the rank at the receiver's place in the own group, and from there to the receiver's
/// group: a rank sends as many messages between groups as there are other groups, not as there are
/// other ranks.
void sendByLevels(Writer &w) {
  TwoLevels levels = twoLevelsOf(w);
  uint32_t me = w.rank(), inner = levels.inner, outer = levels.outer;
  uint32_t ownGroup = levels.across.me, ownPlace = levels.beside.me;
  auto rankAt = [&](uint32_t group, uint32_t place) { return group * inner + place; };
  // Of its own group each neighbour gets all that is for ranks at its place, of whichever group. The own group is one of them, so the
  // boxes between neighbours have arrived after this exchange.
  Passing passing(w);
  exchange(
      levels.beside, true,
      [&](uint32_t toPlace) {
        std::vector<Piece> pieces;
        for (uint32_t group = 0; group < outer; ++group)
          pieces.push_back(passing.piece(me, rankAt(group, toPlace), false));
        w.send(rankAt(ownGroup, toPlace), std::move(pieces));
      },
      [&](uint32_t fromPlace) {
        std::vector<Piece> pieces;
        for (uint32_t group = 0; group < outer; ++group)
          pieces.push_back(
              passing.piece(rankAt(ownGroup, fromPlace), rankAt(group, ownPlace), true));
        w.receive(rankAt(ownGroup, fromPlace), std::move(pieces));
      });
  exchange(
      levels.across, true,
      [&](uint32_t toGroup) {
        std::vector<Piece> pieces;
        for (uint32_t place = 0; place < inner; ++place)
          pieces.push_back(
              passing.piece(rankAt(ownGroup, place), rankAt(toGroup, ownPlace), false));
        w.send(rankAt(toGroup, ownPlace), std::move(pieces));
      },
      [&](uint32_t fromGroup) {
        // The order of the pieces is that of the sender, by places of its group: a message is one run of bytes without names.
        std::vector<Piece> pieces;
        for (uint32_t place = 0; place < inner; ++place)
          pieces.push_back({kResultBuffer, boxBetween(w.request(), rankAt(fromGroup, place), me)});
        w.receive(rankAt(fromGroup, ownPlace), std::move(pieces));
      });
  place(w);
}

} // namespace

Box rowsBetween(const Request &request, uint32_t from, uint32_t to) {
  return {{from, from + 1},
          {to, to + 1},
          {0, request.counts[size_t(from) * request.ranks + to]},
          {0, request.shape[3]}};
}

void writeExchange(Writer &w, Algorithm algorithm) {
  if (algorithm == Algorithm::Bruck)
    sendByBits(w);
  else if (algorithm == Algorithm::TwoLevel)
    sendByLevels(w);
  else
    sendDirectly(w, algorithm == Algorithm::Mesh);
}

} // namespace ptl::movement
