// Matrix registers (AMX) emulated in software, following the definition of their instructions: for
// tests on processors that lack them.
//
// Code that is compiled for a unit with `MatrixUnit::isEmulated` calls these functions instead of
// the instructions.
#pragma once

#include <atomic>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>

namespace ptl::cpu::testing {

/// The registers of one thread. Where an instruction would trap, the process is aborted.
struct MatrixRegisters {
  bool isConfigured = false;
  uint16_t width[8] = {}; ///< bytes of a row
  uint8_t rows[8] = {};
  uint8_t data[8][16][64] = {};

  static MatrixRegisters &here() {
    static thread_local MatrixRegisters registers;
    return registers;
  }
  /// The number of products that all threads have computed, and whether the system grants the
  /// registers.
  static inline std::atomic<int64_t> products = 0;
  static inline int32_t granted = 1;

  static void require(bool condition, const char *what) {
    if (condition)
      return;
    std::fprintf(stderr, "registers of matrices: %s\n", what);
    std::abort();
  }

  void configure(const uint8_t *memory) {
    *this = {};
    require(memory[0] == 1 && memory[1] == 0, "palette 1, from the first row on");
    for (int i = 2; i < 16; ++i)
      require(memory[i] == 0, "reserved bytes are 0");
    for (int i = 0; i < 8; ++i) {
      std::memcpy(&width[i], memory + 16 + 2 * i, 2);
      rows[i] = memory[48 + i];
      require(width[i] <= 64 && rows[i] <= 16, "at most 16 rows of 64 bytes");
      require((width[i] == 0) == (rows[i] == 0), "rows without bytes");
    }
    for (int i = 32; i < 64; ++i)
      require((i >= 48 && i < 56) || memory[i] == 0, "reserved bytes are 0");
    isConfigured = true;
  }
  int use(int number) const {
    require(isConfigured && number >= 0 && number < 8 && rows[number] > 0, "not configured");
    return number;
  }
  void clear(int number) { std::memset(data[use(number)], 0, sizeof data[0]); }
  void load(int number, const char *memory, int64_t stride) {
    clear(number);
    for (int r = 0; r < rows[number]; ++r)
      std::memcpy(data[number][r], memory + r * stride, width[number]);
  }
  void store(int number, char *memory, int64_t stride) {
    for (int r = 0; r < rows[use(number)]; ++r)
      std::memcpy(memory + r * stride, data[number][r], width[number]);
  }
  void requireProduct(int c, int a, int b) {
    use(c), use(a), use(b);
    require(c != a && c != b && a != b, "three registers");
    require(rows[c] == rows[a] && width[c] == width[b], "as many rows and columns as the operands");
    require(width[a] == 4 * rows[b], "as many numbers in rows as in columns");
    ++products;
  }
  /// C += A * B of four bytes each.
  template <typename A, typename B> void multiplyBytes(int c, int a, int b) {
    requireProduct(c, a, b);
    for (int m = 0; m < rows[c]; ++m)
      for (int n = 0; n < width[c] / 4; ++n) {
        uint32_t sum;
        std::memcpy(&sum, data[c][m] + 4 * n, 4);
        for (int k = 0; k < width[a]; ++k)
          sum += static_cast<uint32_t>(int32_t(A(data[a][m][k])) *
                                       int32_t(B(data[b][k / 4][4 * n + k % 4])));
        std::memcpy(data[c][m] + 4 * n, &sum, 4);
      }
  }
  static float flushed(float x) {
    return std::abs(x) < std::numeric_limits<float>::min() ? x * 0.0f : x;
  }
  /// C += A * B of two short floats each. Elements at even places are summed separately from those
  /// at odd places.
  template <float (*Widen)(uint16_t)> void multiplyFloats(int c, int a, int b) {
    requireProduct(c, a, b);
    auto widened = [&](int number, int row, float *out) {
      for (int i = 0; i < width[number] / 2; ++i) {
        uint16_t bits;
        std::memcpy(&bits, data[number][row] + 2 * i, 2);
        out[i] = flushed(Widen(bits));
      }
    };
    // Each number is widened once, although it is a factor of many terms.
    float left[16][32], right[16][32];
    for (int m = 0; m < rows[a]; ++m)
      widened(a, m, left[m]);
    for (int k = 0; k < rows[b]; ++k)
      widened(b, k, right[k]);
    for (int m = 0; m < rows[c]; ++m)
      for (int n = 0; n < width[c] / 4; ++n) {
        float sums[2] = {}, before;
        for (int k = 0; k < width[a] / 2; ++k)
          sums[k % 2] = flushed(std::fma(left[m][k], right[k / 2][2 * n + k % 2], sums[k % 2]));
        std::memcpy(&before, data[c][m] + 4 * n, 4);
        float sum = flushed(flushed(before) + flushed(sums[0] + sums[1]));
        std::memcpy(data[c][m] + 4 * n, &sum, 4);
      }
  }
};

inline float widenBf16(uint16_t bits) { return std::bit_cast<float>(uint32_t(bits) << 16); }
inline float widenF16(uint16_t bits) { return static_cast<float>(std::bit_cast<_Float16>(bits)); }

} // namespace ptl::cpu::testing

// Compiled code calls these functions by name, so they must be visible in the process or among the
// symbols that it is linked with.
#define PTL_EMULATED extern "C" __attribute__((used, visibility("default"))) inline
PTL_EMULATED int32_t ptl_emulated_matrix_registers() {
  return ptl::cpu::testing::MatrixRegisters::granted;
}
PTL_EMULATED void ptl_emulated_ldtilecfg(const uint8_t *memory) {
  ptl::cpu::testing::MatrixRegisters::here().configure(memory);
}
PTL_EMULATED void ptl_emulated_tilerelease() { ptl::cpu::testing::MatrixRegisters::here() = {}; }
PTL_EMULATED void ptl_emulated_tilezero(int8_t number) {
  ptl::cpu::testing::MatrixRegisters::here().clear(number);
}
PTL_EMULATED void ptl_emulated_tileloadd64(int8_t number, const char *memory, int64_t stride) {
  ptl::cpu::testing::MatrixRegisters::here().load(number, memory, stride);
}
PTL_EMULATED void ptl_emulated_tilestored64(int8_t number, char *memory, int64_t stride) {
  ptl::cpu::testing::MatrixRegisters::here().store(number, memory, stride);
}
#define PTL_EMULATED_PRODUCT(NAME, ...)                                                            \
  PTL_EMULATED void ptl_emulated_##NAME(int8_t c, int8_t a, int8_t b) {                            \
    ptl::cpu::testing::MatrixRegisters::here().__VA_ARGS__(c, a, b);                               \
  }
PTL_EMULATED_PRODUCT(tdpbssd, multiplyBytes<int8_t, int8_t>)
PTL_EMULATED_PRODUCT(tdpbsud, multiplyBytes<int8_t, uint8_t>)
PTL_EMULATED_PRODUCT(tdpbusd, multiplyBytes<uint8_t, int8_t>)
PTL_EMULATED_PRODUCT(tdpbuud, multiplyBytes<uint8_t, uint8_t>)
PTL_EMULATED_PRODUCT(tdpbf16ps, multiplyFloats<ptl::cpu::testing::widenBf16>)
PTL_EMULATED_PRODUCT(tdpfp16ps, multiplyFloats<ptl::cpu::testing::widenF16>)
#undef PTL_EMULATED_PRODUCT
#undef PTL_EMULATED
