// Results of programs on parts that have a value from the beginning, and `return` in loops, beside the reference.
#include "codegen/parts/parts_test_util.h"

namespace ptl::parts {
namespace {

Value count(int64_t value) { return Value::integer(value); }
Value whole32(int64_t value) { return Value::scalar(ElemKind::I32, Scalar::integer(value)); }

void agrees(const Calls &calls, const std::vector<MachineShape> &shapes) {
  parts::expectAgreement("codegen/parts/testdata/results.ptl", calls, shapes);
}

std::vector<MachineShape> someChips() {
  std::vector<MachineShape> shapes;
  for (uint32_t chips : {1u, 2u, 3u, 4u, 5u, 8u})
    shapes.push_back({{"chip", chips}});
  return shapes;
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

} // namespace
} // namespace ptl::parts
