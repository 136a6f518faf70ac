#include "passes/analysis/pack_buffers.h"

#include "frontend/base/round_up.h"

#include <algorithm>
#include <numeric>
#include <set>

namespace ptl {
namespace {

constexpr int64_t kUnplaced = -1;
// Pairs of items that are live together, at most, for which gaps below others are looked at; and
// how many looks all attempts together have before the last one begins.
constexpr uint64_t kMaxPairs = 1'500'000;
constexpr uint64_t kMaxLooks = 2'000'000;

using Order = std::vector<uint32_t>;

/// The height that is taken at each position: a segment tree over the positions with range maximum and range raise. Raises stay at their
/// nodes and are never pushed down.
class Skyline {
public:
  explicit Skyline(uint32_t positions) {
    while (size_ < positions)
      size_ *= 2;
    highest_.assign(2 * size_, 0);
    raised_.assign(2 * size_, 0);
  }
  int64_t over(uint32_t begin, uint32_t end) const { return over(1, 0, size_ - 1, begin, end); }
  /// Raises the positions from `begin` to `end`, both included. `height` is at least their present height, `over(begin, end)`.
  void raise(uint32_t begin, uint32_t end, int64_t height) {
    raise(1, 0, size_ - 1, begin, end, height);
  }

private:
  int64_t over(uint32_t node, uint32_t low, uint32_t high, uint32_t begin, uint32_t end) const {
    if (begin <= low && high <= end)
      return highest_[node];
    uint32_t middle = (low + high) / 2;
    // What was raised for the whole node holds for each part of it.
    int64_t height = raised_[node];
    if (begin <= middle)
      height = std::max(height, over(2 * node, low, middle, begin, end));
    if (end > middle)
      height = std::max(height, over(2 * node + 1, middle + 1, high, begin, end));
    return height;
  }
  void raise(uint32_t node, uint32_t low, uint32_t high, uint32_t begin, uint32_t end,
             int64_t height) {
    highest_[node] = std::max(highest_[node], height);
    if (begin <= low && high <= end) {
      raised_[node] = std::max(raised_[node], height);
      return;
    }
    uint32_t middle = (low + high) / 2;
    if (begin <= middle)
      raise(2 * node, low, middle, begin, end, height);
    if (end > middle)
      raise(2 * node + 1, middle + 1, high, begin, end, height);
  }

  uint32_t size_ = 1;
  std::vector<int64_t> highest_; ///< of the whole part of a node
  std::vector<int64_t> raised_;  ///< where all of the part is at least that high
};

/// The free blocks at the present position, by address and by size.
class FreeBlocks {
public:
  explicit FreeBlocks(int64_t bytes) { insert(0, bytes); }

  /// The smallest block that is large enough, the lowest of these.
  int64_t take(int64_t bytes) {
    // The first block is larger than all items together, so there always is one.
    auto [size, address] = *bySize_.lower_bound({bytes, 0});
    erase(address, size);
    if (size > bytes)
      insert(address + bytes, size - bytes);
    return address;
  }
  void give(int64_t address, int64_t bytes) {
    auto next = byAddress_.lower_bound({address, 0});
    // Neighbouring free blocks are joined, so that large items find room again (best fit with
    // coalescing).
    if (next != byAddress_.end() && next->first == address + bytes) {
      int64_t size = next->second;
      erase(address + bytes, size);
      bytes += size;
    }
    auto after = byAddress_.lower_bound({address, 0});
    if (after != byAddress_.begin()) {
      auto [before, size] = *std::prev(after);
      if (before + size == address) {
        erase(before, size);
        address = before;
        bytes += size;
      }
    }
    insert(address, bytes);
  }

private:
  void insert(int64_t address, int64_t bytes) {
    byAddress_.insert({address, bytes});
    bySize_.insert({bytes, address});
  }
  void erase(int64_t address, int64_t bytes) {
    byAddress_.erase({address, bytes});
    bySize_.erase({bytes, address});
  }
  std::set<std::pair<int64_t, int64_t>> byAddress_, bySize_;
};

class Packer {
public:
  Packer(std::span<const PackItem> items, int64_t alignment);

