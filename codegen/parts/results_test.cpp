// Results of programs on parts that have a value from the beginning, and `return` in loops, beside the reference.
#include "codegen/parts/letters_test_util.h"

namespace ptl::parts {
namespace {

Value count(int64_t value) { return Value::integer(value); }
Value whole32(int64_t value) { return Value::scalar(ElemKind::I32, Scalar::integer(value)); }

void agrees(const Calls &calls, const std::vector<MachineShape> &shapes) {
  parts::expectAgreement("codegen/parts/testdata/results.ptl", calls, shapes);
}

TEST(Results, HaveValuesFromTheBeginning) {
  for (int64_t often : {0, 2, 9})
    agrees({{"counted", {ints({3, 5}, 1), count(often)}},
            {"counted", {ints({0, 5}, 1), count(often)}}},
           someChips());
  agrees({{"begun", {ints({5}, 1), ints({5}, 2)}},
          {"stepped", {ints({3, 5}, 1), ints({5}, 2), count(2)}},
          {"ranged", {ints({7}, 1)}},
          {"ranged", {ints({1}, 1)}}},
         someChips());
  agrees({{"scaled", {ints({5, 3}, 1), ints({3}, 2)}}},
         {{{"chip", 1}, {"host", 1}}, {{"chip", 3}, {"host", 2}}, {{"chip", 2}, {"host", 5}}});
}

TEST(Results, AreReturnedFromLoops) {
  for (int64_t limit : {-100, 0, 3, 1000})
    agrees({{"left", {ints({4, 3, 5}, 1), whole32(limit)}},
            {"left", {ints({4, 0, 5}, 1), whole32(limit)}},
            {"left", {ints({0, 3, 5}, 1), whole32(limit)}}},
           someChips());
  for (int64_t limit : {-1, 0, 1, 2, 5, 100})
    agrees({{"searched", {ints({4, 5}, 1), count(limit)}}}, someChips());
}

/// Ranks, whose movements go on beside, give what the reference gives; the entry of the file is called as `p`.
void agreesAsRanks(const std::string &file, const std::string &name,
                   const std::vector<Value> &args) {
  std::string text = projectText(file);
  text.replace(text.find("program " + name + "["), 9 + name.size(), "program p[");
  CheckedText checked(text);
  ASSERT_TRUE(checked.ok()) << checked.errors();
  for (uint32_t count : {1u, 2u, 3u, 5u, 8u}) {
    reference::RunOptions asWhole;
    asWhole.dims = {{"chips", count}};
    RunResult expected =
        reference::runEntry(*checked.program, checked.sources, *checked.find("p"), args, asWhole);
    RunResult result = runOnRanks(text, args, count);
    ASSERT_TRUE(result.ok() && expected.ok()) << result.message << expected.message;
    for (size_t i = 0; i < expected.outputs.size(); ++i)
      EXPECT_EQ(difference(result.outputs[i], expected.outputs[i]), "") << name << " " << count;
    for (size_t i = 0; i < expected.inouts.size(); ++i)
      EXPECT_EQ(difference(result.inouts[i], expected.inouts[i]), "") << name << " " << count;
  }
}

TEST(Results, AreThoseOfRanks) {
  const std::string file = "codegen/parts/testdata/results.ptl",
                    sections = "codegen/parts/testdata/sections.ptl";
  agreesAsRanks(file, "counted", {ints({3, 5}, 1), count(2)});
  agreesAsRanks(file, "begun", {ints({5}, 1), ints({5}, 2)});
  agreesAsRanks(file, "stepped", {ints({3, 5}, 1), ints({5}, 2), count(2)});
  agreesAsRanks(file, "ranged", {ints({7}, 1)});
  for (int64_t limit : {0, 2, 1000})
    agreesAsRanks(file, "left", {ints({4, 3, 5}, 1), whole32(limit)});
  for (int64_t limit : {0, 1, 5})
    agreesAsRanks(file, "searched", {ints({4, 5}, 1), count(limit)});
  agreesAsRanks(sections, "trained", {ints({3, 2, 4}, 1), ints({5, 4, 4}, 2)});
  agreesAsRanks(sections, "there_and_back", {ints({5}, 1), ints({7, 5}, 2)});
}

} // namespace
} // namespace ptl::parts
