// Movements between ranks as lists of steps. A list is made once for a shape and a number of ranks;
// the executor, the prover and the prediction of times use the same list.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ptl::movement {

/// The positions from `begin` to `end` of one axis, `end` excluded.
struct Interval {
  int64_t begin = 0, end = 0;
  int64_t length() const { return end - begin; }
  bool operator==(const Interval &) const = default;
};
/// A part of an array: an interval per axis, in coordinates of the whole array. The box of a scalar
/// has no axes and one element.
using Box = std::vector<Interval>;

int64_t elementCount(const Box &box);
bool contains(const Box &outer, const Box &inner);
Box intersection(const Box &a, const Box &b);
/// Whether the intersection has elements.
bool overlap(const Box &a, const Box &b);
std::string toString(const Box &box);

Box wholeBox(std::span<const int64_t> shape);
/// Block `part` of an axis that is cut into blocks of `cdiv(length, parts)`: the last ones may be
/// shorter or empty.
Interval blockOf(int64_t length, int64_t parts, int64_t part);
/// The box of a part if `axis` is cut.
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
  /// For a send or a receive: its box and that of the next step, which has the same kind and peer,
  /// form one message.
  bool isJoined = false;
  bool operator==(const Step &) const = default;
};

inline constexpr uint32_t kSourceBuffer = 0, kResultBuffer = 1;

/// Bytes of a message from which on copying it costs more than waiting until it has left.
inline constexpr size_t kLeastPosted = 16384;

/// The steps of one rank, in order. Buffer 0 is its source, buffer 1 its result, others are
/// scratch.
struct RankSteps {
  std::vector<Box> buffers;
  std::vector<Step> steps;

  /// How many of the steps from `first` on are one message, or a step that is none. Steps that are joined are one message
  /// with the one behind them, but if all are large: both sides see the same boxes, and so agree on what goes by itself.
  size_t piecesAt(size_t first, int64_t elementBytes) const;
  /// Whether no later step writes what one of the steps sends.
  bool stays(const Step &step) const;
};

enum class Algorithm : uint8_t {
  Pairwise, ///< every pair exchanges, in as many rounds as there are other ranks
  Ring,     ///< parts circulate; `AllReduce`: the sums of each owner circulate
  Doubling, ///< distances 1, 2, 4 …; each time everything that a rank has
  Tree,     ///< along a binomial tree, and back
  Mesh,     ///< every pair exchanges, all at once
  Halving,  ///< distances 1, 2, 4 …, half of the rest each time; `AllReduce`: then the sums back
  Bruck,    ///< distances 1, 2, 4 …; data for others are forwarded
  Chain,    ///< each rank sends to the next, in pieces
  TwoLevel, ///< within groups of neighbouring ranks, and between ranks at the same place of groups
};
inline constexpr Algorithm allAlgorithms[] = {
    Algorithm::Pairwise, Algorithm::Ring,  Algorithm::Doubling, Algorithm::Tree,    Algorithm::Mesh,
    Algorithm::Halving,  Algorithm::Bruck, Algorithm::Chain,    Algorithm::TwoLevel};
std::string_view algorithmName(Algorithm algorithm);
/// The algorithm of that name; nothing if there is none.
std::optional<Algorithm> algorithmNamed(std::string_view name);

enum class Kind : uint8_t {
  AllReduce,
  ReduceScatter,
  AllGather,
  AllToAll,
  Broadcast,
  Boxes, ///< from any boxes to any others
  Rows,  ///< each sends each some rows, whose number is known only at run time
};

/// The specification of a movement.
struct Request {
  Kind kind = Kind::AllReduce;
  std::vector<int64_t> shape; ///< of the whole array
  uint32_t ranks = 1;
  size_t fromAxis = 0; ///< the axis that is cut initially: of `AllGather`, `AllToAll`
  size_t toAxis = 0;   ///< the axis that is cut afterwards: of `ReduceScatter`, `AllToAll`
  uint32_t root = 0;   ///< of `Broadcast`: the rank that has the data
  /// For `Boxes`, per rank: the source boxes of two ranks are equal or disjoint.
  std::vector<Box> sources = {}, results = {};
  /// For `Rows`, whose shape is `[ranks, ranks, most rows, columns]`: rank `a` has `counts[a *
  /// ranks + b]` rows for rank `b` in `[a, b]`. Later rows are not moved, and are undefined
  /// afterwards.
  std::vector<int64_t> counts = {};
  /// The size of groups of consecutive ranks that are close to each other; 0: unknown.
  uint32_t together = 0;
  /// For a chain: the number of pieces into which an array is cut.
  uint32_t pieces = 8;
  /// Restricts the choice to this algorithm, if it supports this number of ranks.
  std::optional<Algorithm> wanted = {};
};

/// The box that a rank has before, and the one it has afterwards. Ranks other than the root of a
/// broadcast have nothing before.
Box sourceBoxOf(const Request &request, uint32_t rank);
Box resultBoxOf(const Request &request, uint32_t rank);
/// The parts of its result box that a rank receives: a single box, except for `Rows`.
std::vector<Box> writtenBoxesOf(const Request &request, uint32_t rank);
/// The group size of two-level algorithms, a divisor of the number of ranks: the one of the
/// request, otherwise such that there are about as many groups as ranks in a group. For sums it is
/// a power of two, since their order follows that of the ranks. 1 or the number of ranks if there
/// are no two levels.
uint32_t innerRanks(const Request &request);

struct StepList {
  Request request;
  Algorithm algorithm = Algorithm::Pairwise;
  std::vector<RankSteps> ranks;
};

/// The algorithms that support a request, at least one.
std::vector<Algorithm> algorithmsFor(const Request &request);
/// The steps of an algorithm. Sums have the same tree in all algorithms: neighbouring parts first,
/// then neighbouring pairs, with the lower parts on the left; so results are bitwise equal.
StepList makeSteps(const Request &request, Algorithm algorithm);
/// The lists of an algorithm with different times: for a chain, for several numbers of pieces.
std::vector<StepList> variantsOf(const Request &request, Algorithm algorithm);

/// The number of messages of a list; joined steps are one message.
int64_t messagesOf(const StepList &list);

/// What moving costs: seconds per message until it arrives, of the rank that sends it and of the one that receives it,
/// per byte that goes through the port of a rank in one direction, and per byte that is combined. Large messages are
/// fetched, which costs something each, and less per byte. By themselves these are the costs of ranks that share the
/// memory of one machine, to which they are fitted (`bench/ranks`).
struct Cost {
  double perMessage = 2e-6, perSend = 0.7e-6, perReceive = 1e-6, perByte = 2.0 / 25e9,
         perByteCombined = 1.0 / 14e9;
  double leastFetched = 128 << 10; ///< bytes of the smallest message that is fetched
  double perFetch = 2e-6, perByteFetched = 1.0 / 25e9;
  /// How many ranks take turns on one core: if more than one does, what all ranks do counts, and not only what they wait for.
  double ranksPerCore = 1;
  /// What a rank that waits costs its core then: others take their turns, but not without a pause.
  double perWait = 5e-6;

  double secondsOnWay(double bytes) const {
    return bytes * (bytes < leastFetched ? perByte : perByteFetched);
  }
  double secondsToReceive(double bytes) const {
    return perReceive + (bytes < leastFetched ? 0 : perFetch);
  }
};

/// The elements that a rank sends in all messages together; the maximum over the ranks.
int64_t mostElementsSent(const StepList &list);

} // namespace ptl::movement
