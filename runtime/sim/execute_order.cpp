// Sorting and merging of tuples: a value and its position in eight bytes, largest first, equal ones
// in the order they came.
#include "runtime/sim/execution.h"

#include <algorithm>
#include <cmath>

namespace ptl::rt::sim {
namespace {

constexpr int64_t kTupleBytes = 8, kBlockTuples = 32;

struct Tuple {
  float value;
  uint8_t bytes[kTupleBytes];
};

/// A NaN stands behind everything if its sign is negative, and before everything if it is not.
int rankOfNaN(float value) { return !std::isnan(value) ? 0 : std::signbit(value) ? -1 : 1; }

bool before(const Tuple &a, const Tuple &b) {
  int ofA = rankOfNaN(a.value), ofB = rankOfNaN(b.value);
  return ofA != ofB ? ofA > ofB : a.value > b.value;
}

int64_t elementsOfTuple(ElemKind elem) { return kTupleBytes / elemBytes(elem); }

bool isSortable(Execution &x, const Plane &plane) {
  if (plane.elem == ElemKind::F32 || plane.elem == ElemKind::F16)
    return true;
  return x.fail("sorts f16 and f32, not " + std::string(elemName(plane.elem)));
}

float valueOf(const uint8_t *bytes, ElemKind elem) {
  if (elem == ElemKind::F16) {
    uint16_t half;
    std::memcpy(&half, bytes, sizeof(half));
    return halfToFloat(half);
  }
  float value;
  std::memcpy(&value, bytes, sizeof(value));
  return value;
}

std::vector<Tuple> loadTuples(const Plane &plane, int64_t row, int64_t col, int64_t count) {
  std::vector<uint8_t> bytes(static_cast<size_t>(count * kTupleBytes));
  loadBits(plane, row, col, count * elementsOfTuple(plane.elem), bytes.data());
  std::vector<Tuple> tuples(static_cast<size_t>(count));
  for (size_t i = 0; i < tuples.size(); ++i) {
    std::memcpy(tuples[i].bytes, bytes.data() + i * kTupleBytes, kTupleBytes);
    tuples[i].value = valueOf(tuples[i].bytes, plane.elem);
  }
  return tuples;
}

void storeTuples(const Plane &plane, int64_t row, int64_t col, const std::vector<Tuple> &tuples,
                 int64_t limit) {
  int64_t count = std::min(static_cast<int64_t>(tuples.size()), limit);
  std::vector<uint8_t> bytes(static_cast<size_t>(count * kTupleBytes));
  for (int64_t i = 0; i < count; ++i)
    std::memcpy(bytes.data() + i * kTupleBytes, tuples[static_cast<size_t>(i)].bytes, kTupleBytes);
  storeBits(plane, row, col, count * elementsOfTuple(plane.elem), bytes.data());
}

/// The value as it lies in the tile, then its position in the last four bytes.
Tuple makeTuple(const Plane &values, const Plane &positions, int64_t row, int64_t col) {
  Tuple tuple{};
  std::memcpy(tuple.bytes, values.at(row, col), elemBytes(values.elem));
  std::memcpy(tuple.bytes + 4, positions.at(positions.rows == 1 ? 0 : row, col), 4);
  tuple.value = valueOf(tuple.bytes, values.elem);
  return tuple;
}

/// Merges sorted lists; with `untilOneEnds`, up to where the first of them has ended.
std::vector<Tuple> merge(const std::vector<std::vector<Tuple>> &lists, bool untilOneEnds) {
  std::vector<size_t> next(lists.size(), 0);
  std::vector<Tuple> merged;
  while (true) {
    size_t best = lists.size();
    for (size_t i = 0; i < lists.size(); ++i) {
      if (next[i] == lists[i].size()) {
        // The instruction stops there and says how far it came, so that the program can refill the
        // list.
        if (untilOneEnds)
          return merged;
        continue;
      }
      if (best == lists.size() || before(lists[i][next[i]], lists[best][next[best]]))
        // Of equal heads the first list wins, so the merge is stable.
        best = i;
    }
    if (best == lists.size())
      return merged;
    merged.push_back(lists[best][next[best]++]);
  }
}

/// The library merges tiles of one row only (`CheckStatic` of `TMRGSORT_IMPL`).
bool isRow(Execution &x, const Plane &plane) {
  return plane.tile->rows == 1 ||
         x.fail("merges a tile of " + extents(plane.tile->rows, plane.tile->cols) +
                ", and takes tiles of one row");
}

bool mergeBlocks(Execution &x) {
  const Plane &in = x.in(0), &out = x.out();
  if (!isRow(x, in) || !isRow(x, out))
    return false;
  int64_t perTuple = elementsOfTuple(in.elem), block = x.scalar(1).i;
  // The hardware counts blocks in units of 64 elements.
  if (block <= 0 || block % 64)
    return x.fail("has blocks of " + std::to_string(block) +
                  " elements; a multiple of 64 is needed");
  // Each repetition of the instruction merges four whole blocks, and there are at most 255.
  int64_t turns = in.cols / (4 * block);
  if (in.cols % (4 * block) || turns < 1 || turns > 255 || out.tile->cols < in.cols)
    return x.fail("merges four blocks of " + std::to_string(block) +
                  " elements at a time, at most 255 times, and has " + std::to_string(in.cols) +
                  " elements for a tile of " + std::to_string(out.tile->cols));
  for (int64_t col = 0; col < in.cols; col += 4 * block) {
    std::vector<std::vector<Tuple>> lists;
    for (int64_t i = 0; i < 4; ++i)
      lists.push_back(loadTuples(in, 0, col + i * block, block / perTuple));
    storeTuples(out, 0, col, merge(lists, false), 4 * block / perTuple);
  }
  return true;
}

bool mergeLists(Execution &x) {
  const Plane &out = x.out();
  int64_t perTuple = elementsOfTuple(out.elem);
  size_t count = x.numIns() - 1; // the last is scratch
  if (!isRow(x, out))
    return false;
  std::vector<std::vector<Tuple>> lists;
  for (size_t i = 0; i < count; ++i) {
    if (!isRow(x, x.in(i)))
      return false;
    if (x.in(i).elem != out.elem)
      return x.fail("merges lists of different element types");
    lists.push_back(loadTuples(x.in(i), 0, 0, x.in(i).cols / perTuple));
  }
  storeTuples(out, 0, 0, merge(lists, x.modifiers().exhausted), out.cols / perTuple);
  return true;
}

} // namespace

bool executeSort(Execution &x) {
  const Plane &values = x.in(0), &positions = x.in(1), &out = x.out();
  if (!isSortable(x, values))
    return false;
  if (elemBytes(positions.elem) != 4 || positions.cols < values.cols ||
      (positions.rows != 1 && positions.rows < values.rows))
    return x.fail("takes a position of 32 bits beside each value");
  if (out.elem != values.elem || out.tile->rows < values.rows ||
      out.tile->cols < values.cols * elementsOfTuple(values.elem))
    return x.fail("has no room for its tuples of 8 bytes");
  // The instruction sorts blocks of 32 and leaves it to merges to join them. Equal values keep
  // their order, on which stable orderings of longer rows rest.
  for (int64_t row = 0; row < values.rows; ++row)
    for (int64_t col = 0; col < values.cols; col += kBlockTuples) {
      std::vector<Tuple> tuples;
      for (int64_t i = col; i < std::min(col + kBlockTuples, values.cols); ++i)
        tuples.push_back(makeTuple(values, positions, row, i));
      std::stable_sort(tuples.begin(), tuples.end(), before);
      storeTuples(out, row, col * elementsOfTuple(values.elem), tuples, kBlockTuples);
    }
  return true;
}

bool executeMerge(Execution &x) {
  if (!isSortable(x, x.out()))
    return false;
  if (x.in(0).elem != x.out().elem)
    return x.fail("has operands of different element types");
  return x.id() == InstructionId::TMrgSort ? mergeBlocks(x) : mergeLists(x);
}

} // namespace ptl::rt::sim
