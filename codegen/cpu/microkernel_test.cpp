#include "codegen/cpu/test_jit.h"
#include "codegen/cpu/test_product.h"

#include <bit>
#include <cmath>
#include <limits>
#include <random>

using namespace mlir;
using namespace ptl::cpu;
using namespace ptl::cpu::testing;

namespace microkernel_test {

struct Shape {
  int64_t m, n, k;
};

const Shape shapes[] = {
    {0, 5, 7},
    {5, 0, 7},
    {5, 7, 0},
    {1, 1, 1},
    {14, 32, 16},
    {15, 33, 3},
    {13, 31, 257},
    {37, 100, 65},
    {128, 256, 64},
    {230, 70, 600},
    {1, 300, 70},
    {1, 37, 129},
    {1, 512, 3},
    {259, 1, 70},
    {7, 1, 1025},
    {1, 1, 600},
    // Each block of the plans as the last rows, wide and narrow, and parts of equal size.
    {2, 33, 9},
    {4, 64, 20},
    {8, 32, 17},
    {26, 48, 31},
    {20, 16, 40},
    {34, 9, 21},
    {6, 8, 513},
    {226, 1026, 5},
    // Read in place: parts of the depth, each block of columns, B that is packed since it has many rows or wide ones.
    {300, 40, 530},
    {64, 64, 64},
    {17, 520, 130},
    {9, 256, 300},
    // B is streamed past few rows: parts of the columns, columns and depths that are left, the least and the most rows.
    {2, 257, 37},
    {7, 1025, 70},
    {24, 700, 33},
    {5, 5000, 9},
    {96, 300, 17},
    {97, 300, 17},
    {3, 600, 3},
    {33, 300, 18},
    {49, 300, 7},
    // Registers of matrices: the least, each block of them as the last, and steps that do not fill a register.
    {16, 16, 1},
    {33, 17, 7},
    {48, 47, 33},
    {65, 64, 1030},
    {256, 49, 64}};

/// A bf16 by its bits.
struct BFloat {
  uint16_t bits = 0;
  operator double() const { return std::bit_cast<float>(uint32_t(bits) << 16); }
};

template <typename In, typename Out> In makeValue(std::mt19937 &random) {
  if constexpr (std::is_same_v<In, BFloat>) {
    float value = float(int(random() % 2001) - 1000) / 512.0f;
    return {uint16_t(std::bit_cast<uint32_t>(value) >> 16)};
  } else if constexpr (std::is_floating_point_v<In> || std::is_same_v<In, _Float16>)
    return In(int(random() % 2001) - 1000) / In(512);
  return In(random());
}

/// The operands of one product in the given storage orders, and what it has to be, by plain loops:
/// sums of integers are exact, those of floats may differ by the tolerance of all their terms.
template <typename A, typename B, typename Out> struct Expected {
  static constexpr bool isExact = std::is_integral_v<Out>;
  using Wide = std::conditional_t<isExact, uint32_t, double>;
  static_assert(!isExact || sizeof(Out) == sizeof(Wide));

  Expected(Shape s, bool transposeA, bool transposeB)
      : s(s), a(s.m * s.k + 1), b(s.k * s.n + 1), sums(s.m * s.n),
        magnitudes(isExact ? 0 : s.m * s.n), aRow(transposeA ? 1 : s.k),
        aColumn(transposeA ? s.m : 1), bRow(transposeB ? 1 : s.n), bColumn(transposeB ? s.k : 1) {
    std::mt19937 random(s.m * 131 + s.n * 17 + s.k);
    for (auto &x : a)
      x = makeValue<A, Out>(random);
    for (auto &x : b)
      x = makeValue<B, Out>(random);
    // Rows of B side by side, so that the innermost loop below goes along memory.
    std::vector<Wide> rows(s.k * s.n);
    for (int64_t k = 0; k < s.k; ++k)
      for (int64_t j = 0; j < s.n; ++j)
        rows[k * s.n + j] = Wide(b[k * bRow + j * bColumn]);
    for (int64_t i = 0; i < s.m; ++i)
      for (int64_t k = 0; k < s.k; ++k)
        addRow(i, Wide(a[i * aRow + k * aColumn]), &rows[k * s.n]);
  }
  void addRow(int64_t i, Wide factor, const Wide *row) {
    Wide *sum = sums.data() + i * s.n;
    for (int64_t j = 0; j < s.n; ++j)
      sum[j] += factor * row[j];
    if constexpr (!isExact)
      for (int64_t j = 0; j < s.n; ++j)
        magnitudes[i * s.n + j] += std::abs(factor * row[j]);
  }

  Shape s;
  std::vector<A> a;
  std::vector<B> b;
  std::vector<Wide> sums, magnitudes;
  int64_t aRow, aColumn, bRow, bColumn;
};

// Runs one product and compares; guards round C.
template <typename A, typename B, typename Out>
void checkProduct(const CompiledProduct &product, const Expected<A, B, Out> &expected,
                  double tolerance, bool accumulate) {
  using Expect = Expected<A, B, Out>;
  Shape s = expected.s;
  Out start = accumulate ? Out(2) : Out(0);
  int64_t cRow = s.n + 3;
  std::vector<Out> c(s.m * cRow + 8, Out(2));
  TestScratch scratch;
  product.entry(&scratch, expected.a.data(), expected.aRow, expected.aColumn, expected.b.data(),
                expected.bRow, expected.bColumn, c.data(), cRow, s.m, s.n, s.k);
  for (int64_t i = 0; i < s.m; ++i)
    for (int64_t j = 0; j < cRow; ++j) {
      Out got = c[i * cRow + j];
      if (j >= s.n) {
        ASSERT_EQ(got, Out(2)) << "written outside of C at " << i << ", " << j;
        continue;
      }
      typename Expect::Wide sum = expected.sums[i * s.n + j] + typename Expect::Wide(start);
      if constexpr (Expect::isExact)
        ASSERT_EQ(got, Out(sum)) << i << ", " << j;
      else
        ASSERT_LE(std::abs(got - sum), tolerance * (expected.magnitudes[i * s.n + j] + 2))
            << i << ", " << j;
    }
}

template <typename A, typename B, typename Out>
void checkMixed(Type a, Type b, double tolerance = 0, Processor processor = Processor::host()) {
  CompiledProduct products[] = {compileProduct(testContext(), a, b, processor, false),
                                compileProduct(testContext(), a, b, processor, true)};
  for (Shape s : shapes)
    for (int order = 0; order < 4; ++order) {
      SCOPED_TRACE(std::to_string(s.m) + "x" + std::to_string(s.n) + "x" + std::to_string(s.k) +
                   " order " + std::to_string(order));
      Expected<A, B, Out> expected(s, order & 1, order & 2);
      for (bool accumulate : {false, true})
        checkProduct(products[accumulate], expected, tolerance, accumulate);
    }
}

template <typename In, typename Out>
void checkAll(Type element, double tolerance = 0, Processor processor = Processor::host()) {
  checkMixed<In, In, Out>(element, element, tolerance, processor);
}

// Bytes with and without signs, as each side, and beside i16, which registers of matrices do not have.
void checkBytes(Processor processor) {
  Type i8 = IntegerType::get(&testContext(), 8), i16 = IntegerType::get(&testContext(), 16);
  Type u8 = IntegerType::get(&testContext(), 8, IntegerType::Unsigned);
  checkAll<int8_t, int32_t>(i8, 0, processor);
  checkAll<uint8_t, int32_t>(u8, 0, processor);
  checkMixed<int8_t, uint8_t, int32_t>(i8, u8, 0, processor);
  checkMixed<uint8_t, int8_t, int32_t>(u8, i8, 0, processor);
  if (!processor.vectors.matrices.bytes)
    checkMixed<int16_t, uint8_t, int32_t>(i16, u8, 0, processor);
}

/// Whether products of bytes are the same code, which `Bytes` has run.
bool multipliesBytesAsHere(const VectorUnit &unit) {
  VectorUnit here = Processor::host().vectors;
  return !here.matrices.bytes && unit.bytes == here.bytes &&
         unit.byteDotBytes == here.byteDotBytes && unit.i16DotBytes == here.i16DotBytes &&
         unit.i16PairBytes == here.i16PairBytes;
}

TEST(Microkernel, F32) { checkAll<float, float>(Float32Type::get(&testContext()), 1e-5); }
TEST(Microkernel, F64) { checkAll<double, double>(Float64Type::get(&testContext()), 1e-14); }
TEST(Microkernel, F16) { checkAll<_Float16, float>(Float16Type::get(&testContext()), 1e-5); }
TEST(Microkernel, BF16) { checkAll<BFloat, float>(BFloat16Type::get(&testContext()), 1e-5); }
TEST(Microkernel, I16) { checkAll<int16_t, int32_t>(IntegerType::get(&testContext(), 16)); }
TEST(Microkernel, Bytes) { checkBytes(Processor::host()); }
TEST(Microkernel, I32) { checkAll<int32_t, int32_t>(IntegerType::get(&testContext(), 32)); }

TEST(Microkernel, NarrowerVectors) {
  Processor processor = Processor::named("x86-64-v3");
  EXPECT_EQ(processor.vectors.bytes, 32);
  checkAll<float, float>(Float32Type::get(&testContext()), 1e-5, processor);
  checkAll<double, double>(Float64Type::get(&testContext()), 1e-14, processor);
  checkAll<_Float16, float>(Float16Type::get(&testContext()), 1e-5, processor);
  checkAll<BFloat, float>(BFloat16Type::get(&testContext()), 1e-5, processor);
  checkAll<int16_t, int32_t>(IntegerType::get(&testContext(), 16), 0, processor);
  checkBytes(processor);
  checkAll<int32_t, int32_t>(IntegerType::get(&testContext(), 32), 0, processor);
}

// Two bytes or four in one instruction, on registers of 256 bits and of 512, where the processor has it.
TEST(Microkernel, DotProductsOfBytes) {
  int checked = 0;
  for (const char *name : {"x86-64-v3+avxvnni", "x86-64-v4+avx512vnni", "x86-64-v4"}) {
    Processor processor = Processor::named(name);
    if (!processor.lackingHere().empty())
      continue;
    SCOPED_TRACE(name);
    if (!multipliesBytesAsHere(processor.vectors))
      checkBytes(processor);
    ++checked;
  }
  if (checked == 0)
    GTEST_SKIP() << "this processor has none of them";
}

// Code for registers of matrices, with functions that do what the instructions do. Registers of 512 bits are two each here, so that
// every processor can run it.
static Processor processorWithMatrices() {
  Processor processor = Processor::named("x86-64-v3");
  processor.vectors.bytes = 64;
  processor.vectors.matrices = {true, true, true, true};
  return processor;
}

TEST(Microkernel, RegistersOfMatrices) {
  int64_t before = MatrixRegisters::products;
  checkBytes(processorWithMatrices());
  int64_t bytes = MatrixRegisters::products;
  checkAll<BFloat, float>(BFloat16Type::get(&testContext()), 1e-5, processorWithMatrices());
  int64_t brains = MatrixRegisters::products;
  checkAll<_Float16, float>(Float16Type::get(&testContext()), 1e-5, processorWithMatrices());
  for (int64_t count : {bytes - before, brains - bytes, MatrixRegisters::products - brains})
    EXPECT_GT(count, 0) << "registers of matrices are used";
  EXPECT_FALSE(MatrixRegisters::here().isConfigured) << "registers are released";
}

TEST(Microkernel, RegistersOfMatricesThatAreNotGranted) {
  MatrixRegisters::granted = 0;
  int64_t before = MatrixRegisters::products;
  checkAll<int8_t, int32_t>(IntegerType::get(&testContext(), 8), 0, processorWithMatrices());
  MatrixRegisters::granted = 1;
  EXPECT_EQ(MatrixRegisters::products, before);
}

// The blocks of the widest registers, on two registers each where the processor has narrower ones.
TEST(Microkernel, WidestVectors) {
  Processor processor = Processor::named("x86-64-v3");
  processor.vectors.bytes = 64;
  checkAll<float, float>(Float32Type::get(&testContext()), 1e-5, processor);
  checkAll<double, double>(Float64Type::get(&testContext()), 1e-14, processor);
  checkAll<_Float16, float>(Float16Type::get(&testContext()), 1e-5, processor);
  checkAll<int8_t, int32_t>(IntegerType::get(&testContext(), 8), 0, processor);
  checkAll<int32_t, int32_t>(IntegerType::get(&testContext(), 32), 0, processor);
}

TEST(Microkernel, NarrowestVectors) {
  Processor processor = Processor::named("x86-64-v2");
  EXPECT_EQ(processor.vectors.bytes, 16);
  checkAll<float, float>(Float32Type::get(&testContext()), 1e-5, processor);
  checkAll<int8_t, int32_t>(IntegerType::get(&testContext(), 8), 0, processor);
}

// What is not a number, or infinite, reaches the elements of its row and column and no others; what C held before does not count.
TEST(Microkernel, SpecialNumbersStayInTheirRowsAndColumns) {
  for (const char *name : {"", "x86-64-v3"}) {
    Type type = Float32Type::get(&testContext());
    Processor processor = *name ? Processor::named(name) : Processor::host();
    CompiledProduct product = compileProduct(testContext(), type, type, processor, false);
    float nan = std::numeric_limits<float>::quiet_NaN();
    float infinity = std::numeric_limits<float>::infinity();
    for (auto [m, n] : {std::pair<int64_t, int64_t>{14, 32}, {31, 41}, {5, 9}}) {
      int64_t k = 300;
      std::vector<float> a(m * k, 1.0f), b(k * n, 2.0f), c(m * n, nan);
      a[k + 7] = nan;                   // row 1
      a[3 * k + 299] = infinity;        // row 3
      b[290 * n + (n - 1)] = -infinity; // the last column
      TestScratch scratch;
      product.entry(&scratch, a.data(), k, 1, b.data(), n, 1, c.data(), n, m, n, k);
      for (int64_t i = 0; i < m; ++i)
        for (int64_t j = 0; j < n; ++j) {
          float got = c[i * n + j];
          bool isLast = j == n - 1;
          if (i == 1 || (i == 3 && isLast))
            EXPECT_TRUE(std::isnan(got)) << i << ", " << j;
          else
            EXPECT_EQ(got, i == 3 ? infinity : isLast ? -infinity : 600.0f) << i << ", " << j;
        }
    }
  }
}

} // namespace microkernel_test
