// Movements whose calls name an algorithm: it is taken, and changes no value.
#include "codegen/parts/time_parts_test_util.h"

namespace ptl::parts {
namespace {

/// A program of one movement, with `how:` if a way is given.
std::string movementText(const MovementRecord &movement, const std::string &way) {
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
  bool isTurned = movement.takes == MovementTakes::Distance;
  return "program p[M, N](x: f32[M, N]" + from + ") -> (y: f32[M, N]" + (isTurned ? "" : to) +
         ") at host {\n    y = " + (isTurned ? "all_gather(" + moved + ", over: chip)" : moved) +
         "\n}\n";
}

std::vector<std::string> waysOf(const MovementRecord &movement) {
  std::stringstream words{std::string(movement.algorithms)};
  std::vector<std::string> ways;
  for (std::string way; words >> way;)
    ways.push_back(way);
  return ways;
}

TEST(Algorithms, OfAllMovementsGiveTheSame) {
  size_t count = 0;
  for (const MovementRecord &movement : allMovements)
    for (const std::string &way : waysOf(movement)) {
      CheckedText checked(movementText(movement, way));
      ASSERT_TRUE(checked.ok()) << movementText(movement, way) << checked.errors();
      for (uint32_t parts : {1u, 2u, 3u, 4u, 5u, 8u})
        EXPECT_EQ(compareOnParts(checked, *checked.find("p"), {numbers({7, 9}, 1)}, parts, 3), "")
            << movement.name << " " << way << " on " << parts;
      ++count;
    }
  EXPECT_EQ(count, 19u);
}

TEST(Algorithms, AreThoseThatAreNamed) {
  for (const MovementRecord &movement : allMovements)
    for (const std::string &way : waysOf(movement)) {
      Timed timed(movementText(movement, way), "p", {{"chip", 4}});
      ASSERT_TRUE(timed.time) << timed.why;
      EXPECT_EQ(movement::algorithmName(timed.time->moves[0].algorithm), way) << movement.name;
    }
}

/// Of three parts there is no doubling: the fastest of the others is taken.
TEST(Algorithms, WhatThereIsNotOfSoManyPartsIsLeft) {
  const MovementRecord &sum = movementRecord(MovementId::AllReduce);
  Timed three(movementText(sum, "doubling"), "p", {{"chip", 3}});
  Timed free(movementText(sum, ""), "p", {{"chip", 3}});
  EXPECT_EQ(three.seconds(), free.seconds());
}

TEST(Algorithms, OthersAreRefused) {
  for (const MovementRecord &movement : allMovements) {
    if (movement.algorithms.empty())
      continue;
    std::string errors = CheckedText(movementText(movement, "quick")).errors();
    EXPECT_NE(
        errors.find("`how:` takes one of its algorithms: " + std::string(movement.algorithms)),
        std::string::npos)
        << errors;
  }
}

} // namespace
} // namespace ptl::parts
