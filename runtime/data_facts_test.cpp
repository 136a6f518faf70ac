#include "runtime/data_facts.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <random>

namespace ptl::rt {
namespace {

using Op = Expr::Op;

Expr constant(int64_t value) { return {Op::Const, value, 0, -1, {}}; }
Expr element() { return {Op::Elem, 0, 0, 0, {}}; }
/// The operands of an operator; of a fact about data, the array is the one with the number 0.
Expr with(Op op, std::vector<Expr> args) { return {op, 0, 0, 0, std::move(args)}; }

/// A matrix whose rows may lie apart.
template <typename T> class DataFacts : public testing::Test {
protected:
  static constexpr PtlElem elem = sizeof(T) == 1                ? PTL_I8
                                  : sizeof(T) == 2              ? PTL_U16
                                  : std::is_floating_point_v<T> ? PTL_F64
                                                                : PTL_I64;

  const PtlArray &matrix(std::vector<T> data, int64_t rows, int64_t cols, int64_t stride) {
    data_ = std::move(data);
    extents_[0] = rows, extents_[1] = cols, strides_[0] = stride, strides_[1] = 1;
    array_ = {data_.data(), 2, extents_, strides_, elem};
    return array_;
  }
  ExprValues values(DataBounds *bounds) {
    ExprValues values;
    values.arrays = {&arrays_, 1};
    values.bounds = bounds;
    return values;
  }

  std::vector<T> data_;
  int64_t extents_[2] = {}, strides_[2] = {};
  PtlArray array_{};
  const PtlArray *arrays_ = &array_;
};

using Types = testing::Types<int8_t, uint16_t, int64_t, double>;
TYPED_TEST_SUITE(DataFacts, Types);

/// What follows from bounds holds for each element, and simple bounds are found.
TYPED_TEST(DataFacts, WhatFollowsHolds) {
  std::mt19937 random(3);
  const Op operators[] = {Op::Add,      Op::Sub,      Op::Mul,     Op::Min, Op::Max,
                          Op::FloorDiv, Op::TruncDiv, Op::CeilDiv, Op::Mod, Op::Rem};
  const Op comparisons[] = {Op::Eq, Op::Ne, Op::Lt, Op::Le, Op::Gt, Op::Ge};
  auto number = [&](int from, int to) {
    return std::uniform_int_distribution<int>(from, to)(random);
  };
  int found = 0;
  for (int round = 0; round < 4000; ++round) {
    int rows = number(0, 3), cols = number(1, 5), stride = cols + number(0, 2);
    int low = std::is_signed_v<TypeParam> ? number(-9, 9) : number(0, 9), high = low + number(0, 4);
    std::vector<TypeParam> data(static_cast<size_t>(rows * stride + 8));
    for (TypeParam &value : data)
      value = static_cast<TypeParam>(number(low, high));
    this->matrix(data, rows, cols, stride);
    Expr inner = with(operators[number(0, 9)], {element(), constant(number(-3, 6))});
    if (number(0, 1))
      inner = with(Op::Neg, {inner});
    Expr fact = with(comparisons[number(0, 5)], {inner, constant(number(-12, 12))});
    if (number(0, 1))
      fact =
          with(number(0, 1) ? Op::And : Op::Or, {fact, with(Op::Ge, {element(), constant(low)})});
    if (number(0, 3) == 0)
      fact = with(Op::Not, {fact});
    DataBounds bounds;
    ExprValues values = this->values(&bounds);
    if (!followsFromBounds(fact, 0, values))
      continue;
    ++found;
    for (int row = 0; row < rows; ++row)
      for (int col = 0; col < cols; ++col) {
        values.element = &this->data_[static_cast<size_t>(row) * stride + col];
        std::optional<Number> value = evaluate(fact, values);
        ASSERT_TRUE(value && isTrue(*value)) << "round " << round;
      }
  }
  EXPECT_GT(found, 300);
}

TYPED_TEST(DataFacts, OrderAndDistinctness) {
  auto unique = [](const PtlArray &array) { return isSurelyUnique(array, boundsOf(array)); };
  bool integers = !std::is_floating_point_v<TypeParam>;
  // The last number of each row is not part of the array.
  const PtlArray &apart = this->matrix({1, 2, 0, 4, 5, 1}, 2, 2, 3);
  EXPECT_TRUE(isSurelySorted(apart));
  EXPECT_EQ(unique(apart), integers);
  EXPECT_FALSE(isSurelySorted(this->matrix({3, 4, 2, 5}, 2, 2, 2)));
  EXPECT_FALSE(unique(this->matrix({1, 2, 1}, 1, 3, 3)));
  EXPECT_FALSE(unique(this->matrix({1, 2, 2}, 3, 1, 1)));
  EXPECT_TRUE(isSurelySorted(this->matrix({1, 1, 1}, 1, 3, 3)));
  EXPECT_TRUE(isSurelySorted(this->matrix({}, 0, 3, 3)));
  EXPECT_FALSE(boundsOf(this->matrix({}, 0, 3, 3)));
}

/// Long runs are looked at by vectors, and what is left of them by elements: what counts may lie in either.
TYPED_TEST(DataFacts, BoundsWhereverTheyLie) {
  std::vector<TypeParam> numbers(147, TypeParam(5));
  int64_t count = 147, one = 1;
  for (size_t at = 0; at < numbers.size(); ++at) {
    size_t other = (at + 70) % numbers.size();
    numbers[at] = 2;
    numbers[other] = 9;
    auto bounds = boundsOf({numbers.data(), 1, &count, &one, this->elem});
    ASSERT_TRUE(bounds);
    auto value = [](const Number &x) { return x.isFloat ? x.f : double(x.i); };
    EXPECT_EQ(value(bounds->least), 2) << at;
    EXPECT_EQ(value(bounds->most), 9) << at;
    if constexpr (std::is_floating_point_v<TypeParam>) {
      numbers[at] = std::numeric_limits<TypeParam>::quiet_NaN();
      EXPECT_FALSE(boundsOf({numbers.data(), 1, &count, &one, this->elem})) << at;
    }
    numbers[at] = numbers[other] = 5;
  }
}

TEST(DataBoundsTest, NansAndWideNumbersHaveNone) {
  float nan = std::numeric_limits<float>::quiet_NaN();
  float floats[] = {1, nan, 2}, more[] = {nan, 1, 2};
  uint64_t wide[] = {1, UINT64_MAX};
  int64_t wideSigned[] = {INT64_MIN, INT64_MAX};
  int64_t three[] = {3}, two[] = {2}, one[] = {1};
  EXPECT_FALSE(boundsOf({floats, 1, three, one, PTL_F32}));
  EXPECT_FALSE(boundsOf({more, 1, three, one, PTL_F32}));
  EXPECT_FALSE(isSurelySorted({floats, 1, three, one, PTL_F32}));
  EXPECT_FALSE(boundsOf({wide, 1, two, one, PTL_U64}));
  PtlArray ends{wideSigned, 1, two, one, PTL_I64};
  EXPECT_EQ(boundsOf(ends)->least.i, INT64_MIN);
  EXPECT_FALSE(isSurelyUnique(ends, boundsOf(ends))); // too far apart for bits
}

/// Numbers are compared as they are: these two would be one `double`, and a NaN equals nothing.
TEST(DataBoundsTest, SortsTellTheRest) {
  int64_t close[] = {int64_t(1) << 53, (int64_t(1) << 53) + 1, 0};
  double nans[] = {std::nan(""), 1, std::nan("")}, twice[] = {0.5, 2, 0.5};
  int64_t three[] = {3}, one[] = {1};
  auto isUnique = [](PtlArray array) {
    const PtlArray *arrays = &array;
    ExprValues values;
    values.arrays = {&arrays, 1};
    return evaluate(with(Op::Unique, {}), values)->i == 1;
  };
  EXPECT_TRUE(isUnique({close, 1, three, one, PTL_I64}));
  EXPECT_TRUE(isUnique({nans, 1, three, one, PTL_F64}));
  EXPECT_FALSE(isUnique({twice, 1, three, one, PTL_F64}));
}

} // namespace
} // namespace ptl::rt
