// Positions and lengths as text that depends only on their value, however they are computed.
#pragma once

#include "codegen/source/expression.h"
#include "frontend/dim/dim.h"

#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"

#include <functional>
#include <map>
#include <vector>

namespace ptl::source {

/// Polynomials over values. Equal polynomials are one `Dim`, and are printed alike: sums and
/// products in a canonical order, remainders and rounded quotients by their functions.
class Positions {
public:
  /// Prints a value that is not the result of arithmetic on positions.
  using Leaf = std::function<Expression(mlir::Value)>;

  /// The polynomial of a value of type `index`.
  Dim of(mlir::Value value);
  /// Whether the value is not arithmetic, so that `dim` is a single symbol.
  bool isLeaf(Dim dim, mlir::Value value) const;
  /// Whether it is an element of a tile or tensor, whose arithmetic is not that of positions.
  bool isElement(Dim dim) const;
  Dim constant(int64_t value) { return dims_.constant(value); }
  Dim add(Dim a, Dim b) { return dims_.add(a, b); }
  /// A length as types write it (`N`, `D/2`); the names may be those of arguments that `knowLength`
  /// has received. Unknown if the text cannot be parsed.
  Dim named(std::string_view text);
  void knowLength(const std::string &name, mlir::Value value);
  /// Declares a named length that is computed by operations.
  void knowComputedLength(const std::string &name, mlir::Value value);
  /// Declares that the value equals an expression of names.
  void knowMeaning(mlir::Value value, std::string_view text);
  /// The text of a value that is computed only from names.
  std::optional<std::string> inNames(mlir::Value value);
  DimContext &dims() { return dims_; }

  Expression text(Dim dim, const Leaf &leaf);
  /// The values that a position is computed from.
  std::vector<mlir::Value> leavesOf(Dim dim) const;
  /// From now on `dim`, and sums and products that contain it, are printed with the name, until the
  /// scope's block ends.
  void abbreviate(Dim dim, const std::string &name, mlir::Block *scope);
  void forget(mlir::Block *scope) {
    std::erase_if(abbreviations_, [&](const Abbreviation &each) { return each.scope == scope; });
  }
  void forgetAbbreviations() { abbreviations_.clear(); }

private:
  struct Abbreviation {
    Dim meaning, symbol;
    mlir::Block *scope;
  };
  Dim symbolOf(mlir::Value value);
  Dim compute(mlir::Value value);
  Dim shortened(Dim dim);
  Dim shortenedAtoms(Dim dim);
  Dim without(Dim dim, const Abbreviation &part);
  Dim withRemainders(Dim dim);
  struct Copy;
  std::string spelled(Dim dim);
  std::string spelled(const DimAtom &atom);
  Dim copied(Dim dim, Copy &copy);
  Dim copied(const DimAtom &atom, Copy &copy);

  DimContext dims_;
  llvm::DenseMap<mlir::Value, Dim> known_;
  std::map<SymbolId, mlir::Value> leaves_;
  std::map<std::string, mlir::Value, std::less<>> names_;
  std::map<std::string, Dim> free_;                    ///< names that belong to no argument
  std::map<SymbolId, std::pair<Dim, Dim>> remainders_; ///< `a % b`, for each symbol that is one
  std::vector<Abbreviation> abbreviations_;
  std::map<SymbolId, std::string> spellings_; ///< only valid while a text is made
  /// A cache of the texts of subexpressions, valid with these spellings.
  std::map<uint32_t, std::string> spelledSums_;
  std::map<const DimAtom *, std::string> spelledAtoms_;
};

/// Whether an element of memory is used as a position alone: its name is that of an `int`, whose sums
/// and differences are those of positions.
bool isReadAsPosition(mlir::Value value);

} // namespace ptl::source
