// What one core of this machine can do: the figures that the table of run.py has beside each row. Built with
// `cc -O3 -march=native -shared -fPIC`; vectors are as wide as the target's registers.
#include <stddef.h>
#include <stdint.h>

#if defined(__AVX512F__)
typedef float Vector __attribute__((vector_size(64)));
typedef int64_t Wide __attribute__((vector_size(64)));
#else
typedef float Vector __attribute__((vector_size(32)));
typedef int64_t Wide __attribute__((vector_size(32)));
#endif
enum { kChains = 12 };

/// Multiply-adds of floats in registers: `rounds` times 12 independent vectors. Returns how many operations that is.
double ptl_limit_fma(int64_t rounds, float *sink) {
  Vector sums[kChains], x, y;
  for (size_t lane = 0; lane < sizeof(Vector) / sizeof(float); ++lane) {
    x[lane] = 0.999f + (float)lane * 1e-6f;
    y[lane] = 1e-6f;
  }
  for (int chain = 0; chain < kChains; ++chain)
    sums[chain] = y * (float)chain;
  for (int64_t round = 0; round < rounds; ++round) {
#pragma clang loop unroll(full)
    for (int chain = 0; chain < kChains; ++chain)
      sums[chain] = sums[chain] * x + y;
    __asm__ volatile("" ::: "memory");
  }
  for (int chain = 1; chain < kChains; ++chain)
    sums[0] += sums[chain];
  *sink = sums[0][0];
  return 2.0 * kChains * (double)(sizeof(Vector) / sizeof(float)) * (double)rounds;
}

/// Reads `bytes`, a multiple of 512, and nothing else.
int64_t ptl_limit_read(const void *data, int64_t bytes) {
  const Wide *from = data;
  Wide first = {0}, second = {0}, third = {0}, fourth = {0};
  for (int64_t i = 0; i < bytes / (int64_t)sizeof(Wide); i += 4) {
    first ^= from[i];
    second ^= from[i + 1];
    third ^= from[i + 2];
    fourth ^= from[i + 3];
  }
  first ^= second ^ third ^ fourth;
  return first[0];
}

/// Copies `bytes`, a multiple of 512, past the caches on the writing side.
void ptl_limit_copy(void *to, const void *from, int64_t bytes) {
  const Wide *source = from;
  Wide *target = to;
  for (int64_t i = 0; i < bytes / (int64_t)sizeof(Wide); ++i)
    __builtin_nontemporal_store(source[i], target + i);
}
