#include "runtime/vector_sort.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

// What vectors do not sort: a range that pivots have divided badly too often, and all on a processor without AVX-512.
template <typename Number> static void sortPlainly(Number *numbers, int64_t count) {
  std::sort(numbers, numbers + count);
}

#if defined(__x86_64__) && defined(__linux__)

#include <immintrin.h>

// Everything here is compiled for AVX-512, so nothing of it may run before `canSortByVectors` has been asked, and nothing of the
// standard library may be instantiated here: other files would share the copy.
#pragma clang attribute push(__attribute__((target("avx512f"))), apply_to = function)

namespace {

/// Vectors of 32 bits: which instructions they take, and how lanes are exchanged.
struct Lanes32 {
  using Number = uint32_t;
  static constexpr int count = 16;

  static __m512i load(const Number *from) { return _mm512_loadu_si512(from); }
  static __m512i loadFirst(const Number *from, unsigned lanes) {
    return _mm512_mask_loadu_epi32(_mm512_set1_epi32(-1), firstOf(lanes), from);
  }
  static void store(Number *to, __m512i v) { _mm512_storeu_si512(to, v); }
  static void storeFirst(Number *to, unsigned lanes, __m512i v) {
    _mm512_mask_storeu_epi32(to, firstOf(lanes), v);
  }
  static __m512i all(Number x) { return _mm512_set1_epi32(static_cast<int>(x)); }
  static __m512i min(__m512i a, __m512i b) { return _mm512_min_epu32(a, b); }
  static __m512i max(__m512i a, __m512i b) { return _mm512_max_epu32(a, b); }
  static __m512i choose(unsigned bits, __m512i a, __m512i b) {
    return _mm512_mask_blend_epi32(static_cast<__mmask16>(bits), a, b);
  }
  static unsigned less(__m512i a, __m512i b) { return _mm512_cmplt_epu32_mask(a, b); }
  static unsigned equal(__m512i a, __m512i b) { return _mm512_cmpeq_epi32_mask(a, b); }
  /// All ones where the highest bit is set.
  static __m512i signs(__m512i v) { return _mm512_srai_epi32(v, 31); }
  static __m512i compress(unsigned lanes, __m512i v) {
    return _mm512_maskz_compress_epi32(static_cast<__mmask16>(lanes), v);
  }
  /// Lane `i` from lane `i ^ Bits`.
  template <int Bits> static __m512i exchanged(__m512i v) {
    __m512i lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    return _mm512_permutexvar_epi32(_mm512_xor_si512(lanes, _mm512_set1_epi32(Bits)), v);
  }

private:
  static __mmask16 firstOf(unsigned lanes) { return static_cast<__mmask16>((1u << lanes) - 1); }
};

/// Vectors of 64 bits.
struct Lanes64 {
  using Number = uint64_t;
  static constexpr int count = 8;

  static __m512i load(const Number *from) { return _mm512_loadu_si512(from); }
  static __m512i loadFirst(const Number *from, unsigned lanes) {
    return _mm512_mask_loadu_epi64(_mm512_set1_epi64(-1), firstOf(lanes), from);
  }
  static void store(Number *to, __m512i v) { _mm512_storeu_si512(to, v); }
  static void storeFirst(Number *to, unsigned lanes, __m512i v) {
    _mm512_mask_storeu_epi64(to, firstOf(lanes), v);
  }
  static __m512i all(Number x) { return _mm512_set1_epi64(static_cast<long long>(x)); }
  static __m512i min(__m512i a, __m512i b) { return _mm512_min_epu64(a, b); }
  static __m512i max(__m512i a, __m512i b) { return _mm512_max_epu64(a, b); }
  static __m512i choose(unsigned bits, __m512i a, __m512i b) {
    return _mm512_mask_blend_epi64(static_cast<__mmask8>(bits), a, b);
  }
  static unsigned less(__m512i a, __m512i b) { return _mm512_cmplt_epu64_mask(a, b); }
  static unsigned equal(__m512i a, __m512i b) { return _mm512_cmpeq_epi64_mask(a, b); }
  static __m512i signs(__m512i v) { return _mm512_srai_epi64(v, 63); }
  static __m512i compress(unsigned lanes, __m512i v) {
    return _mm512_maskz_compress_epi64(static_cast<__mmask8>(lanes), v);
  }
  template <int Bits> static __m512i exchanged(__m512i v) {
    __m512i lanes = _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7);
    return _mm512_permutexvar_epi64(_mm512_xor_si512(lanes, _mm512_set1_epi64(Bits)), v);
  }

private:
  static __mmask8 firstOf(unsigned lanes) { return static_cast<__mmask8>((1u << lanes) - 1); }
};

