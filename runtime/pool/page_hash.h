// The hash of keys of pages: MurmurHash3 with 128 bits. It need not resist adversaries, since
// whoever can write to a pool can write anything into its pages as well.
#pragma once

#include "runtime/pool/page_index.h"

#include <span>
#include <string_view>
#include <vector>

namespace ptl::pool {

Key hashOf(std::span<const uint8_t> bytes);

/// Hashes texts, numbers and keys, each with its length, so that different sequences are different
/// bytes.
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
