// The hash of everything that a cached result depends on.
#pragma once

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/BLAKE3.h"

#include <cstdint>
#include <map>
#include <string>

namespace ptl {

/// Hashes texts and numbers, each with a terminator, so that different sequences are different
/// bytes.
class KeyHash {
public:
  void add(llvm::StringRef text) {
    add(text.size());
    hash_.update(text);
  }
  void add(uint64_t number) {
    hash_.update(llvm::ArrayRef(reinterpret_cast<const uint8_t *>(&number), sizeof number));
  }
  void add(const std::map<std::string, int64_t> &values) {
    add(values.size());
    for (const auto &[name, value] : values) {
      add(name);
      add(static_cast<uint64_t>(value));
    }
  }
  std::string text() {
    auto digest = hash_.final<32>();
    return llvm::toHex(llvm::ArrayRef(digest.data(), digest.size()), true);
  }

private:
  llvm::BLAKE3 hash_;
};

} // namespace ptl
