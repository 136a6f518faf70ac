// The hash that keys of pages are made with: MurmurHash3 with 128 bits. It meets no adversary: who writes into a pool may write
// anything into its pages as well.
#pragma once

#include "runtime/pool/page_index.h"

#include <span>
#include <string_view>
#include <vector>

namespace ptl::pool {

Key hashOf(std::span<const uint8_t> bytes);

/// Texts, numbers and keys one after the other, each with its length, so that no two sequences are the same bytes.
class KeyMaker {
public:
  void add(std::span<const uint8_t> bytes);
  void add(std::string_view text);
  void add(uint64_t number);
  void add(Key key);
  Key key() const;

private:
  std::vector<uint8_t> bytes_;
};

} // namespace ptl::pool
