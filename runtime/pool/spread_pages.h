// Pages in the memories of several parts, which are one room for all of them.
#pragma once

#include "runtime/pool/page_index.h"

#include <map>
#include <span>

namespace ptl::pool {

/// Each part has one of these, with the index of all pages and the bytes of those that lie with it. Parts make the same calls in the
/// same order, so their indices are the same, and each part knows without a message where a page lies. Pages leave in the
/// order of `PagePool`, over all parts.
class SpreadPages {
public:
  /// So many parts have room for so many pages each.
  SpreadPages(uint32_t parts, uint32_t slotsOfEach);

  /// The part with which a page lies, which counts as used; nothing if there is no such page.
  std::optional<uint32_t> use(Key key);
  /// The part with which a page is to lie from now on, or lies already; nothing if its parent is missing, or if only its own ancestors could leave.
  std::optional<uint32_t> reserve(Key key, Key parent);

  /// Of a page that lies here: its bytes, or those of one of its blocks.
  void write(Key key, uint32_t block, std::vector<uint8_t> bytes);
  /// Empty if nothing was written since the page was reserved.
  std::span<const uint8_t> read(Key key, uint32_t block) const;

  size_t size() const { return index_.size(); }

private:
  uint32_t partOf(const PageIndex::Entry &entry) const { return entry.slot % parts_; }

  uint32_t parts_;
  PageIndex index_;
  std::map<std::pair<uint32_t, uint32_t>, std::vector<uint8_t>> bytes_; ///< by slot and block
};

} // namespace ptl::pool
