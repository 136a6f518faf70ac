// Matrix products: operands of at most 32 bits, sums in f32 or i32, in the order of k.
#include "frontend/base/elem_convert.h"
#include "machines/machine.h"
#include "runtime/sim/execution.h"

namespace ptl::rt::sim {
namespace {

#if defined(__x86_64__) && defined(__clang__)
#define PTL_SIM_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define PTL_SIM_CLONES
#endif

/// c[m, n] += a[m, k] b[k, n]. Products are rounded before they are added, on every host.
PTL_SIM_CLONES void multiply(float *__restrict c, const float *__restrict a,
                             const float *__restrict b, int64_t m, int64_t n, int64_t k) {
#pragma clang fp contract(off)
  // The inner loop runs along rows of `b` and `c`, so it vectorises.
  for (int64_t i = 0; i < m; ++i)
    for (int64_t l = 0; l < k; ++l) {
      float factor = a[i * k + l];
      for (int64_t j = 0; j < n; ++j)
        c[i * n + j] += factor * b[l * n + j];
    }
}

PTL_SIM_CLONES void multiply(int32_t *__restrict c, const int8_t *__restrict a,
                             const int8_t *__restrict b, int64_t m, int64_t n, int64_t k) {
  auto *sums = reinterpret_cast<uint32_t *>(c); // wraps
  for (int64_t i = 0; i < m; ++i)
    for (int64_t l = 0; l < k; ++l) {
      int32_t factor = a[i * k + l];
      for (int64_t j = 0; j < n; ++j)
        sums[i * n + j] += static_cast<uint32_t>(factor * b[l * n + j]);
    }
}

template <typename C> std::vector<C> loadMatrix(const Plane &plane, int64_t rows, int64_t cols) {
  std::vector<C> matrix(static_cast<size_t>(rows * cols));
  for (int64_t r = 0; r < rows; ++r)
    loadRow(plane, r, 0, cols, matrix.data() + r * cols);
  return matrix;
}

struct Product {
  const Plane *start = nullptr; ///< the sum so far, or the row that is added
  bool startIsRow = false;
  const Plane *left, *right;
  const Plane *ofLeft = nullptr, *ofRight = nullptr; ///< the scales of their blocks
};

/// What a product is added to: the first input, or the last, which is a row.
enum class Start : uint8_t { Nothing, Sum, Row };

Start startOf(InstructionId id) {
  switch (id) {
#define SCALEDMATMUL(instruction, start)                                                           \
  case InstructionId::instruction:                                                                 \
    return Start::start;
#define MATMUL(instruction, start)                                                                 \
  case InstructionId::instruction:                                                                 \
    return Start::start;
#include "ir/ops/instruction_semantics.inc"
  default:
    return Start::Nothing;
  }
}

Product productOf(Execution &x) {
  switch (startOf(x.id())) {
  case Start::Sum:
    return {&x.in(0), false, &x.in(1), &x.in(2)};
  case Start::Row:
    return {&x.in(2), true, &x.in(0), &x.in(1)};
  default:
    return {nullptr, false, &x.in(0), &x.in(1)};
  }
}

/// As `productOf`, where each operand has its scales behind it.
Product scaledProductOf(Execution &x) {
  Start start = startOf(x.id());
  size_t first = start == Start::Sum ? 1 : 0;
  Product product{nullptr,          false,           &x.in(first), &x.in(first + 2),
                  &x.in(first + 1), &x.in(first + 3)};
  if (start != Start::Nothing) {
    product.start = &x.in(start == Start::Sum ? 0 : first + 4);
    product.startIsRow = start == Start::Row;
  }
  return product;
}

/// The product finds scales by the address of the elements.
bool liesBeside(const Plane &scales, const Plane &elements) {
  return scales.tile->address == elements.tile->address >> kScaleAddressShift;
}

/// Each element times the scale of its block, which has `down` rows and `across` columns.
void applyScales(std::vector<float> &matrix, int64_t cols, const Plane &scales, int64_t down,
                 int64_t across) {
  for (size_t i = 0; i < matrix.size(); ++i) {
    int64_t at = static_cast<int64_t>(i), row = at / cols / down, col = at % cols / across;
    auto code = loadOne<uint8_t>(scales, row, col);
    matrix[i] *= static_cast<float>(decodeFloat(code, ElemKind::F8E8M0));
  }
}

template <typename Sum, typename Factor> void run(const Product &product, const Plane &out) {
  int64_t m = out.rows, n = out.cols, k = product.left->cols;
  std::vector<Sum> sums(static_cast<size_t>(m * n));
  // A row that is added is the start of each row of sums.
  if (product.start)
    for (int64_t r = 0; r < m; ++r)
      loadRow(*product.start, product.startIsRow ? 0 : r, 0, n, sums.data() + r * n);
  std::vector<Factor> left = loadMatrix<Factor>(*product.left, m, k),
                      right = loadMatrix<Factor>(*product.right, k, n);
  // Only blocks of floats have scales, and the other form would not compile with them.
  if constexpr (std::is_same_v<Factor, float>)
    if (product.ofLeft) {
      applyScales(left, k, *product.ofLeft, 1, kBlockLength);
      applyScales(right, n, *product.ofRight, kBlockLength, 1);
    }
  multiply(sums.data(), left.data(), right.data(), m, n, k);
  for (int64_t r = 0; r < m; ++r)
    storeRow(out, r, 0, n, sums.data() + r * n);
}

std::string describe(const Plane &plane) {
  return std::to_string(plane.rows) + "x" + std::to_string(plane.cols) + " " +
         std::string(elemName(plane.elem));
}

bool execute(Execution &x, const Product &product) {
  const Plane &left = *product.left, &right = *product.right, &out = x.out();
  // The cube reads operands from its own memories, so a tile that lies elsewhere is a fault of the
  // program even if its numbers are right.
  if (left.tile->place != Place::Left || right.tile->place != Place::Right ||
      out.tile->place != Place::Acc)
    return x.fail("takes operands in left and right and gives its result in acc");
  // The shapes of the valid parts must agree.
  if (left.rows != out.rows || right.cols != out.cols || left.cols != right.rows)
    return x.fail("multiplies " + describe(left) + " with " + describe(right) + " to " +
                  describe(out));
  if (product.start &&
      (product.start->cols < out.cols || (!product.startIsRow && product.start->rows < out.rows) ||
       product.start->elem != out.elem))
    return x.fail("adds " + describe(*product.start) + " to " + describe(out));
  if (isFloat(left.elem) && isFloat(right.elem) && out.elem == ElemKind::F32)
    run<float, float>(product, out);
  else if (left.elem == ElemKind::I8 && right.elem == ElemKind::I8 && out.elem == ElemKind::I32)
    run<int32_t, int8_t>(product, out);
  else
    return x.fail("multiplies " + describe(left) + " with " + describe(right) + " to " +
                  describe(out));
  return true;
}

} // namespace

bool executeMatmul(Execution &x) { return execute(x, productOf(x)); }

bool executeScaledMatmul(Execution &x) {
  Product product = scaledProductOf(x);
  const Plane &left = *product.left, &right = *product.right, &ofLeft = *product.ofLeft,
              &ofRight = *product.ofRight;
  if (ofLeft.tile->place != Place::ScaleLeft || ofRight.tile->place != Place::ScaleRight)
    return x.fail("takes the scales of its operands in scaleleft and scaleright");
  constexpr int64_t pair = 2 * kBlockLength;
  // The hardware takes scales in pairs, so a half pair would be multiplied by whatever lies behind.
  if (left.cols % pair != 0)
    return x.fail("contracts " + std::to_string(left.cols) +
                  " positions, where blocks are multiplied in pairs");
  int64_t blocks = left.cols / kBlockLength;
  bool fits = ofLeft.rows >= left.rows && ofLeft.cols == blocks && ofRight.rows == blocks &&
              ofRight.cols >= right.cols;
  bool areCodes = ofLeft.elem == ElemKind::U8 && ofRight.elem == ElemKind::U8;
  if (!fits || !areCodes)
    return x.fail("multiplies " + describe(left) + " with " + describe(right) +
                  ", whose scales are " + describe(ofLeft) + " and " + describe(ofRight));
  for (auto [scales, elements] : {std::pair(&ofLeft, &left), std::pair(&ofRight, &right)})
    // The instruction has no operand for scales: it takes them from where the elements say,
    // whatever the program meant.
    if (!liesBeside(*scales, *elements))
      return x.fail("reads the scales of what lies at " + std::to_string(elements->tile->address) +
                    " at " + std::to_string(elements->tile->address >> kScaleAddressShift) +
                    ", and these lie at " + std::to_string(scales->tile->address));
  return execute(x, product);
}

} // namespace ptl::rt::sim
