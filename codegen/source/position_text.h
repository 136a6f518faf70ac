// Positions and lengths as text that depends on their value alone, however they are computed.
#pragma once

#include "codegen/source/expression.h"
#include "frontend/dim/dim.h"

#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"

#include <functional>
#include <map>
#include <vector>

namespace ptl::source {

/// Polynomials over values. Equal polynomials are one `Dim`, and are written alike: sums and
/// products in one order, remainders and ceilings by their names.
class Positions {
public:
  /// How a value is written that no arithmetic on positions makes.
  using Leaf = std::function<Expression(mlir::Value)>;

  /// Of a value of type `index`.
  Dim of(mlir::Value value);
  /// Whether the value is no arithmetic, so that `dim` is the value itself.
  bool isLeaf(Dim dim, mlir::Value value) const;
  Dim constant(int64_t value) { return dims_.constant(value); }
  Dim add(Dim a, Dim b) { return dims_.add(a, b); }
  /// A length as types name it (`N`, `D/2`); what it names may be arguments that `knowLength` was
  /// told of. Unknown if it cannot be read.
  Dim named(std::string_view text);
  void knowLength(const std::string &name, mlir::Value value);
  /// A length that has a name, whatever it is computed from.
  void knowComputedLength(const std::string &name, mlir::Value value);
  /// The value is what a text of names says.
  void knowMeaning(mlir::Value value, std::string_view text);
  /// The text of a value that is computed from names alone.
  std::optional<std::string> inNames(mlir::Value value);
  DimContext &dims() { return dims_; }

  Expression text(Dim dim, const Leaf &leaf);
  /// The values that a position is computed from.
  std::vector<mlir::Value> leavesOf(Dim dim) const;
  /// From here on `dim`, and sums and products that have it as a part, are written with the name,
  /// until the block is forgotten.
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
  std::map<std::string, Dim> free_;                    ///< names that no argument has
  std::map<SymbolId, std::pair<Dim, Dim>> remainders_; ///< `a % b`, for each symbol that is one
  std::vector<Abbreviation> abbreviations_;
  std::map<SymbolId, std::string> spellings_; ///< while a text is made
  /// Texts of parts with these spellings, which are asked for again at each level around them.
  std::map<uint32_t, std::string> spelledSums_;
  std::map<const DimAtom *, std::string> spelledAtoms_;
};

} // namespace ptl::source
