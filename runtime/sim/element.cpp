#include "runtime/sim/element.h"

#include "frontend/base/elem_convert.h"

namespace ptl::rt::sim {

float smallToFloat(uint8_t bits, ElemKind kind) {
  return static_cast<float>(decodeFloat(bits, kind));
}
uint8_t floatToSmall(float value, ElemKind kind) {
  return static_cast<uint8_t>(encodeFloat(value, kind));
}

template <typename S>
static void loadAs(const Plane &plane, int64_t row, int64_t col, int64_t count, uint8_t *out) {
  constexpr int64_t size = sizeof(S);
  plane.forRuns(row, col, count, [&](const uint8_t *from, int64_t stride, int64_t n) {
    if (stride == 1)
      std::memcpy(out, from, static_cast<size_t>(n * size));
    else
      for (int64_t i = 0; i < n; ++i)
        std::memcpy(out + i * size, from + i * stride * size, size);
    out += n * size;
  });
}

template <typename S>
static void storeAs(const Plane &plane, int64_t row, int64_t col, int64_t count,
                    const uint8_t *in) {
  constexpr int64_t size = sizeof(S);
  plane.forRuns(row, col, count, [&](uint8_t *to, int64_t stride, int64_t n) {
    if (stride == 1)
      std::memcpy(to, in, static_cast<size_t>(n * size));
    else
      for (int64_t i = 0; i < n; ++i)
        std::memcpy(to + i * stride * size, in + i * size, size);
    in += n * size;
  });
}

/// Calls `visit` with a value of the unsigned type that is as wide as an element.
template <typename Visit> static void withBits(ElemKind elem, Visit visit) {
  switch (elemBytes(elem)) {
  case 1:
    return visit(uint8_t());
  case 2:
    return visit(uint16_t());
  case 4:
    return visit(uint32_t());
  default:
    return visit(uint64_t());
  }
}

void loadBits(const Plane &plane, int64_t row, int64_t col, int64_t count, uint8_t *out) {
  withBits(plane.elem, [&](auto bits) { loadAs<decltype(bits)>(plane, row, col, count, out); });
}

void storeBits(const Plane &plane, int64_t row, int64_t col, int64_t count, const uint8_t *in) {
  withBits(plane.elem, [&](auto bits) { storeAs<decltype(bits)>(plane, row, col, count, in); });
}

void poison(uint8_t *memory, int64_t bytes) {
  // Whole words first: memories are filled for every run of a core group.
  constexpr uint64_t word = kPoisonPattern * uint64_t{0x0001000100010001};
  int64_t i = 0;
  for (; i + 8 <= bytes; i += 8)
    std::memcpy(memory + i, &word, sizeof(word));
  if (i < bytes)
    std::memcpy(memory + i, &word, static_cast<size_t>(bytes - i));
}

} // namespace ptl::rt::sim
