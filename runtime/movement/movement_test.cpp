// Lists of steps: every algorithm on many shapes and numbers of ranks, executed under seeds, proved,
// and mutated.
#include "runtime/movement/execute.h"
#include "runtime/movement/predict.h"
#include "runtime/movement/prove.h"
#include "runtime/movement/run_rank.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <random>

namespace ptl::movement {
namespace {

constexpr Kind allKinds[] = {Kind::AllReduce, Kind::ReduceScatter, Kind::AllGather, Kind::AllToAll,
                             Kind::Broadcast};
constexpr uint32_t rankCounts[] = {1, 2, 3, 4, 5, 7, 8, 16};

bool hasTwoAxes(Kind kind) { return kind == Kind::AllToAll; }

/// From blocks of some axes on a grid of ranks to blocks of others; an axis that is not cut is on all
/// ranks of the grid's row or column.
std::vector<Request> boxRequests(uint32_t ranks) {
  std::vector<Request> requests;
  uint32_t columns = ranks % 3 == 0 ? 3 : ranks % 2 == 0 ? 2 : 1, rows = ranks / columns;
  auto boxAt = [&](const std::vector<int64_t> &shape, uint32_t way, uint32_t rank) {
    Box box = wholeBox(shape);
    Interval &first = box[way % 2], &second = box[way / 2 % 2];
    auto cut = [](Interval &axis, uint32_t count, uint32_t part) {
      Interval block = blockOf(axis.length(), count, part);
      axis = {axis.begin + block.begin, axis.begin + block.end};
    };
    if (way / 4 % 2)
      cut(first, rows, rank / columns);
    if (way / 8 % 2)
      cut(second, columns, rank % columns);
    return box;
  };
  for (const std::vector<int64_t> &shape :
       std::vector<std::vector<int64_t>>{{7, 5}, {4, 0}, {2, 9}})
    for (uint32_t from = 0; from < 16; ++from)
      for (uint32_t to = from % 3; to < 16; to += 3) {
        Request request{Kind::Boxes, shape, ranks};
        for (uint32_t rank = 0; rank < ranks; ++rank) {
          request.sources.push_back(boxAt(shape, from, rank));
          request.results.push_back(boxAt(shape, to, rank));
        }
        requests.push_back(request);
      }
  // One rank has all, another gets a piece of it.
  Request send{Kind::Boxes, {6, 5}, ranks};
  send.sources.assign(ranks, Box(2));
  send.results.assign(ranks, Box(2));
  send.sources[ranks - 1] = wholeBox(send.shape);
  send.results[ranks / 2] = {{1, 4}, {0, 5}};
  requests.push_back(send);
  return requests;
}

/// Rows from all to all: as many for each, any number, none, all from one, all to one.
std::vector<Request> rowRequests(uint32_t ranks) {
  std::vector<Request> requests;
  for (int way = 0; way < 5; ++way) {
    Request request{Kind::Rows, {ranks, ranks, 0, way % 2 ? 1 : 3}, ranks};
    for (uint32_t from = 0; from < ranks; ++from)
      for (uint32_t to = 0; to < ranks; ++to) {
        int64_t counts[] = {2, (from * 7 + to * 5) % 4, 0, from == 0 ? to % 3 : 0,
                            to + 1 == ranks ? 2 : 0};
        request.counts.push_back(counts[way]);
        request.shape[2] = std::max(request.shape[2], counts[way]);
      }
    requests.push_back(request);
  }
  return requests;
}

/// Requests on shapes with parts that are uneven, empty, or all of an array.
std::vector<Request> someRequests(uint32_t ranks) {
  std::vector<Request> requests;
  for (Kind kind : allKinds)
    for (const std::vector<int64_t> &shape :
         std::vector<std::vector<int64_t>>{{}, {0}, {1}, {7}, {16}, {5, 3}, {4, 0}, {2, 9, 4}}) {
      bool isCut = kind != Kind::AllReduce && kind != Kind::Broadcast;
      size_t axes = isCut ? shape.size() : 1;
      for (size_t from = 0; from < axes; ++from)
        for (size_t to = 0; to < (hasTwoAxes(kind) ? axes : 1); ++to) {
          Request request{kind, shape, ranks, from, hasTwoAxes(kind) ? to : from, 0};
          if (hasTwoAxes(kind) && from == to)
            continue;
          requests.push_back(request);
        }
    }
  std::vector<Request> boxes = boxRequests(ranks);
  requests.insert(requests.end(), boxes.begin(), boxes.end());
  std::vector<Request> rows = rowRequests(ranks);
  requests.insert(requests.end(), rows.begin(), rows.end());
  if (ranks > 2)
    requests.push_back({Kind::Broadcast, {3, 2}, ranks, 0, 0, ranks - 1});
  return requests;
}

int64_t elementAt(const Request &request, uint32_t rank, int64_t position) {
  bool sums = request.kind == Kind::AllReduce || request.kind == Kind::ReduceScatter;
  return position + 1 + (sums ? 1000 * rank : 0);
}

std::vector<int64_t> positionsOf(const Request &request, const Box &box) {
  std::vector<int64_t> positions;
  forEachRow(wholeBox(request.shape), box, [&](int64_t offset, int64_t length) {
    for (int64_t i = 0; i < length; ++i)
      positions.push_back(offset + i);
  });
  return positions;
}

std::vector<std::vector<int64_t>> sourcesOf(const Request &request) {
  std::vector<std::vector<int64_t>> sources;
  for (uint32_t rank = 0; rank < request.ranks; ++rank) {
    std::vector<int64_t> &source = sources.emplace_back();
    for (int64_t position : positionsOf(request, sourceBoxOf(request, rank)))
      source.push_back(elementAt(request, rank, position));
  }
  return sources;
}

/// What a rank gets, box after box.
std::vector<int64_t> expectedOf(const Request &request, uint32_t rank) {
  bool sums = request.kind == Kind::AllReduce || request.kind == Kind::ReduceScatter;
  std::vector<int64_t> expected;
  for (const Box &box : writtenBoxesOf(request, rank))
    for (int64_t position : positionsOf(request, box)) {
      int64_t value = 0;
      for (uint32_t summand = 0; summand < (sums ? request.ranks : 1); ++summand)
        value += elementAt(request, summand, position);
      expected.push_back(value);
    }
  return expected;
}

/// The same of the elements of a rank's result box.
std::vector<int64_t> writtenOf(const Request &request, uint32_t rank,
                               const std::vector<int64_t> &result) {
  std::vector<int64_t> written;
  for (const Box &box : writtenBoxesOf(request, rank))
    forEachRow(resultBoxOf(request, rank), box, [&](int64_t offset, int64_t length) {
      for (int64_t i = 0; i < length; ++i)
        written.push_back(result[static_cast<size_t>(offset + i)]);
    });
  return written;
}

/// What is wrong with an execution under a seed; empty if every rank has its result.
std::string mistakeOf(const StepList &list, uint64_t seed) {
  Execution<int64_t> execution(list, sourcesOf(list.request), combineEach(std::plus()));
  if (std::string why = execution.run(seed); !why.empty())
    return why;
  for (uint32_t rank = 0; rank < list.request.ranks; ++rank)
    if (writtenOf(list.request, rank, execution.result(rank)) != expectedOf(list.request, rank))
      return "rank " + std::to_string(rank) + " has another result";
  return {};
}

TEST(Movement, BlocksCoverAnAxisOnce) {
  for (int64_t length : {0, 1, 5, 16, 17})
    for (int64_t parts : {1, 2, 3, 5, 16, 20}) {
      int64_t next = 0;
      for (int64_t part = 0; part < parts; ++part) {
        Interval block = blockOf(length, parts, part);
        EXPECT_EQ(block.begin, next);
        EXPECT_LE(block.length(), (length + parts - 1) / parts);
        next = block.end;
      }
      EXPECT_EQ(next, length);
    }
}

TEST(Movement, EveryAlgorithmMovesWhatItShould) {
  for (uint32_t ranks : rankCounts)
    for (const Request &request : someRequests(ranks))
      for (Algorithm algorithm : algorithmsFor(request)) {
        StepList list = makeSteps(request, algorithm);
        SCOPED_TRACE(std::string(algorithmName(algorithm)) + " of kind " +
                     std::to_string(static_cast<int>(request.kind)) + " on " +
                     std::to_string(ranks) + " ranks, " + toString(wholeBox(request.shape)));
        EXPECT_EQ(findMistake(list), "");
        for (uint64_t seed = 0; seed < 5; ++seed)
          EXPECT_EQ(mistakeOf(list, seed), "");
      }
}

/// What `runRank` does of one step list, its messages kept by sender and receiver. Ranks are run in
/// turn, and again from the beginning where one got nothing: what was sent is there then.
class Letters : public Port {
public:
  explicit Letters(uint32_t ranks) : letters_(ranks * ranks), next_(ranks * ranks), ranks_(ranks) {}
  void begin(uint32_t me) {
    me_ = me;
    posted_.clear();
    given_.clear();
    for (uint32_t rank = 0; rank < ranks_; ++rank) {
      letters_[me * ranks_ + rank].clear();
      next_[rank * ranks_ + me] = 0;
    }
  }
  void send(uint32_t rank, std::span<const uint8_t> bytes) override {
    letters_[me_ * ranks_ + rank].emplace_back(bytes.begin(), bytes.end());
  }
  bool receive(uint32_t rank, std::span<uint8_t> bytes) override {
    size_t &next = next_[rank * ranks_ + me_];
    const auto &from = letters_[rank * ranks_ + me_];
    if (next == from.size()) {
      giveRest();
      return false;
    }
    std::copy(from[next].begin(), from[next].end(), bytes.begin());
    ++next;
    return true;
  }

