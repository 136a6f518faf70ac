// Inside of `DimContext`: interning, and the arithmetic of terms that division and printing share.
#pragma once

#include "frontend/sema/dim.h"

#include <deque>
#include <unordered_set>

namespace ptl {

struct Dim::Node {
  uint32_t id = 0;
  std::vector<DimTerm> terms; ///< sorted by monomial id
};

namespace dims {

inline size_t mix(size_t seed, size_t value) {
  return (seed ^ value) * 0x9e3779b97f4a7c15ull + (seed >> 29);
}

size_t hashOf(const std::vector<DimTerm> &terms);
size_t hashOf(const std::vector<DimFactor> &factors);
size_t hashOf(const DimAtom &atom);

inline const std::vector<DimTerm> &keyOf(const Dim::Node &node) { return node.terms; }
inline const std::vector<DimFactor> &keyOf(const DimMonomial &monomial) { return monomial.factors; }
inline const DimAtom &keyOf(const DimAtom &atom) { return atom; }
inline bool sameKey(const std::vector<DimTerm> &a, const std::vector<DimTerm> &b) { return a == b; }
inline bool sameKey(const std::vector<DimFactor> &a, const std::vector<DimFactor> &b) {
  return a == b;
}
inline bool sameKey(const DimAtom &a, const DimAtom &b) {
  return a.kind == b.kind && a.symbol == b.symbol && a.operands == b.operands;
}

/// One object per key, at a fixed address, found by the key alone.
template <typename T> class Interner {
  struct Hash {
    using is_transparent = void;
    size_t operator()(const T *object) const { return hashOf(keyOf(*object)); }
    template <typename Key> size_t operator()(const Key &key) const { return hashOf(key); }
  };
  struct Same {
    using is_transparent = void;
    bool operator()(const T *a, const T *b) const { return a == b; }
    template <typename Key> bool operator()(const T *a, const Key &b) const {
      return sameKey(keyOf(*a), b);
    }
    template <typename Key> bool operator()(const Key &a, const T *b) const {
      return sameKey(a, keyOf(*b));
    }
  };

public:
  Interner() { index_.reserve(1024); }
  /// The object with this key, made by `make` (which sets all but the id) if there is none.
  template <typename Key, typename Make> const T *get(const Key &key, Make make) {
    if (auto found = index_.find(key); found != index_.end())
      return *found;
    T &object = objects_.emplace_back(make());
    object.id = static_cast<uint32_t>(objects_.size() - 1);
    index_.insert(&object);
    return &object;
  }

private:
  std::deque<T> objects_;
  std::unordered_set<const T *, Hash, Same> index_;
};

/// A monomial order that products respect: by degree, then by the power of the oldest atom.
struct MonomialGreater {
  bool operator()(const DimMonomial *a, const DimMonomial *b) const;
};

/// A polynomial while it is taken apart, leading term first.
using TermMap = std::map<const DimMonomial *, int64_t, MonomialGreater>;

/// `c += a * b`; false on overflow.
inline bool addProduct(int64_t &c, int64_t a, int64_t b) {
  int64_t product;
  return !__builtin_mul_overflow(a, b, &product) && !__builtin_add_overflow(c, product, &c);
}

/// Quotient toward minus infinity, for b > 0.
inline int64_t floorQuotient(int64_t a, int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

/// The terms but the constant one, and the constant.
struct Split {
  std::vector<DimTerm> rest;
  int64_t constant = 0;
};
Split splitConstant(Dim a);

TermMap toMap(Dim a);

} // namespace dims

struct DimContext::Impl {
  std::vector<Symbol> symbols;
  dims::Interner<DimAtom> atoms;
  dims::Interner<DimMonomial> monomials;
  dims::Interner<Dim::Node> nodes;
  const DimMonomial *one = nullptr;
  std::shared_ptr<void> proverMemory;

  const DimAtom *atom(DimAtomKind kind, SymbolId symbol, std::vector<Dim> operands);
  /// Factors may come unsorted and repeated; null if the degree limit is passed.
  const DimMonomial *monomial(std::vector<DimFactor> factors);
  const DimMonomial *product(const DimMonomial *a, const DimMonomial *b);
  /// a / b, null if b does not divide a.
  const DimMonomial *quotient(const DimMonomial *a, const DimMonomial *b);
  /// The node of a sum of unsorted, repeatable terms; null past a limit.
  const Dim::Node *sum(std::vector<DimTerm> terms);
  /// Subtracts `factor * monomial * b` from `work`; false past a limit.
  bool subtract(dims::TermMap &work, int64_t factor, const DimMonomial *monomial, Dim b);
};

} // namespace ptl
