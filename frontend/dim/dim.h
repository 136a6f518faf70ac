// The dimension algebra: integer polynomials over symbols and opaque terms `a/b`, `min`, `max`.
//
// Every polynomial is kept in one normal form and interned, so two dimensions are equal for all
// values of their symbols exactly if their normal forms are the same pointer (`a == b`). What holds
// only under facts (`where`, `assert`, ranges) is asked of a `FactSet`, see facts.h.
//
// Ceiling division and remainder are not terms of their own: `cdiv(a, b)` is `(a - 1)/b + 1` and
// `a % b` is `a - b*(a/b)`. So the emitter and the prover handle a single kind of division;
// `toString` recovers the spellings.
#pragma once

#include "frontend/base/span.h"

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ptl {

/// Index of a symbol in its `DimContext`.
struct SymbolId {
  uint32_t index = 0;
  auto operator<=>(const SymbolId &) const = default;
};

/// What a symbol stands for. All symbols are integers; the comments give the bounds that follow
/// from the kind alone.
enum class SymbolKind : uint8_t {
  DimensionParam, ///< `[M, N]`: >= 0
  Tunable,        ///< `tune BM = 128`: >= 1
  RangeStart,     ///< `r.start`
  RangeLen,       ///< `r.len`: >= 0
  RangeCount,     ///< `r.count`: >= 0
  LoopIndex,      ///< `i` of `for i in a..b`
  ScalarValue,    ///< a parameter or `let` of type `int`
};

struct Symbol {
  std::string name; ///< as written in PTL: `N`, `r.start`
  SymbolKind kind = SymbolKind::DimensionParam;
  Span span;
};

struct DimTerm;
struct DimMonomial;
class DimContext;

/// An integer polynomial in normal form, owned by a `DimContext` that outlives it. A default `Dim`
/// is *unknown*: the value of an expression that already has an error. Operations on it give
/// unknown again, and proofs about it succeed, so that one mistake is reported only once.
class Dim {
public:
  Dim() = default;
  bool isKnown() const { return node_ != nullptr; }
  explicit operator bool() const { return isKnown(); }
  /// Equality of normal forms. Unknown equals unknown.
  bool operator==(const Dim &) const = default;

  /// The polynomial as a sum; empty for 0 (and for unknown). The order is fixed but arbitrary.
  std::span<const DimTerm> terms() const;
  bool isConstant() const { return constant().has_value(); }
  bool isConstant(int64_t value) const { return constant() == value; }
  std::optional<int64_t> constant() const;
  /// The symbol if this is exactly one symbol.
  std::optional<SymbolId> symbol() const;
  /// Whether the symbol occurs, also within opaque terms.
  bool mentions(SymbolId symbol) const;
  /// The number of this normal form in the order of creation: a key for maps that must be
  /// deterministic.
  uint32_t id() const;
  /// A Bloom filter of symbols: one bit for each symbol that occurs, at its index modulo 64. If the
  /// bit is not set, the symbol does not occur.
  uint64_t symbolBits() const;

  struct Node;

private:
  friend class DimContext;
  explicit Dim(const Node *node) : node_(node) {}
  const Node *node_ = nullptr;
};

enum class DimAtomKind : uint8_t {
  Symbol,
  FloorDiv, ///< two operands; rounds toward minus infinity; the divisor is >= 1
  Min,      ///< two or more operands
  Max,      ///< two or more operands
};

/// An indivisible factor. Interned: one address per atom.
struct DimAtom {
  DimAtomKind kind = DimAtomKind::Symbol;
  uint32_t id = 0; ///< order of creation, operands before users
  uint32_t hash = 0;
  SymbolId symbol;               ///< for `Symbol`
  uint64_t symbolBits = 0;       ///< as of `Dim`
  std::span<const Dim> operands; ///< for the others
  /// the product of this atom alone, if it has been created
  mutable const DimMonomial *monomial = nullptr;
};

struct DimFactor {
  const DimAtom *atom = nullptr;
  uint32_t power = 1;
  bool operator==(const DimFactor &) const = default;
};

/// A product of powers of atoms, sorted by atom id; no factors is the monomial 1. Interned.
struct DimMonomial {
  uint32_t id = 0; ///< order of creation; 0 is the monomial 1
  uint32_t hash = 0;
  uint32_t degree = 0;
  uint64_t symbolBits = 0; ///< as of `Dim`
  std::span<const DimFactor> factors;
  /// the sum of this product alone, if it has been created
  mutable const Dim::Node *alone = nullptr;
  mutable bool isBounded = false; ///< whether `lowerBound` is known
  /// follows from the kinds of its symbols
  mutable std::optional<int64_t> lowerBound = std::nullopt;
  bool isOne() const { return id == 0; }
};

/// `coefficient * monomial`; the coefficient is never 0.
struct DimTerm {
  int64_t coefficient = 0;
  const DimMonomial *monomial = nullptr;
  bool operator==(const DimTerm &) const = default;
};

/// A polynomial, interned.
struct Dim::Node {
  uint32_t id = 0;
  uint32_t hash = 0;
  uint64_t symbolBits = 0;
  std::span<const DimTerm> terms;            ///< sorted by monomial id
  mutable bool isBounded = false;            ///< whether `lowerBound` is known
  mutable std::optional<int64_t> lowerBound; ///< `DimContext::plainLowerBound`
};

inline std::span<const DimTerm> Dim::terms() const {
  return node_ ? node_->terms : std::span<const DimTerm>();
}

inline std::optional<int64_t> Dim::constant() const {
  if (!node_ || node_->terms.size() > 1)
    return std::nullopt;
  if (node_->terms.empty())
    return 0;
  return node_->terms[0].monomial->isOne() ? std::optional(node_->terms[0].coefficient)
                                           : std::nullopt;
}

inline uint32_t Dim::id() const { return node_ ? node_->id : UINT32_MAX; }
inline uint64_t Dim::symbolBits() const { return node_ ? node_->symbolBits : 0; }

using DimSubstitution = std::map<SymbolId, Dim>;
using DimReplacement = std::pair<SymbolId, Dim>;
using DimLookup = std::function<std::optional<int64_t>(SymbolId)>;

/// Owns symbols, atoms and polynomials. Every operation returns unknown if an operand is unknown,
/// if a coefficient overflows int64, or if the result has more than `maxTerms` terms or a degree
/// above `maxDegree`.
class DimContext {
public:
  static constexpr size_t maxTerms = 64;
  static constexpr uint32_t maxDegree = 12;

  DimContext();
  ~DimContext();
  DimContext(const DimContext &) = delete;
  DimContext &operator=(const DimContext &) = delete;

  SymbolId addSymbol(std::string name, SymbolKind kind, Span span = {});
  const Symbol &symbol(SymbolId id) const;

  Dim constant(int64_t value);
  Dim symbolDim(SymbolId id);
  Dim add(Dim a, Dim b);
  Dim sub(Dim a, Dim b);
  Dim mul(Dim a, Dim b);
  Dim scale(Dim a, int64_t factor);
  Dim negate(Dim a) { return scale(a, -1); }
  /// Rounds toward minus infinity; unknown if the divisor is a constant <= 0. A symbolic divisor is
  /// assumed to be >= 1.
  Dim floorDiv(Dim a, Dim b);
  Dim ceilDiv(Dim a, Dim b);
  /// `a - b*(a/b)`, which lies within `0..b`.
  Dim mod(Dim a, Dim b);
  /// A constant of 0 to `maxDegree`: any other power is no polynomial that is small.
  static bool isExponent(Dim a) {
    return a && a.constant().value_or(-1) >= 0 && *a.constant() <= maxDegree;
  }
  /// Unknown unless `isExponent(exponent)`.
  Dim power(Dim base, Dim exponent);
  Dim min(Dim a, Dim b) { return minMax(DimAtomKind::Min, {a, b}); }
  Dim max(Dim a, Dim b) { return minMax(DimAtomKind::Max, {a, b}); }
  Dim min(std::vector<Dim> operands) { return minMax(DimAtomKind::Min, std::move(operands)); }
  Dim max(std::vector<Dim> operands) { return minMax(DimAtomKind::Max, std::move(operands)); }
  /// The atom, the product or the sum as a dimension.
  Dim atomDim(const DimAtom &atom);
  Dim monomialDim(const DimMonomial &monomial);
  Dim termsDim(std::vector<DimTerm> terms);
  /// Replaces symbols simultaneously, also in operands of opaque terms, and normalises the result.
  Dim substitute(Dim a, const DimSubstitution &map);
  /// The same, with the replacements sorted by symbol.
  Dim substitute(Dim a, std::span<const DimReplacement> replacements);

  /// A constant lower bound of `a` that follows from the kinds of its symbols alone, without any
  /// facts.
  std::optional<int64_t> plainLowerBound(Dim a) const;
  bool isPlainlyNonNegative(Dim a) const { return a && plainLowerBound(a).value_or(-1) >= 0; }
  /// Whether `plainLowerBound` shows that `a - b` is not negative; both must be known.
  bool isPlainlyAtLeast(Dim a, Dim b) const;

  /// PTL spelling: `2*N + 1`, `cdiv(N, 128)`, `K % 16`; `?` for unknown.
  std::string toString(Dim a) const;

  /// The cache that the prover keeps for these dimensions; only facts_prover.cpp knows its type.
  std::shared_ptr<void> &proverMemory();

  struct Impl;

private:
  Dim minMax(DimAtomKind kind, std::vector<Dim> operands);
  Dim substituteAtom(const DimAtom &atom, std::span<const DimReplacement> map, uint64_t bits);
  Dim substitute(Dim a, std::span<const DimReplacement> map, uint64_t bits);
  std::unique_ptr<Impl> impl_;
};

/// The value under an assignment; nothing if unknown, a symbol has no value, a divisor is not
/// positive, or a step overflows.
std::optional<int64_t> evaluate(Dim a, const DimLookup &lookup);

/// Calls `visit` once for each symbol in `a`, also within opaque terms, in order of their ids.
void forEachSymbol(Dim a, const std::function<void(SymbolId)> &visit);

} // namespace ptl