  /// What is posted is still the same when it has left.
  void post(uint32_t rank, std::span<const uint8_t> bytes) override {
    send(rank, bytes);
    posted_.emplace_back(bytes, std::vector<uint8_t>(bytes.begin(), bytes.end()));
  }
  /// Half of the bytes go at once, to within an element, the others only when the rank waits or the list ends.
  void postBy(uint32_t rank, size_t size, const GiveBytes &give) override {
    std::vector<uint8_t> &letter = letters_[me_ * ranks_ + rank].emplace_back(size);
    give(std::span(letter).first(size / 2 + 1));
    given_.push_back({rank, letters_[me_ * ranks_ + rank].size() - 1, &give});
  }
  bool receiveBy(uint32_t rank, size_t size, const TakeBytes &take) override {
    std::vector<uint8_t> letter(size);
    if (!receive(rank, letter))
      return false;
    for (size_t at = 0, piece = 1; at < size; at += piece, piece = piece * 2 + 1) {
      piece = std::min(piece, size - at);
      take(std::span(letter).subspan(at, piece));
    }
    return true;
  }
  bool settle(uint32_t) override {
    giveRest();
    for (const auto &[bytes, copy] : posted_)
      EXPECT_TRUE(std::ranges::equal(bytes, copy)) << "what was posted has been written over";
    wasPosted_ |= !posted_.empty();
    posted_.clear();
    return true;
  }
  bool wasPosted() const { return wasPosted_; }

private:
  void giveRest() {
    wasPosted_ |= !given_.empty();
    for (auto [rank, letter, give] : std::exchange(given_, {})) {
      std::vector<uint8_t> &bytes = letters_[me_ * ranks_ + rank][letter];
      (*give)(std::span(bytes).subspan(bytes.size() / 2 + 1));
    }
  }

