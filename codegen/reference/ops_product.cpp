// Products: `f64` for floats, wrapping integers otherwise, rounded once to the accumulator type.

#include "codegen/reference/ops_product.h"

#include "codegen/reference/ops_shape.h"

#include <map>

namespace ptl::reference {
namespace {

/// Result element type of `a @ b`, and the number of rows, columns and contracted positions.
struct ProductShape {
  int64_t batch = 1, rows = 1, columns = 1, depth = 1;
  bool batchedA = false, batchedB = false;
};

template <typename T> void multiply(const T *a, const T *b, T *out, const ProductShape &shape) {
  for (int64_t i = 0; i < shape.rows; ++i)
    // With the contracted axis in the middle, the inner loop walks rows of `b` and of the result,
    // which are contiguous.
    for (int64_t k = 0; k < shape.depth; ++k) {
      T factor = a[i * shape.depth + k];
      const T *row = b + k * shape.columns;
      T *sums = out + i * shape.columns;
      for (int64_t j = 0; j < shape.columns; ++j)
        sums[j] += factor * row[j];
    }
}

template <typename T> void multiplyAll(const T *a, const T *b, T *out, const ProductShape &shape) {
  for (int64_t n = 0; n < shape.batch; ++n)
    multiply(shape.batchedA ? a + n * shape.rows * shape.depth : a,
             shape.batchedB ? b + n * shape.depth * shape.columns : b,
             out + n * shape.rows * shape.columns, shape);
}

void finish(RefArray &result) {
  roundAll(result.floats.data(), static_cast<int64_t>(result.floats.size()), result.elem);
  for (int64_t &value : result.ints)
    value = wrapInteger(static_cast<uint64_t>(value), result.elem);
}

} // namespace

Value matmulValue(const Value &a, const Value &b) {
  View x = viewOf(a), y = viewOf(b);
  // A vector is a row on the left and a column on the right; that axis is missing in the result.
  bool vectorA = x.shape.size() == 1, vectorB = y.shape.size() == 1;
  ProductShape shape;
  shape.depth = x.shape.back();
  shape.rows = vectorA ? 1 : x.shape[x.shape.size() - 2];
  shape.columns = vectorB ? 1 : y.shape.back();
  auto leadA = x.shape.first(x.shape.size() - (vectorA ? 1 : 2));
  auto leadB = y.shape.first(y.shape.size() - (vectorB ? 1 : 2));
  // A factor without leading axes takes part in every product of the batch.
  shape.batchedA = !leadA.empty();
  shape.batchedB = !leadB.empty();
  auto lead = shape.batchedA ? leadA : leadB;
  shape.batch = elementCount(lead);
  int64_t depthB = vectorB ? y.shape.back() : y.shape[y.shape.size() - 2];
  bool fits = depthB == shape.depth && (leadA.empty() || leadB.empty() ||
                                        std::vector<int64_t>(leadA.begin(), leadA.end()) ==
                                            std::vector<int64_t>(leadB.begin(), leadB.end()));
  if (!fits)
    stop(RunStatus::Fault,
         "the shapes " + shapeText(x.shape) + " and " + shapeText(y.shape) + " do not multiply");
  // The result has the leading axes, then rows and columns.
  std::vector<int64_t> result(lead.begin(), lead.end());
  if (!vectorA)
    result.push_back(shape.rows);
  if (!vectorB)
    result.push_back(shape.columns);
  RefArray out = zeroArray(accOf(x.elem), std::move(result));
  if (out.isReal())
    multiplyAll(x.floats, y.floats, out.floats.data(), shape);
  else // Unsigned arithmetic wraps.
    multiplyAll(reinterpret_cast<const uint64_t *>(x.ints),
                reinterpret_cast<const uint64_t *>(y.ints),
                reinterpret_cast<uint64_t *>(out.ints.data()), shape);
  finish(out);
  return Value::array(std::move(out));
}

/// The numbers that rows of elements and their scales stand for, in f32.
static Value dequantizedBlocks(const Value &x, const Value &scale) {
  View elements = viewOf(x), scales = viewOf(scale);
  if (elements.count() != scales.count() * kBlockLength)
    stop(RunStatus::Fault, "the shapes " + shapeText(elements.shape) + " and " +
                               shapeText(scales.shape) +
                               " are not those of blocks and their scales");
  RefArray out = zeroArray(ElemKind::F32, {elements.shape.begin(), elements.shape.end()});
  for (int64_t i = 0; i < elements.count(); ++i)
    out.floats[static_cast<size_t>(i)] = elements.floats[i] * scales.floats[i / kBlockLength];
  finish(out);
  return Value::array(std::move(out));
}

Value scaledDotValue(const Value &a, const Value &aScale, const Value &b, const Value &bScale) {
  return matmulValue(dequantizedBlocks(a, aScale),
                     transposeValue(dequantizedBlocks(b, bScale), std::vector<int64_t>{1, 0}));
}

namespace {

/// The letters of an equation: those of the result first, then the ones summed over.
struct Letters {
  std::string order;
  std::vector<int64_t> extents;
  size_t resultCount = 0;
  std::vector<std::string> operands;
};

Letters readEquation(const std::string &equation, std::span<const View> views) {
  Letters letters;
  size_t arrow = equation.find("->");
  letters.operands.emplace_back();
  for (char c : equation.substr(0, arrow))
    if (c == ',')
      letters.operands.emplace_back();
    else
      letters.operands.back() += c;
  letters.order = equation.substr(arrow + 2);
  letters.resultCount = letters.order.size();
  std::map<char, int64_t> extents;
  for (size_t k = 0; k < views.size() && k < letters.operands.size(); ++k)
    for (size_t a = 0; a < letters.operands[k].size(); ++a) {
      char letter = letters.operands[k][a];
      // A letter that is known already belongs to the result or to another operand.
      if (!extents.try_emplace(letter, views[k].shape[a]).second)
        continue;
      // Letters that the result does not have are summed over, and stand behind the others.
      if (letters.order.find(letter) == std::string::npos)
        letters.order += letter;
    }
  for (char letter : letters.order)
    letters.extents.push_back(extents[letter]);
  return letters;
}

std::vector<int64_t> letterStrides(const Letters &letters, size_t operand, const View &view) {
  std::vector<int64_t> dense = denseStrides(view.shape), strides(letters.order.size(), 0);
  const std::string &own = letters.operands[operand];
  for (size_t a = 0; a < own.size(); ++a)
    // An operand without some letter keeps stride 0 there, so it repeats along it.
    strides[letters.order.find(own[a])] +=
        dense[a]; // A letter that occurs twice walks the diagonal.
  return strides;
}

/// Steps `at` through `extents[from..to)`, moving all offsets; false at the end.
bool advance(const Letters &letters, size_t from, size_t to, std::vector<int64_t> &at,
             std::span<const std::vector<int64_t>> strides, std::vector<int64_t> &offsets) {
  for (size_t axis = to; axis-- > from;) {
    for (size_t k = 0; k < strides.size(); ++k)
      offsets[k] += strides[k][axis];
    if (++at[axis] < letters.extents[axis])
      return true;
    // The axis starts again at 0, and the next outer one advances.
    for (size_t k = 0; k < strides.size(); ++k)
      offsets[k] -= strides[k][axis] * letters.extents[axis];
    at[axis] = 0;
  }
  return false;
}

} // namespace

Value einsumValue(const std::string &equation, std::span<const Value> operands) {
  std::vector<View> views;
  for (const Value &operand : operands)
    views.push_back(viewOf(operand));
  Letters letters = readEquation(equation, views);
  std::vector<std::vector<int64_t>> strides;
  for (size_t k = 0; k < views.size(); ++k)
    strides.push_back(letterStrides(letters, k, views[k]));
  std::span<const int64_t> extents = letters.extents;
  RefArray out =
      zeroArray(accOf(views[0].elem),
                {extents.begin(), extents.begin() + static_cast<ptrdiff_t>(letters.resultCount)});
  // Sums over no elements are 0, which is what the array holds.
  bool nothingToSum = elementCount(extents.subspan(letters.resultCount)) == 0;
  if (out.count() == 0 || nothingToSum)
    return Value::array(std::move(out));
  std::vector<int64_t> at(letters.order.size(), 0), offsets(views.size(), 0);
  // The outer loop goes over the elements of the result, the inner one over the positions that are
  // summed.
  for (int64_t position = 0; position < out.count(); ++position) {
    double sum = 0;
    uint64_t wrapped = 0;
    do {
      double product = 1;
      uint64_t integer = 1;
      for (size_t k = 0; k < views.size(); ++k)
        if (views[k].floats)
          product *= views[k].floats[offsets[k]];
        else
          integer *= static_cast<uint64_t>(views[k].ints[offsets[k]]);
      sum += product;
      wrapped += integer;
    } while (advance(letters, letters.resultCount, letters.order.size(), at, strides, offsets));
    // The element type takes one of the two sums.
    out.set(position, {sum, static_cast<int64_t>(wrapped)});
    // The inner walk has come back to its start, so this moves to the next element.
    advance(letters, 0, letters.resultCount, at, strides, offsets);
  }
  finish(out);
  return Value::array(std::move(out));
}

} // namespace ptl::reference
