// Results of programs on parts that have a value from the beginning, and `return` in loops, beside the reference.
#include "codegen/parts/parts_test_util.h"

namespace ptl::parts {
namespace {

Value number(int64_t value) { return Value::integer(value); }
Value whole(int64_t value) { return Value::scalar(ElemKind::I32, Scalar::integer(value)); }

void expectAgreement(const Calls &calls, const std::vector<MachineShape> &shapes) {
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
    expectAgreement({{"counted", {ints({3, 5}, 1), number(often)}},
                     {"counted", {ints({0, 5}, 1), number(often)}}},
                    someChips());
  expectAgreement({{"begun", {ints({5}, 1), ints({5}, 2)}},
                   {"stepped", {ints({3, 5}, 1), ints({5}, 2), number(2)}},
                   {"ranged", {ints({7}, 1)}},
                   {"ranged", {ints({1}, 1)}}},
                  someChips());
  expectAgreement({{"scaled", {ints({5, 3}, 1), ints({3}, 2)}}},
                  {{{"chip", 1}, {"host", 1}}, {{"chip", 3}, {"host", 2}}, {{"chip", 2}, {"host", 5}}});
}

TEST(Results, AreReturnedFromLoops) {
  for (int64_t limit : {-100, 0, 3, 1000})
    expectAgreement({{"left", {ints({4, 3, 5}, 1), whole(limit)}},
                     {"left", {ints({4, 0, 5}, 1), whole(limit)}},
                     {"left", {ints({0, 3, 5}, 1), whole(limit)}}},
                    someChips());
  for (int64_t limit : {-1, 0, 1, 2, 5, 100})
    expectAgreement({{"searched", {ints({4, 5}, 1), number(limit)}}}, someChips());
}

} // namespace
} // namespace ptl::parts