  struct Given {
    uint32_t rank;
    size_t letter;
    const GiveBytes *give;
  };
  bool wasPosted_ = false;
  std::vector<Given> given_;
  std::vector<std::pair<std::span<const uint8_t>, std::vector<uint8_t>>> posted_;
  std::vector<std::vector<std::vector<uint8_t>>> letters_;
  std::vector<size_t> next_;
  uint32_t ranks_, me_ = 0;
};

/// Whether large messages were posted.
bool runEachRank(const StepList &list) {
  const Request &request = list.request;
  uint32_t ranks = request.ranks;
  auto add = [](uint8_t *to, const uint8_t *from, int64_t count, bool fromFirst) {
    auto *sums = reinterpret_cast<int64_t *>(to);
    for (int64_t i = 0; i < count; ++i)
      sums[i] += reinterpret_cast<const int64_t *>(from)[i];
  };
  std::vector<std::vector<int64_t>> sources = sourcesOf(request);
  Letters letters(ranks);
  size_t done = 0;
  // Without a mistake at least one more rank gets all that it waits for in each round.
  for (uint32_t round = 0; round < 4 * ranks + 4 && done < ranks; ++round) {
    done = 0;
    for (uint32_t rank = 0; rank < ranks; ++rank) {
      std::vector<int64_t> result(static_cast<size_t>(elementCount(resultBoxOf(request, rank))));
      auto bytes = [](auto &from) {
        return std::span(reinterpret_cast<uint8_t *>(from.data()), from.size() * 8);
      };
      letters.begin(rank);
      if (runRank(list, rank, 8, bytes(sources[rank]), bytes(result), add, letters))
        continue;
      ++done;
      EXPECT_EQ(writtenOf(request, rank, result), expectedOf(request, rank))
          << algorithmName(list.algorithm);
    }
  }
  EXPECT_EQ(done, ranks) << algorithmName(list.algorithm);
  return letters.wasPosted();
}

TEST(Movement, EachRankByItself) {
  for (uint32_t ranks : {1u, 2u, 3u, 4u, 6u, 8u})
    for (const Request &request : someRequests(ranks))
      for (Algorithm algorithm : algorithmsFor(request))
        EXPECT_FALSE(runEachRank(makeSteps(request, algorithm)));
}

/// Large messages go from where they lie, so nothing may write there before they have left.
TEST(Movement, LargeMessagesStay) {
  for (uint32_t ranks : {2u, 3u, 4u, 8u})
    for (Kind kind : allKinds) {
      Request request{kind, {150, 1100}, ranks, 0, hasTwoAxes(kind) ? 1u : 0u, 0};
      for (Algorithm algorithm : algorithmsFor(request))
        EXPECT_TRUE(runEachRank(makeSteps(request, algorithm))) << algorithmName(algorithm);
    }
}

TEST(Movement, SixtyFourRanks) {
  for (Kind kind : allKinds) {
    Request request{kind, {70, 65}, 64, 0, hasTwoAxes(kind) ? 1u : 0u, 0};
    for (Algorithm algorithm : algorithmsFor(request))
      EXPECT_EQ(findMistake(makeSteps(request, algorithm)), "") << algorithmName(algorithm);
  }
}

/// Sums of floats in one order, whatever the algorithm and the schedule.
TEST(Movement, SumsAreEqualBitByBit) {
  for (uint32_t ranks : rankCounts) {
    Request reduce{Kind::AllReduce, {6, 5}, ranks, 0, 0, 0};
    std::mt19937_64 random(ranks);
    std::uniform_real_distribution<float> drawn(-1e3f, 1e3f);
    std::vector<std::vector<float>> sources(ranks, std::vector<float>(30));
    for (std::vector<float> &source : sources)
      for (float &each : source)
        each = drawn(random);
    std::vector<float> first;
    for (Algorithm algorithm : algorithmsFor(reduce)) {
      StepList list = makeSteps(reduce, algorithm);
      for (uint64_t seed = 0; seed < 4; ++seed) {
        Execution<float> execution(list, sources, combineEach(std::plus()));
        ASSERT_EQ(execution.run(seed), "");
        if (first.empty())
          first = execution.result(0);
        for (uint32_t rank = 0; rank < ranks; ++rank)
          EXPECT_EQ(execution.result(rank), first) << algorithmName(algorithm);
      }
    }
  }
}

/// Changes one thing of a list.
void mutate(StepList &list, std::mt19937_64 &random) {
  std::vector<Step> *steps = nullptr;
  do
    steps = &list.ranks[random() % list.ranks.size()].steps;
  while (steps->empty());
  size_t which = random() % steps->size();
  Step &step = (*steps)[which];
  switch (random() % 8) {
  case 0:
    steps->erase(steps->begin() + static_cast<ptrdiff_t>(which));
    break;
  case 1:
    steps->insert(steps->begin() + static_cast<ptrdiff_t>(which), Step(step));
    break;
  case 2:
    std::swap(step, (*steps)[random() % steps->size()]);
    break;
  case 3:
    step.peer = static_cast<uint32_t>(random() % list.ranks.size());
    break;
  case 4:
    if (!step.box.empty()) {
      Interval &interval = step.box[random() % step.box.size()];
      (random() % 2 ? interval.begin : interval.end) += random() % 2 ? 1 : -1;
    }
    break;
  case 5:
    step.fromFirst = !step.fromFirst;
    break;
  case 6:
    step.isJoined = !step.isJoined;
    break;
  default:
    (random() % 2 ? step.to : step.from) =
        static_cast<uint32_t>(random() % list.ranks.front().buffers.size());
  }
}

/// Whatever changes what an execution gives is found, and what is found names a reason.
TEST(Movement, TheProverFindsMutations) {
  std::map<std::pair<Kind, Algorithm>, std::vector<Request>> requests;
  for (uint32_t ranks = 2; ranks <= 8; ++ranks)
    for (const Request &request : someRequests(ranks))
      for (Algorithm algorithm : algorithmsFor(request))
        if (messagesOf(makeSteps(request, algorithm)) > 0)
          requests[{request.kind, algorithm}].push_back(request);
  EXPECT_EQ(requests.size(), 30u); // All rows of the table.
  std::mt19937_64 random(1);
  for (const auto &[of, some] : requests) {
    size_t found = 0, changed = 0;
    for (int round = 0; round < 120; ++round) {
      StepList list = makeSteps(some[random() % some.size()], of.second);
      mutate(list, random);
      bool isRefuted = !findMistake(list).empty();
      found += isRefuted;
      for (uint64_t seed = 0; seed < 3; ++seed)
        if (std::string why = mistakeOf(list, seed); !why.empty()) {
          ++changed;
          EXPECT_TRUE(isRefuted) << why;
        }
    }
    EXPECT_GT(found, 30u) << algorithmName(of.second);
    EXPECT_GT(changed, 30u) << algorithmName(of.second);
  }
}

/// Pieces of one message that are taken for several, or the other way round, on both sides or on one.
TEST(Movement, TheProverKnowsMessagesOfSeveralPieces) {
  Request request{Kind::AllToAll, {8, 16}, 8, 0, 1};
  StepList list = makeSteps(request, Algorithm::Bruck);
  ASSERT_EQ(findMistake(list), "");
  StepList apart = list;
  for (Step &step : apart.ranks[3].steps)
    if (step.kind == StepKind::Send)
      step.isJoined = false;
  EXPECT_NE(findMistake(apart).find("in another message than rank 3 sent"), std::string::npos)
      << findMistake(apart);
  StepList open = list;
  for (Step &step : open.ranks[3].steps)
    step.isJoined |= step.kind == StepKind::Send;
  EXPECT_EQ(findMistake(open), "rank 3 has a message whose last piece is missing");
  for (RankSteps &rank : list.ranks)
    for (Step &step : rank.steps)
      step.isJoined = false;
  EXPECT_EQ(findMistake(list), "");
  EXPECT_GT(predictSeconds(list, 4, Cost()),
            predictSeconds(makeSteps(request, Algorithm::Bruck), 4, Cost()));
}

/// How many messages a rank sends, where no box is empty.
int64_t messagesOfOne(Kind kind, Algorithm algorithm, uint32_t ranks, uint32_t together = 0) {
  Request request{kind, {64, 64}, ranks, 0, hasTwoAxes(kind) ? 1u : 0u};
  request.together = together;
  return messagesOf(makeSteps(request, algorithm)) / ranks;
}

TEST(Movement, MessagesFollowTheFormulas) {
  EXPECT_EQ(messagesOfOne(Kind::AllToAll, Algorithm::Pairwise, 8), 7);
  EXPECT_EQ(messagesOfOne(Kind::AllToAll, Algorithm::Bruck, 8), 3);
  EXPECT_EQ(messagesOfOne(Kind::AllToAll, Algorithm::Bruck, 11), 4);
  EXPECT_EQ(messagesOfOne(Kind::AllToAll, Algorithm::TwoLevel, 16, 4), 6);
  EXPECT_EQ(messagesOfOne(Kind::ReduceScatter, Algorithm::Halving, 16), 4);
  EXPECT_EQ(messagesOfOne(Kind::AllReduce, Algorithm::Halving, 16), 8);
  EXPECT_EQ(messagesOfOne(Kind::AllReduce, Algorithm::TwoLevel, 16, 8), 2 * (7 + 1));
  EXPECT_EQ(messagesOfOne(Kind::AllGather, Algorithm::TwoLevel, 16, 8), 7 + 1);
  EXPECT_EQ(messagesOfOne(Kind::AllGather, Algorithm::Doubling, 16), 4);
}

/// Between groups goes what one rank of each has, not what all of them have.
TEST(Movement, FewBytesGoBetweenGroups) {
  auto between = [](Kind kind, Algorithm algorithm) {
    Request request{kind, {64, 64}, 16, 0, hasTwoAxes(kind) ? 1u : 0u};
    request.together = 8;
    int64_t elements = 0;
    StepList list = makeSteps(request, algorithm);
    for (uint32_t rank = 0; rank < 8; ++rank)
      for (const Step &step : list.ranks[rank].steps)
        if (step.kind == StepKind::Send && step.peer >= 8)
          elements += elementCount(step.box);
    return elements;
  };
  int64_t whole = 64 * 64;
  EXPECT_EQ(between(Kind::AllReduce, Algorithm::TwoLevel), whole);
  EXPECT_EQ(between(Kind::AllReduce, Algorithm::Mesh), 8 * whole);
  EXPECT_EQ(between(Kind::AllGather, Algorithm::TwoLevel), whole / 2);
  EXPECT_EQ(between(Kind::AllGather, Algorithm::Mesh), 4 * whole);
  EXPECT_EQ(between(Kind::Broadcast, Algorithm::TwoLevel), whole);
}

/// Groups of two levels: as the request says, else about as many in one as there are groups; for sums powers of two.
TEST(Movement, RanksThatStandTogether) {
  auto inner = [](Kind kind, uint32_t ranks, uint32_t together) {
    Request request{kind, {4, 4}, ranks};
    request.together = together;
    return innerRanks(request);
  };
  EXPECT_EQ(inner(Kind::AllGather, 12, 6), 6u);
  EXPECT_EQ(inner(Kind::AllReduce, 12, 6), 2u);
  EXPECT_EQ(inner(Kind::AllGather, 12, 5), 3u);
  EXPECT_EQ(inner(Kind::AllReduce, 12, 0), 2u);
  EXPECT_EQ(inner(Kind::AllGather, 7, 0), 1u);
  EXPECT_EQ(inner(Kind::AllReduce, 9, 3), 1u);
}

/// Groups that are not about as large as their number, and pieces of chains, prove as well.
TEST(Movement, GroupsAndPiecesOfAnySize) {
  for (uint32_t ranks : {6u, 8u, 12u, 16u})
    for (uint32_t together : {2u, 3u, 4u, 6u, 8u})
      for (Kind kind : allKinds) {
        Request request{kind, {13, 9}, ranks, 0, hasTwoAxes(kind) ? 1u : 0u};
        request.together = together;
        request.wanted = Algorithm::TwoLevel;
        StepList list = makeSteps(request, algorithmsFor(request).front());
        EXPECT_EQ(findMistake(list), "") << ranks << " " << together;
        EXPECT_EQ(mistakeOf(list, together), "");
      }
  for (const StepList &list :
       variantsOf({Kind::Broadcast, {3, 20}, 5, 0, 0, 2}, Algorithm::Chain)) {
    EXPECT_EQ(findMistake(list), "");
    EXPECT_EQ(mistakeOf(list, 7), "");
  }
}

/// Closed forms of the costs, where the parts are even.
TEST(Movement, TimeFollowsTheFormulas) {
  Cost cost{.perMessage = 1e-6,
            .perSend = 0,
            .perReceive = 0,
            .perByte = 1e-9,
            .perByteCombined = 0,
            .leastFetched = 1e18};
  Request gather{Kind::AllGather, {8000}, 8, 0, 0, 0};
  double part = 1000 * 4 * cost.perByte;
  EXPECT_NEAR(predictSeconds(makeSteps(gather, Algorithm::Ring), 4, cost),
              7 * (cost.perMessage + part), 1e-12);
  EXPECT_NEAR(predictSeconds(makeSteps(gather, Algorithm::Doubling), 4, cost),
              3 * cost.perMessage + 7 * part, 3 * cost.perMessage);
  Request reduce{Kind::AllReduce, {8000}, 8, 0, 0, 0};
  EXPECT_NEAR(predictSeconds(makeSteps(reduce, Algorithm::Doubling), 4, cost),
              3 * (cost.perMessage + 8 * part), 1e-12);
  EXPECT_NEAR(predictSeconds(makeSteps(reduce, Algorithm::Halving), 4, cost),
              6 * cost.perMessage + 2 * 7 * part, 1e-12);
  Request chain{Kind::Broadcast, {8000}, 8};
  chain.pieces = 16;
  EXPECT_NEAR(predictSeconds(makeSteps(chain, Algorithm::Chain), 4, cost),
              7 * (cost.perMessage + part / 2) + 15 * part / 2, 1e-12);
  Request small{Kind::AllReduce, {4}, 8, 0, 0, 0}, large{Kind::AllReduce, {1 << 20}, 8, 0, 0, 0};
  auto secondsOf = [&](const Request &request, Algorithm algorithm) {
    return predictSeconds(makeSteps(request, algorithm), 4, cost);
  };
  EXPECT_LT(secondsOf(small, Algorithm::Doubling), secondsOf(small, Algorithm::Ring));
  EXPECT_GT(secondsOf(large, Algorithm::Doubling), secondsOf(large, Algorithm::Ring));
  // What all send at once waits twice, and sends no more than a ring.
  EXPECT_EQ(chooseSteps(small, 4, cost).algorithm, Algorithm::Mesh);
  EXPECT_LT(secondsOf(large, Algorithm::Mesh), secondsOf(large, Algorithm::Ring));
  // That is too little to be sure of, and the ring is the first of the table.
  EXPECT_LT(secondsOf(large, Algorithm::Ring), secondsOf(large, Algorithm::Mesh) * 1.02);
  EXPECT_EQ(chooseSteps(large, 4, cost).algorithm, Algorithm::Ring);
  // Messages from 4000 bytes on are fetched.
  cost.leastFetched = 4000;
  cost.perFetch = 3e-6;
  cost.perByteFetched = 0.5e-9;
  EXPECT_NEAR(predictSeconds(makeSteps(gather, Algorithm::Ring), 4, cost),
              7 * (cost.perMessage + cost.perFetch + part / 2), 1e-12);
}

/// Ranks that take turns on a core pass an array on in one message: pieces would keep no other core busy.
TEST(Movement, StepsFollowTheCores) {
  Request broadcast{Kind::Broadcast, {1 << 20}, 8};
  Cost cost;
  StepList alone = chooseSteps(broadcast, 4, cost);
  EXPECT_EQ(alone.algorithm, Algorithm::Chain);
  cost.ranksPerCore = 4;
  StepList together = chooseSteps(broadcast, 4, cost);
  EXPECT_EQ(together.algorithm, Algorithm::Tree);
  EXPECT_LT(messagesOf(together), messagesOf(alone));
  // All that is sent passes the two cores, one after the other.
  double bytes = 7 * 4 * double(1 << 20);
  EXPECT_GE(predictSeconds(together, 4, cost), bytes * cost.perByteFetched / 2);
  // A round more costs all of them a turn.
  cost.ranksPerCore = 2;
  Request exchange{Kind::AllToAll, {64, 64}, 4, 0, 1};
  EXPECT_LT(predictSeconds(makeSteps(exchange, Algorithm::Mesh), 4, cost),
            predictSeconds(makeSteps(exchange, Algorithm::Bruck), 4, cost));
  // So what all send at once, and wait for once, takes the least time, also where it has more messages.
  Request gather{Kind::AllGather, {128, 128}, 4};
  EXPECT_EQ(chooseSteps(gather, 4, cost).algorithm, Algorithm::Mesh);
  EXPECT_LT(messagesOf(makeSteps(gather, Algorithm::Doubling)),
            messagesOf(chooseSteps(gather, 4, cost)));
  EXPECT_EQ(chooseSteps({Kind::AllReduce, {512, 512}, 4}, 4, cost).algorithm, Algorithm::Mesh);
}

TEST(Movement, BytesSent) {
  EXPECT_EQ(mostElementsSent(makeSteps({Kind::AllGather, {80}, 8, 0, 0, 0}, Algorithm::Ring)), 70);
  EXPECT_EQ(mostElementsSent(makeSteps({Kind::AllReduce, {80}, 8, 0, 0, 0}, Algorithm::Ring)), 140);
  EXPECT_EQ(mostElementsSent(makeSteps({Kind::AllToAll, {8, 16}, 8, 0, 1, 0}, Algorithm::Pairwise)),
            14);
}

} // namespace
} // namespace ptl::movement