  void measure();
  int64_t fixedBytesAt(uint32_t rank, const Order &byAddress) const;
  void run(int64_t enough);
  Packing take() { return std::move(best_); }

private:
  void compressPositions(std::span<const PackItem> items);
  template <typename VisitT> void sweep(VisitT visit) const;
  bool findNeighbours();
  std::vector<Order> orders() const;
  int64_t lowestGap(uint32_t item, const std::vector<int64_t> &addresses);
  void packInGaps(const Order &order);
  void packOnSkyline(const Order &order);
  void packInTime();
  void search(int64_t goal);
  int64_t peakOf(const std::vector<int64_t> &addresses) const;
  bool keep(std::vector<int64_t> addresses);
  bool isFixed(uint32_t item) const { return fixed_[item] != kUnplaced; }
  uint32_t size() const { return static_cast<uint32_t>(bytes_.size()); }

  int64_t alignment_;
  std::vector<uint32_t> begin_, end_; ///< ranks of the positions at which something begins
  std::vector<uint32_t> positions_;   ///< the position of each rank
  std::vector<int64_t> bytes_, fixed_;
  Order byBegin_;
  int64_t fixedTop_ = 0;
  uint64_t looks_ = 0;
  std::vector<uint32_t> neighbourStart_, neighbours_; ///< live together, by item
  std::vector<uint64_t> taken_; ///< the placed neighbours of one item: address, then number
  std::vector<int64_t> last_;   ///< addresses of the last packing tried
  Packing best_;
};

Packer::Packer(std::span<const PackItem> items, int64_t alignment) : alignment_(alignment) {
  for (const PackItem &item : items) {
    bytes_.push_back(roundUp(item.bytes, alignment));
    fixed_.push_back(item.fixed.value_or(kUnplaced));
    if (item.fixed)
      fixedTop_ = std::max(fixedTop_, *item.fixed + bytes_.back());
  }
  compressPositions(items);
  byBegin_.resize(size());
  std::iota(byBegin_.begin(), byBegin_.end(), 0);
  std::stable_sort(byBegin_.begin(), byBegin_.end(),
                   [&](uint32_t a, uint32_t b) { return begin_[a] < begin_[b]; });
  best_.peak = INT64_MAX;
}

// Two intervals overlap exactly when one contains the begin of the other, so only begins count.
void Packer::compressPositions(std::span<const PackItem> items) {
  for (const PackItem &item : items)
    positions_.push_back(item.begin);
  std::sort(positions_.begin(), positions_.end());
  positions_.erase(std::unique(positions_.begin(), positions_.end()), positions_.end());
  // An item is live at all begins from its own one to the last that is not behind its end.
  auto rank = [&](uint32_t position) {
    auto after = std::upper_bound(positions_.begin(), positions_.end(), position);
    return static_cast<uint32_t>(after - positions_.begin() - 1);
  };
  for (const PackItem &item : items) {
    begin_.push_back(rank(item.begin));
    end_.push_back(rank(std::max(item.begin, item.end)));
  }
}

/// The bytes that fixed items take at a position; those that share bytes are counted once.
int64_t Packer::fixedBytesAt(uint32_t rank, const Order &byAddress) const {
  // An item that ends before it begins is live at its begin.
  int64_t bytes = 0, top = 0;
  for (uint32_t item : byAddress) {
    if (begin_[item] > rank || end_[item] < rank)
      continue;
    int64_t end = fixed_[item] + bytes_[item];
    bytes += std::max<int64_t>(0, end - std::max(top, fixed_[item]));
    top = std::max(top, end);
  }
  return bytes;
}

void Packer::measure() {
  // Items come by their addresses, so bytes below `top` have been counted.
  // This is a sweep over the positions with a difference array.
  std::vector<int64_t> change(positions_.size() + 1, 0);
  Order fixed;
  for (uint32_t item = 0; item < size(); ++item) {
    if (isFixed(item)) {
      fixed.push_back(item);
      continue;
    }
    change[begin_[item]] += bytes_[item];
    change[end_[item] + 1] -= bytes_[item];
  }
  std::sort(fixed.begin(), fixed.end(),
            [&](uint32_t a, uint32_t b) { return fixed_[a] < fixed_[b]; });
  int64_t live = 0;
  for (uint32_t rank = 0; rank < positions_.size(); ++rank) {
    live += change[rank];
    // Fixed items may overlap, so their bytes are not simply added.
    int64_t all = live + (fixed.empty() ? 0 : fixedBytesAt(rank, fixed));
    if (all > best_.lowerBound) {
      best_.lowerBound = all;
      best_.fullest = positions_[rank];
    }
  }
}

/// Calls `visit` with each item and those that are live when it begins.
template <typename VisitT> void Packer::sweep(VisitT visit) const {
  std::vector<uint32_t> live;
  for (uint32_t item : byBegin_) {
    std::erase_if(live, [&](uint32_t other) { return end_[other] < begin_[item]; });
    if (!visit(item, live))
      return;
    live.push_back(item);
  }
}

/// False when there are too many pairs.
bool Packer::findNeighbours() {
  uint64_t pairs = 0;
  neighbourStart_.assign(size() + 1, 0);
  sweep([&](uint32_t item, const std::vector<uint32_t> &live) {
    pairs += live.size();
    neighbourStart_[item + 1] += static_cast<uint32_t>(live.size());
    for (uint32_t other : live)
      ++neighbourStart_[other + 1];
    // The caller gives up on exact neighbours beyond this, which would take quadratic time and
    // memory.
    return pairs <= kMaxPairs;
  });
  if (pairs > kMaxPairs)
    return false;
  // A first sweep counts and a second one fills, so the lists lie in one array (compressed rows).
  std::partial_sum(neighbourStart_.begin(), neighbourStart_.end(), neighbourStart_.begin());
  neighbours_.resize(2 * pairs);
  std::vector<uint32_t> next(neighbourStart_.begin(), neighbourStart_.end() - 1);
  sweep([&](uint32_t item, const std::vector<uint32_t> &live) {
    for (uint32_t other : live) {
      neighbours_[next[item]++] = other;
      neighbours_[next[other]++] = item;
    }
    return true;
  });
  return true;
}

// Large, long and bulky items are hard to place later, so each order puts one of these kinds first.
std::vector<Order> Packer::orders() const {
  auto length = [&](uint32_t item) { return int64_t(end_[item]) - begin_[item] + 1; };
  auto sorted = [&](auto key) {
    Order order = byBegin_;
    std::stable_sort(order.begin(), order.end(),
                     [&](uint32_t a, uint32_t b) { return key(a) > key(b); });
    return order;
  };
  return {
      sorted([&](uint32_t item) { return std::pair(bytes_[item], length(item)); }),
      sorted([&](uint32_t item) { return std::pair(length(item), bytes_[item]); }),
      sorted([&](uint32_t item) { return std::pair(length(item) * bytes_[item], length(item)); }),
  };
}

int64_t Packer::lowestGap(uint32_t item, const std::vector<int64_t> &addresses) {
  taken_.clear();
  for (uint32_t i = neighbourStart_[item]; i < neighbourStart_[item + 1]; ++i)
    if (uint32_t other = neighbours_[i]; addresses[other] != kUnplaced && bytes_[other])
      // Address and number share a word, so that sorting needs no indirection; addresses are
      // counted in units of the alignment.
      taken_.push_back(static_cast<uint64_t>(addresses[other] / alignment_) << 32 | other);
  // The looks are an estimate of the time, which bounds the search independently of the machine.
  looks_ += neighbourStart_[item + 1] - neighbourStart_[item] + taken_.size() + 8;
  std::sort(taken_.begin(), taken_.end());
  int64_t address = 0;
  for (uint64_t key : taken_) {
    auto other = static_cast<uint32_t>(key);
    // The neighbours are sorted by address, so the first gap that is large enough is the lowest
    // one.
    if (addresses[other] - address >= bytes_[item])
      break;
    address = std::max(address, addresses[other] + bytes_[other]);
  }
  return address;
}

void Packer::packInGaps(const Order &order) {
  std::vector<int64_t> addresses = fixed_;
  for (uint32_t item : order)
    if (!isFixed(item))
      addresses[item] = lowestGap(item, addresses);
  keep(std::move(addresses));
}

void Packer::packOnSkyline(const Order &order) {
  Skyline skyline(static_cast<uint32_t>(positions_.size()));
  std::vector<int64_t> addresses = fixed_;
  for (uint32_t item : order) {
    if (isFixed(item))
      continue;
    // Fixed items may lie anywhere below `fixedTop_`, so others are stacked above all of them.
    addresses[item] = std::max(fixedTop_, skyline.over(begin_[item], end_[item]));
    skyline.raise(begin_[item], end_[item], addresses[item] + bytes_[item]);
  }
  keep(std::move(addresses));
}

/// Packs as an allocator would that only knows buffers that have begun: into the smallest free
/// block that fits.
void Packer::packInTime() {
  int64_t total = std::accumulate(bytes_.begin(), bytes_.end(), int64_t(0));
  FreeBlocks blocks(total + 1);
  std::set<std::pair<uint32_t, uint32_t>> live;
  std::vector<int64_t> addresses = fixed_;
  for (uint32_t item : byBegin_) {
    // Items of no bytes need no block.
    if (isFixed(item) || bytes_[item] == 0) {
      addresses[item] = std::max<int64_t>(addresses[item], 0);
      continue;
    }
    // Blocks of items that are over by now are free again.
    while (!live.empty() && live.begin()->first < begin_[item]) {
      uint32_t dead = live.begin()->second;
      blocks.give(addresses[dead] - fixedTop_, bytes_[dead]);
      live.erase(live.begin());
    }
    addresses[item] = fixedTop_ + blocks.take(bytes_[item]);
    live.insert({end_[item], item});
  }
  keep(std::move(addresses));
}

/// Packs again and again, each time with what reached too high moved towards the front (squeaky wheel optimisation).
void Packer::search(int64_t goal) {
  if (best_.peak <= goal || looks_ >= kMaxLooks)
    return;
  Order order = orders().front();
  std::vector<int64_t> weight(size(), 0);
  for (uint32_t round = 1; best_.peak > goal && looks_ < kMaxLooks; ++round) {
    int64_t before = best_.peak;
    packInGaps(order);
    int64_t high = std::min(before, best_.peak);
    for (uint32_t item = 0; item < size(); ++item)
      if (int64_t over = last_[item] + bytes_[item] - goal; over > 0)
        // The weight of the highest items differs from round to round, so that the search does not
        // go in circles.
        weight[item] += last_[item] + bytes_[item] >= high ? 2 + round % 3 : 1;
    std::stable_sort(order.begin(), order.end(),
                     [&](uint32_t a, uint32_t b) { return weight[a] > weight[b]; });
    looks_ += size();
  }
}

int64_t Packer::peakOf(const std::vector<int64_t> &addresses) const {
  int64_t peak = 0;
  for (uint32_t item = 0; item < size(); ++item)
    peak = std::max(peak, addresses[item] + bytes_[item]);
  return peak;
}

bool Packer::keep(std::vector<int64_t> addresses) {
  // The packing that was tried last is kept as well, since `search` looks at what reached too high.
  int64_t peak = peakOf(addresses);
  bool better = peak < best_.peak;
  if (better) {
    best_.peak = peak;
    best_.addresses = addresses;
  }
  last_ = std::move(addresses);
  return better;
}

void Packer::run(int64_t enough) {
  measure();
  // No packing is lower than the bound, and the caller wants no better one than `enough`.
  int64_t goal = std::max({best_.lowerBound, fixedTop_, enough});
  bool hasGaps = findNeighbours();
  if (!hasGaps)
    packInTime();
  for (const Order &order : orders()) {
    if (!hasGaps)
      packOnSkyline(order);
    else if (best_.peak > goal && looks_ < kMaxLooks)
      packInGaps(order);
  }
  if (hasGaps)
    search(goal);
}

} // namespace

Packing measureLive(std::span<const PackItem> items, int64_t alignment) {
  Packer packer(items, alignment);
  packer.measure();
  return packer.take();
}

Packing packBuffers(std::span<const PackItem> items, int64_t alignment, int64_t enough) {
  if (items.empty())
    return {};
  Packer packer(items, alignment);
  packer.run(enough);
  return packer.take();
}

} // namespace ptl
