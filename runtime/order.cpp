// Orderings of rows, for compiled code: elements become unsigned keys whose order is that of the language (NaN last, -0 and 0
// equal), and entries of key and position are sorted by their digits, which keeps equal ones in their order. Where nobody asks
// for positions the keys are sorted alone, which moves half as many bytes, and become elements again.
#include "runtime/abi/kernel_abi.h"
#include "runtime/vector_sort.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

// Loops that are worth the widest vectors of whatever processor they run on.
#if defined(__x86_64__) && defined(__linux__)
#define PTL_WIDE_VECTORS                                                                           \
  __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define PTL_WIDE_VECTORS
#endif

// --- keys ----------------------------------------------------------------------------------------

// Of f32, by far the commonest. `flip` is all ones for descending orders.
PTL_WIDE_VECTORS static void keysOfF32(const uint32_t *bits, int64_t count, uint32_t flip,
                                       uint32_t *keys) {
  for (int64_t i = 0; i < count; ++i) {
    uint32_t x = bits[i], size = x & 0x7fffffffu;
    uint32_t ordered = size == 0 ? 0x80000000u : (x >> 31 ? ~x : x | 0x80000000u);
    keys[i] = size > 0x7f800000u ? 0xffffffffu : ordered ^ flip;
  }
}

PTL_WIDE_VECTORS static bool anyBelow(const uint32_t *keys, int64_t count, uint32_t limit) {
  uint32_t found = 0;
  for (int64_t i = 0; i < count; ++i)
    found |= keys[i] < limit ? 1u : 0u;
  return found != 0;
}
static bool anyBelow(const uint64_t *keys, int64_t count, uint64_t limit) {
  return std::any_of(keys, keys + count, [=](uint64_t key) { return key < limit; });
}