/// Bitonic networks. Vectors in a row are one sequence, the lanes of the first one first.
template <typename Lanes> struct Network {
  /// The lanes that have the bit: 0b1010… for bit 1.
  static constexpr unsigned lanesWith(int bit) {
    unsigned lanes = 0;
    for (int i = 0; i < Lanes::count; ++i)
      lanes |= (i & bit) ? 1u << i : 0u;
    return lanes;
  }
  /// Each lane meets lane `i ^ Exchange`; those with the bit `High` keep the larger number.
  template <int Exchange, int High> static __m512i meet(__m512i v) {
    __m512i other = Lanes::template exchanged<Exchange>(v);
    return Lanes::choose(lanesWith(High), Lanes::min(v, other), Lanes::max(v, other));
  }
  /// Sorts a vector that is bitonic in groups of `2 * Distance` lanes.
  template <int Distance> static __m512i clean(__m512i v) {
    if constexpr (Distance == 0)
      return v;
    else
      return clean<Distance / 2>(meet<Distance, Distance>(v));
  }
  template <int Length> static __m512i sorted(__m512i v) {
    if constexpr (Length == 1)
      return v;
    else
      // The second half meets the first one backwards, so that both become bitonic.
      return clean<Length / 4>(meet<Length - 1, Length / 2>(sorted<Length / 2>(v)));
  }

  /// Sorts a bitonic sequence of N vectors.
  template <int N> static void cleanAll(__m512i *v) {
    if constexpr (N == 1) {
      v[0] = clean<Lanes::count / 2>(v[0]);
    } else {
      for (int i = 0; i < N / 2; ++i) {
        __m512i low = Lanes::min(v[i], v[i + N / 2]);
        v[i + N / 2] = Lanes::max(v[i], v[i + N / 2]);
        v[i] = low;
      }
      cleanAll<N / 2>(v);
      cleanAll<N / 2>(v + N / 2);
    }
  }
  template <int N> static void sortAll(__m512i *v) {
    if constexpr (N == 1) {
      v[0] = sorted<Lanes::count>(v[0]);
    } else {
      sortAll<N / 2>(v);
      sortAll<N / 2>(v + N / 2);
      __m512i high[N / 2];
      for (int i = 0; i < N / 2; ++i) {
        __m512i other = Lanes::template exchanged<Lanes::count - 1>(v[N - 1 - i]);
        high[i] = Lanes::max(v[i], other);
        v[i] = Lanes::min(v[i], other);
      }
      for (int i = 0; i < N / 2; ++i)
        v[N / 2 + i] = high[i];
      cleanAll<N / 2>(v);
      cleanAll<N / 2>(v + N / 2);
    }
  }
};

