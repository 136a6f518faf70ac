// Movements between ranks as lists of steps. A list is made once for a shape and a number of ranks;
// what executes it, what proves it and what predicts its time read the same list.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ptl::movement {

/// Positions `begin` to `end` of one axis, `end` excluded.
struct Interval {
  int64_t begin = 0, end = 0;
  int64_t length() const { return end - begin; }
  bool operator==(const Interval &) const = default;
};
/// A part of an array: an interval per axis, in coordinates of the whole array. A scalar has the
/// box without axes, which has one element.
using Box = std::vector<Interval>;

int64_t elementCount(const Box &box);
bool contains(const Box &outer, const Box &inner);
Box intersection(const Box &a, const Box &b);
std::string toString(const Box &box);

Box wholeBox(std::span<const int64_t> shape);
/// Block `part` of an axis that is cut into blocks of `cdiv(length, parts)`: the last ones may be
/// short or empty.
Interval blockOf(int64_t length, int64_t parts, int64_t part);
/// The box of a part where `axis` is cut.
Box partBox(std::span<const int64_t> shape, size_t axis, int64_t parts, int64_t part);

enum class StepKind : uint8_t {
  Send,    ///< `box` of buffer `from` to rank `peer`; the buffer may be written as soon as it ends
  Receive, ///< `box` into buffer `to`, from rank `peer`: the k-th receive gets the k-th send
  Copy,    ///< `box` of buffer `from` into buffer `to`
  Combine, ///< `to = to + from` in `box`; with `fromFirst`, `to = from + to`
};

struct Step {
  StepKind kind = StepKind::Copy;
  uint32_t to = 0, from = 0; ///< indices of the rank's buffers
  uint32_t peer = 0;
  Box box;
  bool fromFirst = false;
  /// Of a send or a receive: its box goes in one message with that of the next step, which has the same kind and
  /// peer.
  bool isJoined = false;
  bool operator==(const Step &) const = default;
};

inline constexpr uint32_t kSourceBuffer = 0, kResultBuffer = 1;

/// What one rank does, in order. Buffer 0 is what it has, buffer 1 what it gets, others are scratch.
struct RankSteps {
  std::vector<Box> buffers;
  std::vector<Step> steps;
};

enum class Algorithm : uint8_t {
  Pairwise, ///< each with each other, in as many rounds
  Ring,     ///< parts go round; `AllReduce`: what each owner has summed does
  Doubling, ///< distances 1, 2, 4 …, all that a rank has
  Tree,     ///< along a binomial tree, and back
  Mesh,     ///< each with each other, all at once
  Halving,  ///< distances 1, 2, 4 …, half of what is left; `AllReduce`: and the sums back
  Bruck,    ///< distances 1, 2, 4 …, what is for others is passed on
  Chain,    ///< each to the next one, in pieces
  TwoLevel, ///< among ranks that stand together, and among those at the same place of such groups
};
inline constexpr Algorithm allAlgorithms[] = {
    Algorithm::Pairwise, Algorithm::Ring,  Algorithm::Doubling, Algorithm::Tree,    Algorithm::Mesh,
    Algorithm::Halving,  Algorithm::Bruck, Algorithm::Chain,    Algorithm::TwoLevel};
std::string_view algorithmName(Algorithm algorithm);
/// Nothing when there is none of the name.
std::optional<Algorithm> algorithmNamed(std::string_view name);

enum class Kind : uint8_t {
  AllReduce,
  ReduceScatter,
  AllGather,
  AllToAll,
  Broadcast,
  Boxes, ///< from any boxes to any others
  Rows,  ///< each gives each some rows: how many is known only when it runs
};

/// What is to be moved.
struct Request {
  Kind kind = Kind::AllReduce;
  std::vector<int64_t> shape; ///< of the whole array
  uint32_t ranks = 1;
  size_t fromAxis = 0; ///< the axis that is cut before: of `AllGather`, `AllToAll`
  size_t toAxis = 0;   ///< the axis that is cut afterwards: of `ReduceScatter`, `AllToAll`
  uint32_t root = 0;   ///< of `Broadcast`: who has it
  /// Of `Boxes`, per rank: two ranks have the same box before, or boxes without common elements.
  std::vector<Box> sources = {}, results = {};
  /// Of `Rows`, whose shape is `[ranks, ranks, most rows, columns]`: rank `a` has `counts[a * ranks + b]` rows for
  /// rank `b` in `[a, b]`. What is behind them is not moved, and has no value afterwards.
  std::vector<int64_t> counts = {};
  /// So many ranks each stand together, those that follow each other; 0: nobody knows.
  uint32_t together = 0;
  /// Of a chain: in how many pieces an array goes along it.
  uint32_t pieces = 8;
  /// The only algorithm, where it is one for this many ranks.
  std::optional<Algorithm> wanted = {};
};

/// What a rank has before, and afterwards. The rank that is not the root of a broadcast has nothing.
Box sourceBoxOf(const Request &request, uint32_t rank);
Box resultBoxOf(const Request &request, uint32_t rank);
/// What of its result box a rank gets: all of it in one box, but of `Rows`.
std::vector<Box> writtenBoxesOf(const Request &request, uint32_t rank);
/// How many ranks stand together for algorithms of two levels, a divisor of their number: as many as the request
/// says, or else about as many as there are groups. Of sums it is a power of two, since their order follows that of
/// the ranks. 1 or all of them where there are no two levels.
uint32_t innerRanks(const Request &request);

struct StepList {
  Request request;
  Algorithm algorithm = Algorithm::Pairwise;
  std::vector<RankSteps> ranks;
};

/// The algorithms that there are for a request, at least one.
std::vector<Algorithm> algorithmsFor(const Request &request);
/// The steps. Sums are taken in one tree, whatever the algorithm: neighbouring parts first, then
/// neighbouring pairs, the lower parts to the left; so results are equal bit by bit.
StepList makeSteps(const Request &request, Algorithm algorithm);
/// The lists of an algorithm that differ in time: of a chain, for several numbers of pieces.
std::vector<StepList> variantsOf(const Request &request, Algorithm algorithm);

/// Messages of a list; what goes in one is one.
int64_t messagesOf(const StepList &list);

/// What moving costs: seconds per message until it arrives, of the rank that sends it and of the one that receives it,
/// per byte that goes through the port of a rank in one direction, and per byte that is combined. Large messages are
/// fetched, which costs something each, and less per byte. By themselves these are the costs of ranks that share the
/// memory of one machine, to which they are fitted (`bench/ranks`).
struct Cost {
  double perMessage = 2e-6, perSend = 0.7e-6, perReceive = 1e-6, perByte = 2.0 / 25e9,
         perByteCombined = 1.0 / 14e9;
  double leastFetched = 128 << 10; ///< bytes of the smallest message that is fetched
  double perFetch = 4e-6, perByteFetched = 1.0 / 25e9;

  double secondsOnWay(double bytes) const {
    return bytes * (bytes < leastFetched ? perByte : perByteFetched);
  }
  double secondsToReceive(double bytes) const {
    return perReceive + (bytes < leastFetched ? 0 : perFetch);
  }
};
/// The time at which the last rank is done, if all begin at once.
double predictSeconds(const StepList &list, int64_t elementBytes, const Cost &cost);
/// The steps of the algorithm that takes the least predicted time; of those that take about as long, the first.
StepList chooseSteps(const Request &request, int64_t elementBytes, const Cost &cost);

/// What a rank sends, in elements, all messages together; the largest of the ranks.
int64_t mostElementsSent(const StepList &list);

} // namespace ptl::movement
