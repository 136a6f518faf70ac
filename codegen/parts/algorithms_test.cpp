// Movements whose calls name an algorithm: it is taken, and changes no value.
#include "codegen/parts/chunk_schedule.h"
#include "codegen/parts/letters_test_util.h"
#include "codegen/parts/time_parts_test_util.h"

namespace ptl::parts {
namespace {

/// Rows to experts, and what these make of them back: both ways by the algorithm.
std::string rowsText(const MovementRecord &movement, const std::string &way) {
  std::string how = way.empty() ? "" : ", how: " + way;
  bool isBack = movement.id == MovementId::Combine;
  return "import std.experts: combine, dispatch\n"
         "program p[M, N](x: f32[M, N] over chip by M, to: i32[M, 2] over chip by M, w: f32[M, "
         "2])\n"
         "    -> (y: f32[M, N] over chip by M)\n    at host\nwhere M > 0\n{\n"
         "    let sent = dispatch(x, to, 5, 2 * M, over: chip" +
         (isBack ? "" : how) +
         ")\n"
         "    y = combine(sent, to, w, over: chip" +
         (isBack ? how : "") + ")\n}\n";
}

/// A program of one movement, with `how:` if a way is given.
std::string movementText(const MovementRecord &movement, const std::string &way) {
  if (movement.takes == MovementTakes::Rows)
    return rowsText(movement, way);
  std::string from = movement.from == PlacementKind::Partial  ? " partial(+) over chip"
                     : movement.from == PlacementKind::Single ? " at chip 0"
                                                              : " over chip by M";
  bool isCut = movement.takes == MovementTakes::Axis || movement.takes == MovementTakes::Axes;
  std::string to = isCut                                       ? " over chip by N"
                   : movement.takes == MovementTakes::Distance ? " over chip by M"
                   : movement.takes == MovementTakes::Part     ? " at chip 0"
                                                               : "";
  std::string named = isCut                                       ? ", by: N"
                      : movement.takes == MovementTakes::Distance ? ", by: 1"
                      : movement.takes == MovementTakes::Part     ? ", to: 0"
                                                                  : "";
  std::string moved = std::string(movement.name) + "(x, over: chip" + named +
                      (way.empty() ? "" : ", how: " + way) + ")";
  return "program p[M, N](x: f32[M, N]" + from + ") -> (y: f32[M, N]" + to +
         ") at host {\n    y = " + moved + "\n}\n";
}

std::vector<std::string> waysOf(const MovementRecord &movement) {
  std::stringstream words{std::string(movement.algorithms)};
  std::vector<std::string> ways;
  for (std::string way; words >> way;)
    ways.push_back(way);
  return ways;
}

std::vector<Value> argumentsOf(const MovementRecord &movement) {
  std::vector<Value> args = {numbers({7, 9}, 1)};
  if (movement.takes == MovementTakes::Rows) {
    RefArray to = reference::zeroArray(ElemKind::I32, {7, 2});
    for (int64_t i = 0; i < to.count(); ++i)
      to.set(i, Scalar::integer(i * 3 % 6 - 1));
    args.push_back(Value::array(std::move(to)));
    args.push_back(numbers({7, 2}, 2));
  }
  return args;
}

/// The movement of a timed program that has the record.
const MoveTime &timeOf(const Timed &timed, const MovementRecord &movement) {
  bool isSecond = movement.id == MovementId::Combine;
  return timed.time->moves[isSecond ? 1 : 0];
}

TEST(Algorithms, OfAllMovementsGiveTheSame) {
  size_t count = 0;
  for (const MovementRecord &movement : allMovements)
    for (const std::string &way : waysOf(movement)) {
      CheckedText checked(movementText(movement, way));
      ASSERT_TRUE(checked.ok()) << movementText(movement, way) << checked.errors();
      for (uint32_t parts : {1u, 2u, 3u, 4u, 5u, 8u})
        EXPECT_EQ(compareOnParts(checked, *checked.find("p"), argumentsOf(movement), parts, 3), "")
            << movement.name << " " << way << " on " << parts;
      ++count;
    }
  EXPECT_EQ(count, 42u);
}

TEST(Algorithms, AreThoseThatAreNamed) {
  for (const MovementRecord &movement : allMovements)
    for (const std::string &way : waysOf(movement)) {
      Timed timed(movementText(movement, way), "p", {{"chip", 4}});
      ASSERT_TRUE(timed.time) << timed.why;
      EXPECT_EQ(movement::algorithmName(timeOf(timed, movement).algorithm), way) << movement.name;
    }
}

/// The words of a record are the rows of the table of movements: no more, and no less.
TEST(Algorithms, AreThoseOfTheTable) {
  constexpr std::pair<MovementId, movement::Kind> kinds[] = {
      {MovementId::AllReduce, movement::Kind::AllReduce},
      {MovementId::ReduceScatter, movement::Kind::ReduceScatter},
      {MovementId::AllGather, movement::Kind::AllGather},
      {MovementId::AllToAll, movement::Kind::AllToAll},
      {MovementId::Shift, movement::Kind::Boxes},
      {MovementId::Broadcast, movement::Kind::Broadcast},
      {MovementId::Send, movement::Kind::Boxes},
      {MovementId::Reshard, movement::Kind::Boxes},
      {MovementId::Dispatch, movement::Kind::Rows},
      {MovementId::Combine, movement::Kind::Rows}};
  EXPECT_EQ(std::size(kinds), std::size(allMovements));
  for (const auto &[id, kind] : kinds) {
    movement::Request request{kind, {8, 8}, 8};
    std::string words;
    for (movement::Algorithm algorithm : movement::algorithmsFor(request))
      words += (words.empty() ? "" : " ") + std::string(movement::algorithmName(algorithm));
    EXPECT_EQ(movementRecord(id).algorithms, words) << movementRecord(id).name;
  }
}

/// Of three parts there is no doubling: the fastest of the others is taken.
TEST(Algorithms, WhatThereIsNotOfSoManyPartsIsLeft) {
  const MovementRecord &sum = movementRecord(MovementId::AllReduce);
  Timed three(movementText(sum, "doubling"), "p", {{"chip", 3}});
  Timed free(movementText(sum, ""), "p", {{"chip", 3}});
  EXPECT_EQ(three.seconds(), free.seconds());
}

constexpr const char *kScheduled = R"(
program p[S, D](x: f32[S, D] over chip by S, w: f32[S, D] over chip by S) -> (y: f32[S, D], z: f32[1, D]) at host {
    let all = all_gather(x, over: chip)
    let sum = all_reduce(sum(w, axis: 0), over: chip, how: tree)
    y = all
    z = sum
}
)";

/// A schedule for a machine names an algorithm in place of that of the call, and so sends other messages, but gives the same.
TEST(Algorithms, AreThoseOfTheSchedule) {
  std::vector<Value> args = {numbers({9, 4}, 1), numbers({9, 4}, 2)};
  size_t tree = 0, ring = 0;
  RunResult expected = runOnRanks(kScheduled, args, 4, 1 << 20, &tree);
  RunResult other = runOnRanks(std::string(kScheduled) + "schedule p { sum { how ring } }", args, 4,
                               1 << 20, &ring);
  ASSERT_TRUE(expected.ok() && other.ok()) << expected.message << other.message;
  for (size_t i = 0; i < 2; ++i)
    EXPECT_EQ(difference(other.outputs[i], expected.outputs[i]), "");
  EXPECT_NE(tree, ring);
  CheckedText checked(std::string(kScheduled) +
                      "schedule p on a3 when S > 4 { all { how bruck } }\nschedule p on a3 { all { "
                      "how doubling }, sum { how halving } }");
  EXPECT_NE(checked.errors().find("the algorithms of `all_gather` are: "), std::string::npos)
      << checked.errors();
  CheckedText fine(std::string(kScheduled) +
                   "schedule p on a3 { all { how doubling }, sum { how halving } }");
  ASSERT_TRUE(fine.ok()) << fine.errors();
  std::optional<PlacedProgram> placed = fine.placed(*fine.find("p"));
  ASSERT_TRUE(placed);
  auto ways = [&](std::string_view machine) {
    PlacedProgram scheduled = *placed;
    applySchedule(*fine.program, machine, [](SymbolId) { return std::nullopt; }, scheduled);
    std::string all;
    for (const PlacedValue &value : scheduled.values)
      if (value.kind == PlacedKind::Move)
        all += std::string(value.how) + " ";
    return all;
  };
  EXPECT_EQ(ways("a3"), "doubling halving ");
  EXPECT_EQ(ways("a2"), " tree ");
}

TEST(Algorithms, OfSchedulesAreOfMovements) {
  auto errors = [](const std::string &item) {
    return CheckedText(std::string(kScheduled) + "schedule p { " + item + " }").errors();
  };
  EXPECT_EQ(errors("all { how mesh }"), "");
  EXPECT_NE(errors("all { how tree }").find("the algorithms of `all_gather` are: "),
            std::string::npos);
  EXPECT_NE(errors("how ring").find("does not say which movement"), std::string::npos);
  EXPECT_NE(errors("none { how ring }"), "");
  EXPECT_NE(CheckedText("program q[N](x: f32[N]) -> (y: f32[N]) {\n    let a = x + 1.0\n    y = "
                        "a\n}\nschedule q { a { how ring } }")
                .errors()
                .find("no program on parts"),
            std::string::npos);
}

TEST(Algorithms, OthersAreRefused) {
  for (const MovementRecord &movement : allMovements) {
    std::string errors = CheckedText(movementText(movement, "quick")).errors();
    EXPECT_NE(
        errors.find("`how:` takes one of its algorithms: " + std::string(movement.algorithms)),
        std::string::npos)
        << errors;
  }
}

} // namespace
} // namespace ptl::parts