/// Quicksort. A part of few vectors is sorted in registers.
template <typename Lanes> class VectorSort {
  using Number = typename Lanes::Number;
  static constexpr int64_t kLanes = Lanes::count;
  static constexpr int kMostVectors = 16;

public:
  explicit VectorSort(Number *room) : room_(room) {}

  void sort(Number *numbers, int64_t count, int depth) const {
    while (count > kMostVectors * kLanes) {
      if (depth-- == 0)
        return sortPlainly(numbers, count);
      Number pivot = pivotOf(numbers, count);
      int64_t below = partition(numbers, count, pivot);
      if (below == 0) {
        // The pivot is the least number: what equals it is in place once it stands in front.
        if (pivot == static_cast<Number>(-1))
          return;
        below = partition(numbers, count, pivot + 1);
        numbers += below;
        count -= below;
        continue;
      }
      // The shorter part first: the stack stays flat.
      int64_t above = count - below;
      if (below < above) {
        sort(numbers, below, depth);
        numbers += below;
        count = above;
      } else {
        sort(numbers + below, above, depth);
        count = below;
      }
    }
    sortShort(numbers, count);
  }

private:
  static void sortShort(Number *numbers, int64_t count) {
    if (count <= kLanes)
      return sortVectors<1>(numbers, count);
    if (count <= 2 * kLanes)
      return sortVectors<2>(numbers, count);
    if (count <= 4 * kLanes)
      return sortVectors<4>(numbers, count);
    if (count <= 8 * kLanes)
      return sortVectors<8>(numbers, count);
    sortVectors<kMostVectors>(numbers, count);
  }
  template <int N> static void sortVectors(Number *numbers, int64_t count) {
    __m512i v[N];
    for (int i = 0; i < N; ++i)
      v[i] = Lanes::loadFirst(numbers + i * kLanes, lanesAt(count, i));
    Network<Lanes>::template sortAll<N>(v);
    for (int i = 0; i < N; ++i)
      Lanes::storeFirst(numbers + i * kLanes, lanesAt(count, i), v[i]);
  }
  static unsigned lanesAt(int64_t count, int i) {
    int64_t left = count - i * kLanes;
    return static_cast<unsigned>(left < 0 ? 0 : left > kLanes ? kLanes : left);
  }

  /// A number of the range near its median: the median of one vector of numbers that lie evenly apart. More of them cost more
  /// than better pivots save.
  static Number pivotOf(const Number *numbers, int64_t count) {
    Number sample[kLanes];
    int64_t distance = count / kLanes;
    for (int64_t i = 0; i < kLanes; ++i)
      sample[i] = numbers[i * distance + distance / 2];
    sortVectors<1>(sample, kLanes);
    return sample[kLanes / 2];
  }

  /// Puts the numbers below the pivot in front, and says how many these are.
  int64_t partition(Number *numbers, int64_t count, Number pivot) const {
    __m512i pivots = Lanes::all(pivot);
    Number *below = numbers, *above = room_;
    int64_t at = 0;
    // A vector is read before anything is stored there: what is below never overtakes.
    for (; at + kLanes <= count; at += kLanes) {
      __m512i v = Lanes::load(numbers + at);
      unsigned less = Lanes::less(v, pivots), rest = ~less & kAllLanes;
      Lanes::store(below, Lanes::compress(less, v));
      Lanes::store(above, Lanes::compress(rest, v));
      int found = __builtin_popcount(less);
      below += found;
      above += kLanes - found;
    }
    if (unsigned left = static_cast<unsigned>(count - at)) {
      __m512i v = Lanes::loadFirst(numbers + at, left);
      unsigned some = (1u << left) - 1, less = Lanes::less(v, pivots) & some, rest = ~less & some;
      int found = __builtin_popcount(less);
      Lanes::storeFirst(below, static_cast<unsigned>(found), Lanes::compress(less, v));
      Lanes::store(above, Lanes::compress(rest, v));
      below += found;
      above += static_cast<int>(left) - found;
    }
    std::memcpy(below, room_, static_cast<size_t>(above - room_) * sizeof(Number));
    return below - numbers;
  }
  static constexpr unsigned kAllLanes = (1u << kLanes) - 1;

  Number *room_;
};

