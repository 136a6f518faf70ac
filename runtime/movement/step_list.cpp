// What a movement moves, and which algorithms exist for it.
#include "runtime/movement/exchange_steps.h"
#include "runtime/movement/gather_steps.h"
#include "runtime/movement/sum_steps.h"
#include "runtime/movement/writer.h"

#include <algorithm>
#include <bit>
#include <iterator>

namespace ptl::movement {

// ---- Requests ------------------------------------------------------------------------------------

Box sourceBoxOf(const Request &request, uint32_t rank) {
  Box whole = wholeBox(request.shape);
  switch (request.kind) {
  case Kind::AllGather:
  case Kind::AllToAll:
    return partBox(request.shape, request.fromAxis, request.ranks, rank);
  case Kind::Broadcast:
    // Only the root has a source; the other ranks have an empty box.
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
  // Of rows only as many as the counts say are written; the rest of the result keeps no defined
  // value.
  if (request.kind != Kind::Rows)
    return {resultBoxOf(request, rank)};
  std::vector<Box> boxes;
  for (uint32_t from = 0; from < request.ranks; ++from)
    boxes.push_back(rowsBetween(request, from, rank));
  return boxes;
}

uint32_t innerRanks(const Request &request) {
  uint32_t n = request.ranks, inner = 1;
  bool adds = request.kind == Kind::AllReduce || request.kind == Kind::ReduceScatter;
  if (request.together > 1 && request.together < n && n % request.together == 0)
    // In the shared tree of sums an aligned run of ranks is a subtree only if its length is a power
    // of two, so sums take the largest power of two that divides `together`.
    inner = adds ? request.together & (~request.together + 1) : request.together;
  if (inner > 1)
    return inner;
  // Without a hint the divisor nearest to the square root: a rank then sends the fewest messages,
  // (inner - 1) + (outer - 1).
  for (uint32_t divisor = 2; divisor * divisor <= n; ++divisor)
    if (n % divisor == 0 && (!adds || std::has_single_bit(divisor)))
      inner = divisor;
  return inner;
}

// ---- Algorithms ----------------------------------------------------------------------------------

namespace {

/// Conditions on requests under which an algorithm applies. A scalar has no axis that could be cut into one block per rank, so an
/// all-reduce of it needs an algorithm that sends whole values; halving pairs rank `r` with `r ^ distance`, which exists for each rank only
/// if their number is a power of two.
bool isPowerOfTwo(const Request &request) { return std::has_single_bit(request.ranks); }
bool hasTwoLevels(const Request &request) { return innerRanks(request) > 1; }
bool isAlways(const Request &) { return true; }
bool hasAxes(const Request &request) { return !request.shape.empty(); }
bool isCutInTwo(const Request &request) { return isPowerOfTwo(request) && hasAxes(request); }
bool hasLevelsAndAxes(const Request &request) { return hasTwoLevels(request) && hasAxes(request); }

/// One algorithm for one kind of movement, and the condition on its requests.
struct AlgorithmRow {
  Kind kind;
  Algorithm algorithm;
  bool (*fits)(const Request &request);
};
// Of algorithms that are predicted equally fast the first one in this table is taken.
constexpr AlgorithmRow kTable[] = {
    {Kind::AllReduce, Algorithm::Tree, isAlways},
    {Kind::AllReduce, Algorithm::Doubling, isPowerOfTwo},
    {Kind::AllReduce, Algorithm::Ring, hasAxes},
    {Kind::AllReduce, Algorithm::Mesh, hasAxes},
    {Kind::AllReduce, Algorithm::Halving, isCutInTwo},
    {Kind::AllReduce, Algorithm::TwoLevel, hasLevelsAndAxes},
    {Kind::ReduceScatter, Algorithm::Pairwise, isAlways},
    {Kind::ReduceScatter, Algorithm::Mesh, isAlways},
    {Kind::ReduceScatter, Algorithm::Halving, isPowerOfTwo},
    {Kind::ReduceScatter, Algorithm::TwoLevel, hasTwoLevels},
    {Kind::AllGather, Algorithm::Ring, isAlways},
    {Kind::AllGather, Algorithm::Doubling, isAlways},
    {Kind::AllGather, Algorithm::Pairwise, isAlways},
    {Kind::AllGather, Algorithm::Mesh, isAlways},
    {Kind::AllGather, Algorithm::TwoLevel, hasTwoLevels},
    {Kind::Broadcast, Algorithm::Tree, isAlways},
    {Kind::Broadcast, Algorithm::Chain, isAlways},
    {Kind::Broadcast, Algorithm::TwoLevel, hasTwoLevels},
    {Kind::AllToAll, Algorithm::Pairwise, isAlways},
    {Kind::AllToAll, Algorithm::Mesh, isAlways},
    {Kind::AllToAll, Algorithm::Bruck, isAlways},
    {Kind::AllToAll, Algorithm::TwoLevel, hasTwoLevels},
    {Kind::Boxes, Algorithm::Pairwise, isAlways},
    {Kind::Boxes, Algorithm::Mesh, isAlways},
    {Kind::Boxes, Algorithm::Bruck, isAlways},
    {Kind::Boxes, Algorithm::TwoLevel, hasTwoLevels},
    {Kind::Rows, Algorithm::Pairwise, isAlways},
    {Kind::Rows, Algorithm::Mesh, isAlways},
    {Kind::Rows, Algorithm::Bruck, isAlways},
    {Kind::Rows, Algorithm::TwoLevel, hasTwoLevels},
};

} // namespace

std::string_view algorithmName(Algorithm algorithm) {
  constexpr std::string_view names[] = {"pairwise", "ring",  "doubling", "tree",     "mesh",
                                        "halving",  "bruck", "chain",    "two_level"};
  static_assert(std::size(names) == std::size(allAlgorithms));
  return names[static_cast<size_t>(algorithm)];
}

std::vector<Algorithm> algorithmsFor(const Request &request) {
  std::vector<Algorithm> all;
  for (const AlgorithmRow &row : kTable)
    if (row.kind == request.kind && row.fits(request))
      all.push_back(row.algorithm);
  // A wish that does not fit the request is ignored: the caller gets the automatic choice.
  if (request.wanted && std::ranges::find(all, *request.wanted) != all.end())
    return {*request.wanted};
  return all;
}

std::optional<Algorithm> algorithmNamed(std::string_view name) {
  for (Algorithm algorithm : allAlgorithms)
    if (algorithmName(algorithm) == name)
      return algorithm;
  return std::nullopt;
}

StepList makeSteps(const Request &request, Algorithm algorithm) {
  StepList list{request, algorithm, std::vector<RankSteps>(request.ranks)};
  for (uint32_t rank = 0; rank < request.ranks; ++rank) {
    Writer w(list, rank);
    switch (request.kind) {
    case Kind::AllReduce:
      writeAllReduce(w, algorithm);
      break;
    case Kind::ReduceScatter:
      writeReduceScatter(w, algorithm);
      break;
    case Kind::AllGather:
      writeAllGather(w, algorithm);
      break;
    case Kind::Broadcast:
      writeBroadcast(w, algorithm);
      break;
    case Kind::AllToAll:
    case Kind::Boxes:
    case Kind::Rows:
      writeExchange(w, algorithm);
      break;
    }
  }
  return list;
}

std::vector<StepList> variantsOf(const Request &request, Algorithm algorithm) {
  std::vector<StepList> lists;
  if (algorithm != Algorithm::Chain)
    lists.push_back(makeSteps(request, algorithm));
  // 1, 4, 16 and 64 pieces are tried: more pieces keep more links busy but cost more
  // messages, and which effect is stronger depends on the machine.
  for (uint32_t pieces = 1; algorithm == Algorithm::Chain && pieces <= 64; pieces *= 4) {
    Request inPieces = request;
    inPieces.pieces = pieces;
    lists.push_back(makeSteps(inPieces, algorithm));
  }
  return lists;
}

size_t RankSteps::piecesAt(size_t first, int64_t elementBytes) const {
  size_t count = 1;
  while (steps[first + count - 1].isJoined)
    ++count;
  bool isPacked = std::ranges::any_of(
      std::span(steps).subspan(first, count), [elementBytes](const Step &piece) {
        return static_cast<size_t>(elementCount(piece.box) * elementBytes) < kLeastPosted;
      });
  return isPacked ? count : 1;
}

bool RankSteps::stays(const Step &step) const {
  if (step.from == kSourceBuffer)
    return true;
  auto writes = [&](const Step &later) {
    return later.kind != StepKind::Send && later.to == step.from && overlap(later.box, step.box);
  };
  return std::none_of(steps.begin() + (&step - steps.data()) + 1, steps.end(), writes);
}

int64_t messagesOf(const StepList &list) {
  int64_t messages = 0;
  for (const RankSteps &rank : list.ranks)
    for (const Step &step : rank.steps)
      messages += step.kind == StepKind::Send && !step.isJoined;
  return messages;
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
