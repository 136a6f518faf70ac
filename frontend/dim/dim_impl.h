// Internals of `DimContext`: interning, and the arithmetic of terms that division and printing
// share.
#pragma once

#include "frontend/base/arena.h"
#include "frontend/dim/dim.h"

#include <algorithm>
#include <deque>

namespace ptl {

namespace dims {

/// A multiplier for packing two small numbers into one word that is hashed: without it, pairs with
/// equal sums would collide.
inline constexpr uint64_t kHashStep = 0x632be59bd9b4e019ull;

inline uint64_t mix(uint64_t seed, uint64_t value) {
  uint64_t product = (seed ^ value) * 0x9e3779b97f4a7c15ull;
  return product ^ (product >> 32);
}

/// A hash table of interned objects. Addresses are stable, and ids count up.
template <typename T> class Interner {
public:
  /// The object with this hash for which `same` holds; otherwise a new one from `make`, with its id
  /// and hash set.
  template <typename Same, typename Make> const T *get(uint64_t wide, Same same, Make make) {
    if (count_ * 4 >= slots_.size() * 3)
      grow();
    uint32_t hash = static_cast<uint32_t>(wide >> 32);
    size_t at = hash & (slots_.size() - 1);
    for (; slots_[at]; at = (at + 1) & (slots_.size() - 1))
      if (slots_[at]->hash == hash && same(*slots_[at]))
        return slots_[at];
    T *object = make();
    object->id = count_++;
    object->hash = hash;
    slots_[at] = object;
    return object;
  }

private:
  void grow() {
    std::vector<const T *> old = std::move(slots_);
    slots_.assign(std::max<size_t>(32, old.size() * 2), nullptr);
    for (const T *object : old) {
      size_t at = object ? object->hash & (slots_.size() - 1) : 0;
      while (object && slots_[at])
        at = (at + 1) & (slots_.size() - 1);
      if (object)
        slots_[at] = object;
    }
  }

  std::vector<const T *> slots_; ///< as many as a power of 2
  uint32_t count_ = 0;
};

/// Scratch memory for a result that is being computed. It is not initialised, because that would
/// cost more than the computation.
template <typename T, size_t size> struct Buffer {
  Buffer() {}
  union {
    T items[size];
  };
};

/// A monomial order that is compatible with products: by degree, then by the power of the oldest
/// atom.
struct MonomialGreater {
  bool operator()(const DimMonomial *a, const DimMonomial *b) const;
};

/// `c += a * b`; false on overflow.
inline bool addProduct(int64_t &c, int64_t a, int64_t b) {
  int64_t product;
  return !__builtin_mul_overflow(a, b, &product) && !__builtin_add_overflow(c, product, &c);
}

/// Quotient toward minus infinity, for b > 0.
inline int64_t floorQuotient(int64_t a, int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

/// The constant term.
int64_t constantOf(Dim a);

} // namespace dims

/// The least value that every symbol of a kind can have; nothing if there is no lower bound.
inline std::optional<int64_t> leastOf(SymbolKind kind) {
  switch (kind) {
  case SymbolKind::Tunable:
    return 1;
  case SymbolKind::DimensionParam:
  case SymbolKind::RangeLen:
  case SymbolKind::RangeCount:
    return 0;
  case SymbolKind::RangeStart:
  case SymbolKind::LoopIndex:
  case SymbolKind::ScalarValue:
    return std::nullopt;
  }
  return std::nullopt;
}

struct DimContext::Impl {
  Arena arena;
  std::deque<Symbol> symbols; ///< a deque, so that addresses stay valid while others are added
  dims::Interner<DimAtom> atoms;
  dims::Interner<DimMonomial> monomials;
  dims::Interner<Dim::Node> nodes;
  const DimMonomial *one = nullptr;
  std::shared_ptr<void> proverMemory;
  std::vector<DimTerm> scratch; ///< used by one operation at a time, which calls no other

  const DimAtom *atom(DimAtomKind kind, SymbolId symbol, std::span<const Dim> operands);
  const DimMonomial *atomMonomial(const DimAtom &atom);
  /// The interned product of sorted, distinct factors; null if it exceeds the degree limit.
  const DimMonomial *monomial(std::span<const DimFactor> factors);
  const DimMonomial *product(const DimMonomial *a, const DimMonomial *b);
  /// a / b, null if b does not divide a.
  const DimMonomial *quotient(const DimMonomial *a, const DimMonomial *b);
  /// The node of a sum of terms in any order, with repetitions, which are sorted in place; null if
  /// it exceeds a limit.
  const Dim::Node *sum(std::span<DimTerm> terms);
  /// The same for terms that are sorted, distinct and not 0.
  const Dim::Node *sorted(std::span<const DimTerm> terms);
  /// a + sign*b
  const Dim::Node *combine(std::span<const DimTerm> a, std::span<const DimTerm> b, int64_t sign);
};

} // namespace ptl