namespace {

enum class Numbers : uint8_t { Unsigned, Signed, Real };

/// How the bits of an element type make keys.
struct KeyForm {
  Numbers numbers;
  unsigned width;    ///< in bits
  uint64_t infinity; ///< of floats: numbers whose bits without the sign are larger are NaN
};

KeyForm formOf(int32_t elem) {
  switch (elem) {
  case PTL_BOOL:
  case PTL_U8:
    return {Numbers::Unsigned, 8, 0};
  case PTL_U16:
    return {Numbers::Unsigned, 16, 0};
  case PTL_U32:
    return {Numbers::Unsigned, 32, 0};
  case PTL_U64:
    return {Numbers::Unsigned, 64, 0};
  case PTL_I8:
    return {Numbers::Signed, 8, 0};
  case PTL_I16:
    return {Numbers::Signed, 16, 0};
  case PTL_I32:
    return {Numbers::Signed, 32, 0};
  case PTL_F8E4M3: // without infinities: one NaN of each sign
    return {Numbers::Real, 8, 0x7e};
  case PTL_F8E5M2:
    return {Numbers::Real, 8, 0x7c};
  case PTL_F16:
    return {Numbers::Real, 16, 0x7c00};
  case PTL_BF16:
    return {Numbers::Real, 16, 0x7f80};
  case PTL_F32:
    return {Numbers::Real, 32, 0x7f800000};
  case PTL_F64:
    return {Numbers::Real, 64, 0x7ff0000000000000};
  default: // i64 and int
    return {Numbers::Signed, 64, 0};
  }
}

template <typename Bits, typename Key>
void keysOf(const Bits *bits, int64_t count, const KeyForm &form, bool descending, Key *keys) {
  constexpr Bits sign = static_cast<Bits>(Bits(1) << (sizeof(Bits) * 8 - 1));
  Bits flip = descending ? static_cast<Bits>(~Bits(0)) : Bits(0);
  if constexpr (std::is_same_v<Bits, uint32_t> && std::is_same_v<Key, uint32_t>)
    if (form.numbers == Numbers::Real)
      return keysOfF32(bits, count, flip, keys);
  auto infinity = static_cast<Bits>(form.infinity);
  for (int64_t i = 0; i < count; ++i) {
    Bits x = bits[i];
    switch (form.numbers) {
    case Numbers::Unsigned:
      keys[i] = static_cast<Bits>(x ^ flip);
      break;
    case Numbers::Signed:
      // Signed numbers are in the order of unsigned ones once the sign bit is inverted.
      keys[i] = static_cast<Bits>(x ^ sign ^ flip);
      break;
    case Numbers::Real: {
      auto size = static_cast<Bits>(x & ~sign);
      // Bits of positive floats rise with the number and those of negative ones fall, so the latter
      // are inverted. Both zeros have one key, and NaN the largest in either direction, since it
      // stands last.
      auto ordered = static_cast<Bits>(size == 0 ? sign : x & sign ? ~x : x | sign);
      keys[i] = size > infinity ? static_cast<Bits>(~Bits(0)) : static_cast<Bits>(ordered ^ flip);
      break;
    }
    }
  }
}

/// The elements of keys again. A key has lost the sign of a zero and the bits of a NaN.
template <typename Bits, typename Key>
void elementsOf(const Key *keys, int64_t count, const KeyForm &form, bool descending, Bits *bits) {
  constexpr Bits sign = static_cast<Bits>(Bits(1) << (sizeof(Bits) * 8 - 1));
  Bits flip = descending ? static_cast<Bits>(~Bits(0)) : Bits(0);
  if (form.numbers == Numbers::Signed)
    flip ^= sign;
  if (form.numbers != Numbers::Real) {
    for (int64_t i = 0; i < count; ++i)
      bits[i] = static_cast<Bits>(keys[i] ^ flip);
    return;
  }
  for (int64_t i = 0; i < count; ++i) {
    auto ordered = static_cast<Bits>(keys[i] ^ flip);
    bits[i] = static_cast<Bits>(ordered & sign ? ordered ^ sign : ~ordered);
  }
}

// --- sorting -------------------------------------------------------------------------------------

template <typename Key> struct SortEntry {
  Key key;
  uint32_t position;

  bool operator<(const SortEntry &other) const {
    return key != other.key ? key < other.key : position < other.position;
  }
};

template <typename Key> Key keyOf(Key key) { return key; }
template <typename Key> Key keyOf(const SortEntry<Key> &entry) { return entry.key; }

/// Sorts keys, or entries by their keys, of which `width` bits count, by digits, the least one first. Returns where the result
/// is: `entries` or `room`.
template <unsigned Digit, typename Entry>
Entry *sortByDigits(Entry *entries, Entry *room, int64_t count, unsigned width) {
  using Key = decltype(keyOf(*entries));
  constexpr size_t buckets = size_t(1) << Digit;
  constexpr unsigned most = (sizeof(Key) * 8 + Digit - 1) / Digit;
  static thread_local std::array<std::array<uint32_t, buckets>, most> counts;
  unsigned digits = (width + Digit - 1) / Digit;
  auto digitOf = [](const Entry &entry, unsigned digit) {
    return static_cast<size_t>(keyOf(entry) >> (digit * Digit)) & (buckets - 1);
  };
  for (unsigned digit = 0; digit < digits; ++digit)
    counts[digit].fill(0);
  for (int64_t i = 0; i < count; ++i)
    for (unsigned digit = 0; digit < digits; ++digit)
      ++counts[digit][digitOf(entries[i], digit)];
  for (unsigned digit = 0; digit < digits; ++digit) {
    auto &starts = counts[digit];
    // A digit that all keys share orders nothing.
    if (starts[digitOf(entries[0], digit)] == static_cast<uint32_t>(count))
      continue;
    uint32_t sum = 0;
    for (uint32_t &start : starts)
      sum += std::exchange(start, sum);
    for (int64_t i = 0; i < count; ++i)
      room[starts[digitOf(entries[i], digit)]++] = entries[i];
    std::swap(entries, room);
  }
  return entries;
}

// Below these numbers of entries the tables of digits cost more than they save.
constexpr int64_t kFewest = 48, kFewestForWideDigits = 2048;

template <typename Entry>
Entry *sortEntries(Entry *entries, Entry *room, int64_t count, unsigned width) {
  if (count < kFewest) {
    std::sort(entries, entries + count);
    return entries;
  }
  if (count < kFewestForWideDigits || width <= 16)
    return sortByDigits<8>(entries, room, count, width);
  return sortByDigits<11>(entries, room, count, width);
}

/// Sorts keys as `sortEntries` does; `room` has `kVectorSortSlack` more. Vectors have no fixed costs, but of many short keys each
/// digit takes less than a division does.
template <typename Key> Key *sortKeys(Key *keys, Key *room, int64_t count, unsigned width) {
  if (!ptl::rt::canSortByVectors() || (width <= 16 && count >= kFewestForWideDigits))
    return sortEntries(keys, room, count, width);
  ptl::rt::sortByVectors(keys, count, room);
  return keys;
}

/// The first `wanted` entries of the order, in no particular order, from keys in blocks: entries that come behind the worst of
/// as many better ones never enter.
template <typename Key> class Selection {
public:
  /// How many entries there is room for: those that are kept, as many that are better, and a piece.
  static int64_t capacityFor(int64_t wanted) { return 2 * wanted + 2 * kPiece; }

  Selection(SortEntry<Key> *entries, int64_t wanted) : entries_(entries), wanted_(wanted) {}

  void add(const Key *keys, int64_t count, int64_t first) {
    // An equal key comes behind, since its position is larger.
    if (full_ && !anyBelow(keys, count, worst_))
      return;
    for (int64_t from = 0; from < count; from += kPiece)
      addPiece(keys + from, std::min(kPiece, count - from), first + from);
  }
  int64_t finish() {
    if (size_ > wanted_)
      keepBest();
    return size_;
  }

private:
  static constexpr int64_t kPiece = 64, kFew = 16;

  void addPiece(const Key *keys, int64_t count, int64_t first) {
    if (full_ && !anyBelow(keys, count, worst_))
      return;
    if (wanted_ <= kFew)
      return insert(keys, count, first);
    // Whether an entry is better is as good as random, so each is written, and counted where it is.
    for (int64_t i = 0; i < count; ++i) {
      entries_[size_] = {keys[i], static_cast<uint32_t>(first + i)};
      size_ += !full_ || keys[i] < worst_;
    }
    if (size_ >= 2 * wanted_ + kPiece)
      keepBest();
  }
  /// Keeps a few entries in order, so that the worst of them is always known.
  void insert(const Key *keys, int64_t count, int64_t first) {
    for (int64_t i = 0; i < count; ++i) {
      if (full_ && keys[i] >= worst_)
        continue;
      int64_t place = full_ ? wanted_ - 1 : size_++;
      for (; place > 0 && keys[i] < entries_[place - 1].key; --place)
        entries_[place] = entries_[place - 1];
      entries_[place] = {keys[i], static_cast<uint32_t>(first + i)};
      full_ = size_ == wanted_;
      worst_ = entries_[size_ - 1].key;
    }
  }
  void keepBest() {
    std::nth_element(entries_, entries_ + wanted_ - 1, entries_ + size_);
    size_ = wanted_;
    worst_ = entries_[wanted_ - 1].key;
    full_ = true;
  }

  SortEntry<Key> *entries_;
  int64_t wanted_, size_ = 0;
  Key worst_{};
  bool full_ = false;
};

/// One call of `ptl_rt_order`.
struct Request {
  PtlContext *context;
  const void *elements;
  int64_t length, count;
  int32_t elem;
  bool descending;
  void *values;
  int32_t *positions;
};

template <typename Bits, typename Key> class Ordering {
public:
  explicit Ordering(const Request &request) : r_(request), form_(formOf(request.elem)) {}

  void run() {
    if (!r_.positions && r_.count == r_.length && sortInRegisters())
      return;
    bool selects = r_.count < r_.length / 8;
    if (!selects && !r_.positions)
      return runOnKeys();
    int64_t capacity = selects ? Selection<Key>::capacityFor(r_.count) : r_.length;
    auto *entries = scratch<SortEntry<Key>>(capacity), *room = scratch<SortEntry<Key>>(capacity);
    if (!entries || !room)
      return;
    if (!selects)
      return write(sortEntries(entries, room, take(entries), form_.width));
    // A selection has lost the order of positions, which sorting by digits would keep.
    std::sort(entries, entries + select(entries));
    write(entries);
  }

private:
  static constexpr int64_t kBlock = 512;

  template <typename T> T *scratch(int64_t count) {
    auto bytes = count * static_cast<int64_t>(sizeof(T));
    return static_cast<T *>(ptl_rt_scratch(r_.context, bytes));
  }
  const Bits *bits() const { return static_cast<const Bits *>(r_.elements); }

  template <typename Each> void forBlocks(Each each) {
    std::array<Key, kBlock> keys;
    for (int64_t first = 0; first < r_.length; first += kBlock) {
      int64_t count = std::min(kBlock, r_.length - first);
      keysOf(bits() + first, count, form_, r_.descending, keys.data());
      each(keys.data(), count, first);
    }
  }
  /// Short rows, for which everything else would take longer than their sorting.
  bool sortInRegisters() {
    if constexpr (sizeof(Bits) < sizeof(uint32_t)) {
      return false;
    } else {
      constexpr Bits sign = Bits(1) << (sizeof(Bits) * 8 - 1);
      Bits flip = r_.descending ? ~Bits(0) : Bits(0);
      if (form_.numbers == Numbers::Signed)
        flip ^= sign;
      ptl::rt::RowKeys<Bits> form{form_.numbers == Numbers::Real, flip,
                                  static_cast<Bits>(form_.infinity)};
      return ptl::rt::sortShortRow(bits(), r_.length, form, static_cast<Bits *>(r_.values));
    }
  }
  void runOnKeys() {
    auto *keys = scratch<Key>(r_.length),
         *room = scratch<Key>(r_.length + ptl::rt::kVectorSortSlack);
    if (!keys || !room)
      return;
    keysOf(bits(), r_.length, form_, r_.descending, keys);
    const Key *sorted = sortKeys(keys, room, r_.length, form_.width);
    elementsOf(sorted, r_.count, form_, r_.descending, static_cast<Bits *>(r_.values));
    if (form_.numbers == Numbers::Real)
      restoreEqual(sorted);
  }
  /// Writes the elements that keys do not tell apart, zeros and NaNs, in the order that they have.
  void restoreEqual(const Key *sorted) {
    constexpr Bits sign = static_cast<Bits>(Bits(1) << (sizeof(Bits) * 8 - 1));
    Bits flip = r_.descending ? static_cast<Bits>(~Bits(0)) : Bits(0);
    const Key *end = sorted + r_.length;
    auto [zero, behind] = std::equal_range(sorted, end, Key(static_cast<Bits>(sign ^ flip)));
    // Of zeros of one sign, as most arrays have them, the key is enough.
    if (zero != behind && std::find(bits(), bits() + r_.length, sign) != bits() + r_.length)
      restore(zero - sorted, behind - sorted, [](Bits x) { return (x & ~sign) == 0; });
    const Key *nan = std::lower_bound(zero, end, Key(static_cast<Bits>(~Bits(0))));
    auto infinity = static_cast<Bits>(form_.infinity);
    restore(nan - sorted, r_.length, [=](Bits x) { return (x & ~sign) > infinity; });
  }
  template <typename IsOfThese> void restore(int64_t place, int64_t end, IsOfThese isOfThese) {
    end = std::min(end, r_.count);
    for (const Bits *x = bits(); place < end; ++x)
      if (isOfThese(*x))
        static_cast<Bits *>(r_.values)[place++] = *x;
  }
  int64_t take(SortEntry<Key> *entries) {
    forBlocks([&](const Key *keys, int64_t count, int64_t first) {
      for (int64_t i = 0; i < count; ++i)
        entries[first + i] = {keys[i], static_cast<uint32_t>(first + i)};
    });
    return r_.length;
  }
  int64_t select(SortEntry<Key> *entries) {
    Selection<Key> selection(entries, r_.count);
    forBlocks(
        [&](const Key *keys, int64_t count, int64_t first) { selection.add(keys, count, first); });
    return selection.finish();
  }
  void write(const SortEntry<Key> *sorted) {
    for (int64_t i = 0; r_.values && i < r_.count; ++i)
      static_cast<Bits *>(r_.values)[i] = bits()[sorted[i].position];
    for (int64_t i = 0; r_.positions && i < r_.count; ++i)
      r_.positions[i] = static_cast<int32_t>(sorted[i].position);
  }

  const Request &r_;
  KeyForm form_;
};

} // namespace

void ptl_rt_order(PtlContext *context, const void *elements, int64_t length, int32_t elem,
                  int32_t descending, int64_t count, void *values, int32_t *positions) {
  count = std::min(count, length);
  if (count <= 0)
    return;
  Request request{context, elements, length, count, elem, descending != 0, values, positions};
  int64_t mark = ptl_rt_scratch_mark(context);
  switch (formOf(elem).width) {
  case 8:
    Ordering<uint8_t, uint32_t>(request).run();
    break;
  case 16:
    Ordering<uint16_t, uint32_t>(request).run();
    break;
  case 32:
    Ordering<uint32_t, uint32_t>(request).run();
    break;
  default:
    Ordering<uint64_t, uint64_t>(request).run();
  }
  ptl_rt_scratch_release(context, mark);
}
