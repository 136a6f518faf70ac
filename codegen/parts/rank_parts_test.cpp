// Programs whose parts are ranks, each with what it computes alone: here, threads with mailboxes between them.
#include "codegen/parts/exchange.h"
#include "codegen/parts/mailboxes_test_util.h"
#include "codegen/parts/sent_and_given.h"

#include <fstream>

namespace ptl::parts {
namespace {

/// The first difference between the first rank's results and what the program means.
std::string compareOnRanks(const CheckedText &checked, const CallableDecl &decl,
                           const std::vector<Value> &args, uint32_t hosts, uint32_t chips,
                           const MachineShape &shape) {
  auto placed = checked.placed(decl);
  if (!placed)
    return "not placed";
  Mailboxes mail(hosts * chips);
  std::vector<RunResult> results = mail.run(checked, *placed, args, shape);
  RunResult expected = reference::runEntry(*checked.program, checked.sources, decl, args);
  for (const RunResult &result : results)
    if (!result.ok())
      return result.message;
  for (size_t i = 0; i < expected.outputs.size(); ++i)
    if (std::string why = difference(results[0].outputs[i], expected.outputs[i]); !why.empty())
      return why;
  return mail.isEmpty() ? "" : "a message was never received";
}

TEST(Ranks, EveryMovement) {
  CheckedText checked(R"(
program p[M, N](a: f32[M, N] over host by M, chip by N, b: f32[M, N] partial(+) over chip, c: f32[M, N] at host 0 at chip 0)
    -> (whole: f32[M, N], rows: f32[M, N] over host, chip by M, owed: f32[1, N] partial(+) over host, chip, low: f32[1, N] partial(min) over chip, there: f32[M, N] at chip 0)
    at pod
{
    let all = all_gather(all_gather(a, over: chip), over: host)
    whole = all + all_reduce(b, over: chip) + broadcast(broadcast(c, over: host), over: chip)
    rows = reshard(shift(a, over: chip, by: 2), over: [host, chip], by: [M, M])
    owed = sum(rows, axis: 0)
    low = min(all_to_all(all_gather(a, over: host), over: chip, by: M), axis: 0)
    there = send(broadcast(send(c, over: chip, to: 0), over: host), over: chip, to: 0)
}
)");
  ASSERT_TRUE(checked.ok()) << checked.errors();
  std::vector<Value> args = {numbers({5, 7}, 1), numbers({5, 7}, 2), numbers({5, 7}, 3)};
  for (auto [hosts, chips] :
       {std::pair(1u, 1u), {1u, 3u}, {2u, 1u}, {2u, 2u}, {3u, 4u}, {2u, 8u}}) {
    EXPECT_EQ(compareOnRanks(checked, *checked.find("p"), args, hosts, chips,
                             {{"host", hosts}, {"chip", chips}}),
              "")
        << hosts << " hosts, " << chips << " chips";
    EXPECT_EQ(
        compareOnShape(checked, *checked.find("p"), args, {{"host", hosts}, {"chip", chips}}, 5),
        "")
        << hosts << " hosts, " << chips << " chips";
  }
}

TEST(Ranks, OneStopsAndTheOthersSayForWhomTheyWait) {
  CheckedText checked(R"(
program p[M](a: i32[M] over chip by M, b: i32[M] over chip by M) -> (y: i32[M]) at host {
    y = all_gather(a / b, over: chip)
}
)");
  ASSERT_TRUE(checked.ok()) << checked.errors();
  const CallableDecl &decl = *checked.find("p");
  auto placed = checked.placed(decl);
  ASSERT_TRUE(placed);
  RefArray divisors = reference::zeroArray(ElemKind::I32, {4});
  for (int64_t i : {0, 1, 3})
    divisors.set(i, Scalar::integer(1));
  Mailboxes mail(4);
  std::vector<RunResult> results = mail.run(
      checked, *placed, {numbers({4}, 1, ElemKind::I32), Value::array(divisors)}, {{"chip", 4}});
  EXPECT_EQ(results[2].status, reference::RunStatus::Arithmetic);
  EXPECT_NE(results[2].message.find("chip 2"), std::string::npos) << results[2].message;
  size_t waiting = 0;
  for (const RunResult &result : results)
    waiting += result.status == reference::RunStatus::Silent;
  EXPECT_GE(waiting, 1u);
}

/// Each rank decides by itself, and all decide alike.
TEST(Ranks, TakeTheSameArms) {
  CheckedText checked(projectText("codegen/parts/testdata/choices.ptl"));
  ASSERT_TRUE(checked.ok()) << checked.errors();
  Value x = numbers({7, 2}, 1, ElemKind::I32);
  for (uint32_t chips : {1u, 2u, 3u, 5u})
    for (int64_t n : {0, 1, 2, 5}) {
      std::map<std::string, std::vector<Value>> calls = {
          {"both_results", {x, Value::integer(n)}},
          {"by_round", {x, Value::integer(n)}},
          {"nested", {x, Value::integer(n)}},
          {"by_flag", {x, numbers({2}, n, ElemKind::I32), Value::boolean(n % 2 == 1)}},
          {"while_counted",
           {numbers({7}, 1, ElemKind::I32), numbers({7}, 2, ElemKind::I32), Value::integer(n)}},
          {"while_large", {numbers({7, 2}, 1), Value::scalar(ElemKind::F32, Scalar::real(0.3))}},
          {"until_small",
           {numbers({7, 2}, 1), Value::scalar(ElemKind::F32, Scalar::real(1)), Value::integer(n)}},
      };
      for (const auto &[name, args] : calls)
        EXPECT_EQ(compareOnRanks(checked, *checked.find(name), args, 1, chips, {{"chip", chips}}),
                  "")
            << name << " on " << chips << " chips, " << n;
    }
}

TEST(Ranks, MeshesOfOneLevel) {
  CheckedText checked(R"(
program p[B, D, F](x: f32[B, D] over rows by B, w: f32[D, F] over columns by D) -> (y: f32[B, F] over rows by B, s: f32[1, F])
    at host mesh chip as rows, columns: 2
{
    y = all_reduce(x @ w, over: columns)
    s = all_reduce(sum(y, axis: 0), over: rows)
}
)");
  ASSERT_TRUE(checked.ok()) << checked.errors();
  std::vector<Value> args = {numbers({5, 7}, 1), numbers({7, 3}, 2)};
  for (uint32_t chips : {2u, 4u, 6u, 16u}) {
    EXPECT_EQ(compareOnParts(checked, *checked.find("p"), args, chips, 3), "");
    EXPECT_EQ(compareOnRanks(checked, *checked.find("p"), args, 1, chips, {{"chip", chips}}), "");
  }
  EXPECT_NE(compareOnParts(checked, *checked.find("p"), args, 3, 3).find("a mesh of 2"),
            std::string::npos);
}

/// Every program of the examples on every number of parts, split into hosts in every way.
TEST(Ranks, ExamplesOverTwoLevels) {
  CheckedText checked(projectText("codegen/parts/testdata/two_levels.ptl"));
  ASSERT_TRUE(checked.ok()) << checked.errors();
  std::vector<Value> step = {numbers({6, 5}, 1), numbers({6, 3}, 2), numbers({5, 4}, 3),
                             numbers({4, 3}, 4), Value::scalar(ElemKind::F32, Scalar::real(0.5))};
  for (auto [hosts, chips] :
       {std::pair(1u, 1u), {2u, 1u}, {1u, 3u}, {2u, 2u}, {5u, 1u}, {2u, 4u}, {4u, 4u}}) {
    MachineShape shape = {{"host", hosts}, {"chip", chips}};
    for (uint64_t seed = 0; seed < 5; ++seed) {
      EXPECT_EQ(compareOnShape(checked, *checked.find("training_step"), step, shape, seed), "");
      for (const char *name : {"serving_layout", "load"})
        EXPECT_EQ(compareOnShape(checked, *checked.find(name), {numbers({7, 10}, 1)}, shape, seed),
                  "");
    }
    EXPECT_EQ(compareOnRanks(checked, *checked.find("training_step"), step, hosts, chips, shape),
              "");
  }
}

/// Elements that differ by rank and place, small enough for all sums to be exact.
RefArray smallNumbers(ElemKind elem, const movement::Box &box, uint32_t salt) {
  RefArray array = reference::zeroArray(elem, shapeOfBox(box));
  for (int64_t i = 0; i < array.count(); ++i) {
    int64_t value = (i * 5 + salt * 3 + i / 4) % (elem == ElemKind::Bool ? 2 : 3) +
                    (elem == ElemKind::F8E8M0 ? 1 : 0);
    array.set(i, isFloat(elem) ? roundScalar(Scalar::real(static_cast<double>(value)), elem)
                               : Scalar::integer(value));
  }
  return array;
}

/// Executes a request on all parts of one process, in their bytes, and folds the sources one by one beside it.
std::string exchangedOtherwise(const movement::Request &request, ElemKind elem, Fold fold,
                               uint64_t seed) {
  GroupMove group;
  std::vector<RefArray> sources;
  std::vector<Bytes> bytes;
  for (uint32_t rank = 0; rank < request.ranks; ++rank) {
    group.parts.push_back(rank);
    sources.push_back(smallNumbers(elem, sourceBoxOf(request, rank), rank));
    bytes.push_back(bytesOf(Value::array(sources.back())));
  }
  bool isFolded = request.kind == movement::Kind::AllReduce;
  RefArray expected = sources[0];
  for (uint32_t rank = 1; isFolded && rank < request.ranks; ++rank)
    for (int64_t i = 0; i < expected.count(); ++i)
      expected.set(i, folded(fold, elem, expected.at(i), sources[rank].at(i)));
  Value gathered = Value::array(reference::zeroArray(elem, request.shape));
  for (uint32_t rank = 0; !isFolded && rank < request.ranks; ++rank)
    putIn(gathered, movement::wholeBox(request.shape), sourceBoxOf(request, rank),
          Value::array(sources[rank]));
  Bytes wanted = bytesOf(isFolded ? Value::array(expected) : gathered);
  for (movement::Algorithm algorithm : algorithmsFor(request)) {
    group.list = makeSteps(request, algorithm);
    bool isOther = false;
    std::string why = exchangeTogether(group, elemBytes(elem), bytes, combining(fold, elem), seed,
                                       [&](size_t, std::span<const uint8_t> result) {
                                         isOther |= !std::ranges::equal(result, wanted);
                                       });
    if (!why.empty() || isOther)
      return std::string(elemName(elem)) + ": another result than that of the fold" + why;
  }
  return "";
}

/// In one process, parts hold elements in the bytes of their type: each type is moved and folded as such.
TEST(Together, ElementsOfEveryType) {
  for (auto elem = ElemKind::Bool; elem <= ElemKind::Int; elem = ElemKind(int(elem) + 1))
    for (uint32_t ranks : {1u, 2u, 3u, 5u})
      for (int64_t rows : {0, 1, 4, 7}) {
        movement::Request request{movement::Kind::AllGather, {rows, 3}, ranks};
        EXPECT_EQ(exchangedOtherwise(request, elem, Fold::Sum, ranks), "");
        request.kind = movement::Kind::AllReduce;
        EXPECT_EQ(exchangedOtherwise(request, elem, Fold::Max, ranks), "");
        EXPECT_EQ(exchangedOtherwise(request, elem, Fold::Min, ranks), "");
        bool isExact = isNumber(elem) && elemBits(elem) >= 8 && elem != ElemKind::F8E8M0;
        if (isExact)
          EXPECT_EQ(exchangedOtherwise(request, elem, Fold::Sum, ranks), "");
      }
}

} // namespace
} // namespace ptl::parts