/// Rows that are sorted in registers alone, from elements to elements.
template <typename Lanes> class ShortRow {
  using Number = typename Lanes::Number;
  static constexpr int kLanes = Lanes::count;

public:
  explicit ShortRow(const ptl::rt::RowKeys<Number> &form)
      : form_(form), flip_(Lanes::all(form.flip)), sign_(Lanes::all(kSign)),
        infinity_(Lanes::all(form.infinity)) {}

  bool sort(const Number *from, int64_t count, Number *to) const {
    if (count <= kLanes)
      return sortVectors<1>(from, count, to);
    if (count <= 2 * kLanes)
      return sortVectors<2>(from, count, to);
    if (count <= 4 * kLanes)
      return sortVectors<4>(from, count, to);
    if (count <= 8 * kLanes)
      return sortVectors<8>(from, count, to);
    return sortVectors<16>(from, count, to);
  }

private:
  static constexpr Number kSign = Number(1) << (sizeof(Number) * 8 - 1);

  static unsigned lanesAt(int64_t count, int i) {
    int64_t left = count - i * kLanes;
    return static_cast<unsigned>(left < 0 ? 0 : left > kLanes ? kLanes : left);
  }
  static __m512i flipped(__m512i v, __m512i bits) { return _mm512_xor_si512(v, bits); }

  /// Keys of elements; lanes of numbers that keys do not tell apart are added to `alike`.
  __m512i keys(__m512i x, unsigned &alike) const {
    if (!form_.isReal)
      return flipped(x, flip_);
    alike |= Lanes::less(infinity_, _mm512_andnot_si512(sign_, x));
    alike |= Lanes::equal(x, sign_);
    return flipped(flipped(x, _mm512_or_si512(Lanes::signs(x), sign_)), flip_);
  }
  __m512i elements(__m512i key) const {
    key = flipped(key, flip_);
    if (!form_.isReal)
      return key;
    // Where the sign is not set, all bits are inverted.
    return flipped(
        key, _mm512_or_si512(_mm512_xor_si512(Lanes::signs(key), Lanes::all(Number(-1))), sign_));
  }
  template <int N> bool sortVectors(const Number *from, int64_t count, Number *to) const {
    __m512i v[N];
    unsigned alike = 0;
    for (int i = 0; i < N; ++i) {
      unsigned lanes = lanesAt(count, i), here = 0, all = (1u << lanes) - 1;
      __m512i key = keys(Lanes::loadFirst(from + i * kLanes, lanes), here);
      // What is behind the row is as large as any key, and so stays behind.
      v[i] = Lanes::choose(all, Lanes::all(Number(-1)), key);
      alike |= here & all;
    }
    if (alike)
      return false;
    Network<Lanes>::template sortAll<N>(v);
    for (int i = 0; i < N; ++i)
      Lanes::storeFirst(to + i * kLanes, lanesAt(count, i), elements(v[i]));
    return true;
  }

  const ptl::rt::RowKeys<Number> &form_;
  __m512i flip_, sign_, infinity_;
};

bool sortRow(const uint32_t *from, int64_t count, const ptl::rt::RowKeys<uint32_t> &form,
             uint32_t *to) {
  return ShortRow<Lanes32>(form).sort(from, count, to);
}
bool sortRow(const uint64_t *from, int64_t count, const ptl::rt::RowKeys<uint64_t> &form,
             uint64_t *to) {
  return ShortRow<Lanes64>(form).sort(from, count, to);
}
constexpr int64_t kShortRow = 128;

/// Twice as many divisions as a good pivot needs.
int mostDivisions(int64_t count) {
  int divisions = 4;
  for (; count > 1; count /= 2)
    divisions += 2;
  return divisions;
}

void sortVectors(uint32_t *numbers, int64_t count, uint32_t *room) {
  VectorSort<Lanes32>(room).sort(numbers, count, mostDivisions(count));
}
void sortVectors(uint64_t *numbers, int64_t count, uint64_t *room) {
  VectorSort<Lanes64>(room).sort(numbers, count, mostDivisions(count));
}

} // namespace

#pragma clang attribute pop

bool ptl::rt::canSortByVectors() {
  static const bool can = __builtin_cpu_supports("avx512f");
  return can;
}

#else

bool ptl::rt::canSortByVectors() { return false; }
template <typename Number> static void sortVectors(Number *numbers, int64_t count, Number *) {
  sortPlainly(numbers, count);
}
constexpr int64_t kShortRow = 0;
template <typename Bits>
static bool sortRow(const Bits *, int64_t, const ptl::rt::RowKeys<Bits> &, Bits *) {
  return false;
}

#endif

namespace ptl::rt {

void sortByVectors(uint32_t *numbers, int64_t count, uint32_t *room) {
  canSortByVectors() ? sortVectors(numbers, count, room) : sortPlainly(numbers, count);
}
void sortByVectors(uint64_t *numbers, int64_t count, uint64_t *room) {
  canSortByVectors() ? sortVectors(numbers, count, room) : sortPlainly(numbers, count);
}
bool sortShortRow(const uint32_t *from, int64_t count, const RowKeys<uint32_t> &form,
                  uint32_t *to) {
  return count <= kShortRow && canSortByVectors() && sortRow(from, count, form, to);
}
bool sortShortRow(const uint64_t *from, int64_t count, const RowKeys<uint64_t> &form,
                  uint64_t *to) {
  return count <= kShortRow && canSortByVectors() && sortRow(from, count, form, to);
}

} // namespace ptl::rt
