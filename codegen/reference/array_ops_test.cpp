#include "codegen/reference/ops_elementwise.h"
#include "codegen/reference/ops_order.h"
#include "codegen/reference/ops_product.h"
#include "codegen/reference/ops_reduce.h"
#include "codegen/reference/ops_shape.h"
#include "codegen/reference/test_values.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace ptl::reference {
namespace {

Value elementwiseOf(OpId op, std::vector<Value> args) { return elementwise(op, args); }

TEST(ArrayOps, elementwiseBroadcastsAndRounds) {
  Value column = floats({2, 1}, {1, 10}), row = floats({3}, {1, 2, 3});
  EXPECT_EQ(valueText(elementwiseOf(OpId::Add, {column, row})), "[[2, 3, 4],\n [11, 12, 13]]");
  Value half = Value::scalar(ElemKind::F16, Scalar::real(0.0001));
  EXPECT_EQ(elementwiseOf(OpId::Add, {floats({1}, {1}, ElemKind::F16), half}).asArray().floats[0],
            1.0);
  EXPECT_EQ(valueText(elementwiseOf(OpId::Lt, {row, floats({1}, {2})})), "[true, false, false]");
  EXPECT_EQ(valueText(elementwiseOf(
                OpId::Add, {integers({1}, {127}, ElemKind::I8), integers({1}, {1}, ElemKind::I8)})),
            "[-128]");
  EXPECT_THROW(elementwiseOf(OpId::Div, {integers({2}, {1, 1}), integers({2}, {1, 0})}), Stop);
  EXPECT_EQ(elementwiseOf(OpId::Exp, {floats({0, 3}, {})}).asArray().count(), 0);
}

/// Arrays as a whole become bytes, and come from them, as their elements do one by one.
TEST(ArrayOps, arraysInMemoryAreTheirElements) {
  std::mt19937_64 random(3);
  for (const ElemInfo &info : elemInfos) {
    ElemKind elem = info.kind;
    auto size = static_cast<size_t>(info.storageBytes);
    constexpr size_t count = 2000;
    std::vector<uint8_t> bytes(count * size), stored(bytes.size()), expected(bytes.size());
    for (size_t i = 0; i < bytes.size();
         ++i) // Bytes of ones are NaN, infinity or -1 in many types.
      bytes[i] = random() % 4 == 0 ? 0xff : static_cast<uint8_t>(random());
    RefArray array = arrayFromMemory(elem, {count}, bytes.data());
    ASSERT_EQ(array.count(), static_cast<int64_t>(count));
    arrayToMemory(array, stored.data());
    for (size_t i = 0; i < count; ++i) {
      Scalar one = loadElem(&bytes[i * size], elem), held = array.at(static_cast<int64_t>(i));
      EXPECT_TRUE(one.i == held.i && (one.f == held.f || (one.f != one.f && held.f != held.f)))
          << info.name << " " << i;
      storeElem(&expected[i * size], elem, one);
    }
    EXPECT_EQ(stored, expected) << info.name;
  }
}

TEST(ArrayOps, roundingAgreesWithTheExactRoutine) {
  for (ElemKind elem : {ElemKind::F16, ElemKind::BF16, ElemKind::F8E4M3, ElemKind::F8E5M2})
    for (double start : {1e-9, 1e-5, 0.1, 1.0, 200.0, 60000.0, 3e38})
      for (int i = 0; i < 200; ++i) {
        double value = start * (1 + i * 0.00731) * (i % 2 ? -1 : 1), rounded = value;
        roundAll(&rounded, 1, elem);
        EXPECT_EQ(rounded, roundFloat(value, elem)) << value << " " << elemName(elem);
      }
}

TEST(ArrayOps, reductions) {
  Value x = floats({2, 3}, {1, 2, 3, 4, 5, 6});
  int64_t rows[] = {1}, both[] = {0, 1};
  EXPECT_EQ(valueText(reduceValue(OpId::ReduceSum, x, rows, false)), "[[6],\n [15]]");
  EXPECT_EQ(valueText(reduceValue(OpId::ReduceMax, x, both, false)), "[[6]]");
  EXPECT_EQ(valueText(reduceValue(OpId::ReduceMean, x, {}, true)), "3.5");
  EXPECT_EQ(valueText(reduceValue(OpId::ReduceProd, floats({0}, {}), {}, true)), "1");
  EXPECT_EQ(valueText(reduceValue(OpId::ReduceMax, floats({0}, {}), {}, true)), "-inf");
  EXPECT_EQ(valueText(argReduce(OpId::ReduceArgmax, floats({4}, {1, NAN, 3, NAN}), std::nullopt)),
            "1");
  EXPECT_EQ(valueText(argReduce(OpId::ReduceArgmin, x, 0)), "[[0, 0, 0]]");
  EXPECT_EQ(valueText(scanValue(OpId::Cumsum, x, 0)), "[[1, 2, 3],\n [5, 7, 9]]");
  EXPECT_EQ(valueText(isUnique(integers({3}, {1, 2, 1}))), "false");
  EXPECT_EQ(valueText(isSorted(integers({3}, {1, 2, 2}))), "true");
}

TEST(ArrayOps, products) {
  Value a = integers({1, 2}, {100, 100}, ElemKind::I8),
        b = integers({2, 1}, {100, 100}, ElemKind::I8);
  EXPECT_EQ(valueText(matmulValue(a, b)), "[[20000]]");
  EXPECT_EQ(matmulValue(a, b).elem(), ElemKind::I32);
  Value batch = floats({2, 1, 2}, {1, 2, 3, 4}), matrix = floats({2, 2}, {1, 0, 0, 1});
  EXPECT_EQ(valueText(matmulValue(batch, matrix)), "[[[1, 2]],\n [[3, 4]]]");
  EXPECT_EQ(valueText(matmulValue(floats({2}, {1, 2}), floats({2}, {3, 4}))), "11");
  Value pair[] = {floats({2, 2}, {1, 2, 3, 4}), floats({2, 2}, {5, 6, 7, 8})};
  EXPECT_EQ(valueText(einsumValue("ij,kj->ik", pair)), "[[17, 23],\n [39, 53]]");
  EXPECT_EQ(valueText(einsumValue("ii->", std::span(pair, 1))), "5");
  EXPECT_EQ(valueText(matmulValue(floats({2, 0}, {}), floats({0, 1}, {}))), "[[0],\n [0]]");
}

TEST(ArrayOps, shapes) {
  Value x = floats({2, 3}, {1, 2, 3, 4, 5, 6});
  int64_t swapped[] = {1, 0}, before[] = {0, 1}, after[] = {1, 0};
  EXPECT_EQ(valueText(transposeValue(x, swapped)), "[[1, 4],\n [2, 5],\n [3, 6]]");
  EXPECT_EQ(valueText(padValue(x, Scalar::real(9), before, after)),
            "[[9, 1, 2, 3],\n [9, 4, 5, 6],\n [9, 9, 9, 9]]");
  Value parts[] = {x, floats({2, 1}, {7, 8})};
  EXPECT_EQ(valueText(concatValues(parts, 1)), "[[1, 2, 3, 7],\n [4, 5, 6, 8]]");
  Value mixed = interleaveValues(floats({2}, {1, 3}), floats({2}, {2, 4}));
  EXPECT_EQ(valueText(mixed), "[1, 2, 3, 4]");
  EXPECT_EQ(valueText(deinterleaveValue(mixed).asParts()[1]), "[2, 4]");
  EXPECT_EQ(valueText(triangleValue(x, 0, true)), "[[1, 0, 0],\n [4, 5, 0]]");
  EXPECT_EQ(valueText(broadcastValue(floats({1}, {2}), {2, 2})), "[[2, 2],\n [2, 2]]");
}

TEST(ArrayOps, positionsAndOrder) {
  Value x = floats({2, 3}, {1, 2, 3, 4, 5, 6}), idx = integers({2, 1}, {2, 0});
  EXPECT_EQ(valueText(gatherValue(x, idx, 1)), "[[3],\n [4]]");
  EXPECT_THROW(gatherValue(x, integers({2, 1}, {3, 0}), 1), Stop);
  EXPECT_EQ(valueText(scatterValue(floats({2}, {1, 1}), integers({3}, {0, 0, 1}),
                                   floats({3}, {2, 3, 4}), 0, "add")),
            "[6, 5]");
  Value ties = floats({4}, {1, NAN, 1, 3});
  EXPECT_EQ(valueText(sortValue(ties, 0, false, false)), "[1, 1, 3, nan]");
  EXPECT_EQ(valueText(sortValue(ties, 0, true, true)), "[3, 0, 2, 1]");
  EXPECT_EQ(valueText(topkValue(ties, 2).asParts()[1]), "[3, 0]");
}

TEST(ArrayOps, sharedArraysAreCopiedWhenWritten) {
  Value a = floats({2}, {1, 2}), b = a;
  b.mutableArray().floats[0] = 5;
  EXPECT_EQ(valueText(a), "[1, 2]");
  EXPECT_EQ(valueText(b), "[5, 2]");
}

} // namespace
} // namespace ptl::reference
