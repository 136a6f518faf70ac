#include "passes/prover/tiles.h"

#include "passes/prover/mix.h"

#include "ir/dialect/pto_dialect.h"

#include <algorithm>

namespace ptl::prove {

size_t RangeTable::Hash::operator()(const Key &key) const {
  // The type is unique in its context, so its address stands for it.
  size_t hash = reinterpret_cast<size_t>(key.type);
  for (int64_t part : {key.row, key.col, key.rows, key.cols})
    hash = hash * 0x9E3779B97F4A7C15ull + static_cast<size_t>(part) + (hash >> 29);
  return hash;
}

static void mergeRanges(std::vector<ByteRange> &ranges) {
  std::sort(ranges.begin(), ranges.end(),
            [](const ByteRange &a, const ByteRange &b) { return a.begin < b.begin; });
  size_t last = 0;
  for (size_t i = 1; i < ranges.size(); ++i) {
    // Ranges that only touch are merged too, which keeps the lists short.
    if (ranges[i].begin <= ranges[last].end)
      ranges[last].end = std::max(ranges[last].end, ranges[i].end);
    else
      ranges[++last] = ranges[i];
  }
  if (!ranges.empty())
    ranges.resize(last + 1);
}

/// Adds the bytes of `lines` lines, each at a distance of `apart` from the one before.
static void addLines(int64_t begin, int64_t lines, int64_t apart, int64_t bytes,
                     std::vector<ByteRange> &ranges) {
  // Lines without gaps are one range.
  if (apart == bytes) {
    ranges.push_back({begin, begin + lines * bytes});
    return;
  }
  for (int64_t i = 0; i < lines; ++i, begin += apart)
    ranges.push_back({begin, begin + bytes});
}

// Every element on its own would do; runs along the order of the elements keep large tiles cheap.
static std::vector<ByteRange> bytesOf(const TileShape &shape, int64_t row, int64_t col,
                                      int64_t rows, int64_t cols) {
  if (rows <= 0 || cols <= 0)
    return {};
  auto type = mlir::cast<pto::TileBufType>(mlir::Type::getFromOpaquePointer(shape.type));
  bool whole = row == 0 && col == 0 && rows == shape.rows && cols == shape.cols;
  // Elements of less than a byte share bytes, so parts of such tiles count as the whole.
  if (whole || pto::elementBits(type.getElementType()) < 8)
    return {{0, shape.bytes}};
  std::vector<ByteRange> ranges;
  const pto::Layout &layout = type.getLayout();
  int64_t element = shape.elementBytes;
  auto offset = [&](int64_t r, int64_t c) { return pto::elementOffset(type, r, c); };
  if (layout.inner == pto::Layout::None) {
    bool byRows = layout.box == pto::Layout::RowMajor;
    int64_t outer = byRows ? rows : cols, inner = byRows ? cols : rows;
    addLines(offset(row, col), outer, byRows ? offset(1, 0) : offset(0, 1), inner * element,
             ranges);
  } else {
    // Inside a box, elements of a row (or of a column) follow each other up to the edge of the box.
    bool byRows = layout.inner == pto::Layout::RowMajor;
    int64_t run = 1, longest = byRows ? shape.cols : shape.rows;
    // The run is found from the layout itself: it goes on as long as neighbours are one element
    // apart.
    while (run < longest && (byRows ? offset(0, run) : offset(run, 0)) == run * element)
      ++run;
    int64_t first = byRows ? col : row, last = first + (byRows ? cols : rows);
    int64_t line = byRows ? row : col, end = line + (byRows ? rows : cols), height = 1;
    // Boxes and rows of boxes have a power of two of lines, one behind the other.
    auto follow = [&](int64_t lines) {
      return (byRows ? offset(lines, 0) : offset(0, lines)) == lines * run * element;
    };
    // The second test makes sure that all of the lines lie at equal distances, not only those at
    // powers of two.
    while (2 * height <= end && follow(height) && follow(2 * height - 1))
      height *= 2;
    // Each step goes to the next boundary of a box along the run.
    for (int64_t i = first; i < last; i = (i / run + 1) * run)
      for (int64_t l = line, next; l < end; l = next) {
        // Lines up to the next boundary follow each other without gaps.
        next = std::min((l / height + 1) * height, end);
        addLines(byRows ? offset(l, i) : offset(i, l), next - l, run * element,
                 (std::min((i / run + 1) * run, last) - i) * element, ranges);
      }
  }
  mergeRanges(ranges);
  return ranges;
}

uint32_t RangeTable::part(const TileShape &shape, int64_t row, int64_t col, int64_t rows,
                          int64_t cols) {
  // Accesses beyond the tile are judged elsewhere; here they are cut off.
  row = std::clamp<int64_t>(row, 0, shape.rows);
  col = std::clamp<int64_t>(col, 0, shape.cols);
  rows = std::clamp<int64_t>(rows, 0, shape.rows - row);
  cols = std::clamp<int64_t>(cols, 0, shape.cols - col);
  auto [entry, isNew] =
      known_.try_emplace({shape.type, row, col, rows, cols}, static_cast<uint32_t>(ranges_.size()));
  if (isNew)
    ranges_.push_back(bytesOf(shape, row, col, rows, cols));
  return entry->second;
}

uint32_t RangeTable::between(int64_t begin, int64_t end) {
  auto [entry, isNew] =
      // A null type marks ranges that are no part of a tile.
      known_.try_emplace({nullptr, begin, end, 0, 0}, static_cast<uint32_t>(ranges_.size()));
  if (isNew)
    ranges_.push_back({{begin, end}});
  return entry->second;
}

uint32_t RangeTable::repeated(uint32_t bytes, int64_t step, int64_t count) {
  auto [entry, isNew] =
      // The table's own address marks repeated ranges in the same map.
      known_.try_emplace({this, bytes, step, count, 0}, static_cast<uint32_t>(ranges_.size()));
  if (isNew) {
    std::vector<ByteRange> all, one = ranges_[bytes];
    for (int64_t back = count - 1; back >= 0; --back)
      for (const ByteRange &range : one)
        all.push_back({range.begin - back * step, range.end - back * step});
    ranges_.push_back(std::move(all));
  }
  return entry->second;
}

uint32_t RangeTable::together(std::vector<uint32_t> parts) {
  std::sort(parts.begin(), parts.end());
  // Equal lists of parts give equal unions, so they are looked up before anything is merged.
  parts.erase(std::unique(parts.begin(), parts.end()), parts.end());
  if (parts.size() == 1)
    return parts.front();
  auto [entry, isNew] = unions_.try_emplace(parts, static_cast<uint32_t>(ranges_.size()));
  if (!isNew)
    return entry->second;
  std::vector<ByteRange> all;
  for (uint32_t part : parts)
    all.insert(all.end(), ranges_[part].begin(), ranges_[part].end());
  mergeRanges(all);
  ranges_.push_back(std::move(all));
  return entry->second;
}

uint64_t hashOf(const GlobalBox &box) {
  uint64_t hash = mix(box.pointer * 2 + box.known, static_cast<uint64_t>(box.offset));
  for (unsigned i = 0; i < box.rank; ++i)
    hash = mix(mix(hash, static_cast<uint64_t>(box.axes[i].size)),
               static_cast<uint64_t>(box.axes[i].stride));
  return hash;
}

bool GlobalBox::empty() const {
  if (!known)
    return false;
  for (unsigned i = 0; i < rank; ++i)
    if (axes[i].size <= 0)
      return true;
  return false;
}

std::pair<int64_t, int64_t> reachOf(const GlobalBox &box) {
  if (!box.known)
    // A box whose extents are not known may reach everything.
    return {INT64_MIN, INT64_MAX};
  int64_t low = box.offset, high = box.offset;
  for (unsigned i = 0; i < box.rank; ++i) {
    int64_t reach = (box.axes[i].size - 1) * box.axes[i].stride;
    // A negative stride leads to lower addresses.
    (reach < 0 ? low : high) += reach;
  }
  return {low, high};
}

// Positions along each axis, if the strides nest and the boxes do not run over the end of a row.
static bool positionsOf(const GlobalBox &box, int64_t *first) {
  unsigned order[5] = {0, 1, 2, 3, 4};
  // The largest stride is the outermost axis.
  std::sort(order, order + box.rank,
            [&](unsigned a, unsigned b) { return box.axes[a].stride > box.axes[b].stride; });
  int64_t rest = box.offset, outer = 0;
  for (unsigned i = 0; i < box.rank; ++i) {
    const GlobalBox::Axis &axis = box.axes[order[i]];
    // Strides that do not divide each other give positions no meaning.
    if (axis.stride <= 0 || (outer && outer % axis.stride))
      return false;
    first[order[i]] = rest / axis.stride;
    rest %= axis.stride;
    // A box that runs over the end of a row would have several rows in it.
    if (outer && (first[order[i]] + axis.size) * axis.stride > outer)
      return false;
    outer = axis.stride;
  }
  return true;
}

bool mayOverlap(const GlobalBox &a, const GlobalBox &b) {
  if (a.pointer != b.pointer || a.empty() || b.empty())
    return false;
  // Nothing is known of one of them, so they may meet.
  if (!a.known || !b.known)
    return true;
  auto [lowA, highA] = reachOf(a);
  // The quick test by extreme addresses decides most cases.
  auto [lowB, highB] = reachOf(b);
  if (highA < lowB || highB < lowA)
    return false;
  // Only boxes with the same strides can be compared axis by axis.
  if (a.rank != b.rank)
    return true;
  for (unsigned i = 0; i < a.rank; ++i)
    if (a.axes[i].stride != b.axes[i].stride)
      return true;
  int64_t firstA[5], firstB[5];
  if (!positionsOf(a, firstA) || !positionsOf(b, firstB))
    return true;
  for (unsigned i = 0; i < a.rank; ++i)
    // Boxes that lie apart on one axis have no element in common.
    if (firstA[i] + a.axes[i].size <= firstB[i] || firstB[i] + b.axes[i].size <= firstA[i])
      return false;
  return true;
}

} // namespace ptl::prove
