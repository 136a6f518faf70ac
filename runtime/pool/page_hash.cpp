#include "runtime/pool/page_hash.h"

#include <bit>
#include <cstring>

namespace ptl::pool {

namespace {

constexpr uint64_t kFirst = 0x87c37b91114253d5, kSecond = 0x4cf5ad432745937f;

uint64_t mixedFirst(uint64_t word) { return std::rotl(word * kFirst, 31) * kSecond; }
uint64_t mixedSecond(uint64_t word) { return std::rotl(word * kSecond, 33) * kFirst; }

uint64_t spread(uint64_t word) {
  word = (word ^ (word >> 33)) * 0xff51afd7ed558ccd;
  word = (word ^ (word >> 33)) * 0xc4ceb9fe1a85ec53;
  return word ^ (word >> 33);
}

} // namespace

Key hashOf(std::span<const uint8_t> bytes) {
  // MurmurHash3 for 64-bit processors (x64, 128 bits, seed 0). A tail that is filled up with zeros mixes to what a short one does.
  uint64_t high = 0, low = 0;
  size_t at = 0;
  for (; at + 16 <= bytes.size(); at += 16) {
    uint64_t words[2];
    std::memcpy(words, bytes.data() + at, sizeof words);
    high = (std::rotl(high ^ mixedFirst(words[0]), 27) + low) * 5 + 0x52dce729;
    low = (std::rotl(low ^ mixedSecond(words[1]), 31) + high) * 5 + 0x38495ab5;
  }
  uint64_t rest[2] = {0, 0};
  if (at < bytes.size())
    std::memcpy(rest, bytes.data() + at, bytes.size() - at);
  low ^= mixedSecond(rest[1]);
  high ^= mixedFirst(rest[0]);
  high ^= bytes.size();
  low ^= bytes.size();
  high += low;
  low += high;
  high = spread(high);
  low = spread(low);
  high += low;
  low += high;
  return {high, low};
}

void KeyMaker::add(std::span<const uint8_t> bytes) {
  add(static_cast<uint64_t>(bytes.size()));
  bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
}

void KeyMaker::add(std::string_view text) {
  add(std::span(reinterpret_cast<const uint8_t *>(text.data()), text.size()));
}

void KeyMaker::add(uint64_t number) {
  const auto *bytes = reinterpret_cast<const uint8_t *>(&number);
  bytes_.insert(bytes_.end(), bytes, bytes + sizeof number);
}

void KeyMaker::add(Key key) {
  add(key.high);
  add(key.low);
}

Key KeyMaker::key() const {
  Key key = hashOf(bytes_);
  return key == kNoKey ? Key{0, 1} : key; // which is nobody's
}

} // namespace ptl::pool
