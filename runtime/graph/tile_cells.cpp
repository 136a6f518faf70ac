#include "runtime/graph/tile_cells.h"

#include <algorithm>
#include <bit>

namespace ptl::rt {
namespace {

constexpr size_t kFewestPlaces = 16;

bool sameStarts(Box a, Box b) {
  for (size_t i = 0; i < a.size(); ++i)
    if (a[i].start != b[i].start)
      return false;
  return true;
}

bool same(Box a, Box b) { return std::equal(a.begin(), a.end(), b.begin()); }

} // namespace

void TileCells::clear(size_t rank) {
  rank_ = rank;
  cells_.clear();
  axes_.clear();
  tile_.clear();
  std::fill(places_.begin(), places_.end(), none);
}

bool TileCells::isTile(Box box) {
  for (const Axis &axis : box)
    if (axis.step != 1 || axis.count <= 0 || axis.start % axis.count != 0)
      return false;
  return true;
}

bool TileCells::onGrid(Box box) const {
  for (size_t i = 0; i < rank_; ++i)
    if (box[i].step != 1 || box[i].count > tile_[i] || box[i].start % tile_[i] != 0)
      return false;
  return true;
}

uint64_t TileCells::hashOf(Box box) {
  uint64_t hash = 0;
  for (const Axis &axis : box)
    hash = (hash ^ static_cast<uint64_t>(axis.start)) * 0x9e3779b97f4a7c15u;
  return hash ^ (hash >> 32);
}

/// The place in the table of the cell of a box with these starts, or the place where it would be.
size_t TileCells::placeOf(Box wanted) const {
  size_t mask = places_.size() - 1;
  size_t at = hashOf(wanted) & mask;
  while (places_[at] != none && !sameStarts(box(places_[at]), wanted))
    at = (at + 1) & mask;
  return at;
}

uint32_t TileCells::find(Box wanted) const {
  if (cells_.empty())
    return none;
  uint32_t cell = places_[placeOf(wanted)];
  return cell != none && same(box(cell), wanted) ? cell : none;
}

uint32_t TileCells::findOrAdd(Box wanted) {
  if (cells_.empty()) {
    // The first tile fixes the size of all tiles of the grid.
    if (!isTile(wanted))
      return none;
    tile_.clear();
    for (const Axis &axis : wanted)
      tile_.push_back(axis.count);
    if (places_.empty())
      rehash(kFewestPlaces);
  }
  size_t at = placeOf(wanted);
  if (uint32_t cell = places_[at]; cell != none)
    return same(box(cell), wanted) ? cell : none;
  if (!onGrid(wanted))
    return none;
  if (places_.size() < 2 * (cells_.size() + 1)) {
    rehash(2 * places_.size());
    at = placeOf(wanted);
  }
  places_[at] = static_cast<uint32_t>(cells_.size());
  cells_.emplace_back();
  axes_.insert(axes_.end(), wanted.begin(), wanted.end());
  return places_[at];
}

void TileCells::move(uint32_t from, uint32_t to) {
  if (from == to)
    return;
  cells_[to] = cells_[from];
  std::copy_n(axes_.begin() + static_cast<ptrdiff_t>(from * rank_), rank_,
              axes_.begin() + static_cast<ptrdiff_t>(to * rank_));
}

void TileCells::truncate(uint32_t size) {
  if (size == cells_.size())
    return;
  cells_.resize(size);
  axes_.resize(size * rank_);
  rehash(std::max(kFewestPlaces, std::bit_ceil(size_t(size) * 2)));
}

void TileCells::rehash(size_t capacity) {
  places_.assign(capacity, none);
  for (uint32_t cell = 0; cell < cells_.size(); ++cell)
    places_[placeOf(box(cell))] = cell;
}

} // namespace ptl::rt
