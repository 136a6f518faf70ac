// Unification: binds the open parts of a signature (dimensions, element types, `..`) by the types
// of arguments.
#pragma once

#include "frontend/sema/expressions/broadcast.h"

#include <map>

namespace ptl {

/// The origin of a binding, for messages: "`x` (argument)".
struct BindingSource {
  std::string text;
  Span span;
};

/// The open parts of one call and their bindings so far. Extents that are not a single open symbol
/// are deferred until everything is bound (`settle`).
class Unifier {
public:
  Unifier(Context &ctx, const std::vector<DimParam> &dims,
          const std::vector<TypeParam *> &typeParams);

  /// Unifies the type of a parameter with that of an argument; false after a report if that is
  /// impossible.
  bool unify(const Type *param, const Type *arg, const std::string &paramName, Span span);
  /// Unifies only the element types of a scalar or array parameter.
  bool unifyElem(Elem param, Elem arg, const std::string &paramName, Span span);
  /// Binds a dimension by name (`E: 64`); false if an argument has bound it to another value.
  bool bindDim(SymbolId symbol, const Extent &extent, const BindingSource &source);
  bool bindElem(const TypeParam *param, Elem elem, const BindingSource &source);
  /// Binds the symbol of a scalar `int` parameter to the argument's value.
  void bindScalar(SymbolId symbol, Dim value) { map_[symbol] = value; }

  /// Solves and compares the deferred extents; false after a report if some differ.
  bool settle();

  bool isOpen(SymbolId symbol) const;
  std::optional<Extent> extentOf(SymbolId symbol) const;
  std::optional<Elem> elemOf(const TypeParam *param) const;
  const Shape *prefix() const { return prefix_ ? &*prefix_ : nullptr; }
  const BindingSource *prefixSource() const { return prefix_ ? &prefixSource_ : nullptr; }
  /// A dimension of the signature, in the caller's symbols.
  Dim substitute(Dim dim) const;
  /// Whether a formula and what stands for its dimensions are known: then it can only become unknown
  /// because it is too large.
  bool hasKnownParts(Dim dim) const;
  /// A type of the signature, in the caller's symbols; `..` is replaced by the prefix.
  const Type *substitute(const Type *type) const;

private:
  struct Pending {
    Dim param;
    Extent arg;
    BindingSource source;
  };
  bool unifyShape(const Type *param, const Shape &arg, const Type *argType,
                  const BindingSource &source);
  /// Unifies the strides that the parameter names with those of the argument: from its type,
  /// otherwise dense.
  bool unifyStrides(const Type *param, const Shape &arg, const Type *argType,
                    const BindingSource &source);
  bool unifyPrefix(Shape leading, const BindingSource &source);
  bool unifyExtent(Dim param, const Extent &arg, const BindingSource &source);
  bool unifyStruct(const Type *param, const Type *arg, const BindingSource &source);
  bool solve(const Pending &pending);
  DiagnosticBuilder mismatch(const Type *param, const Type *arg, const BindingSource &source);
  void offerConversion(Elem param, Elem arg, Span span, DiagnosticBuilder report) const;

  Context &ctx_;
  std::vector<SymbolId> open_;
  std::vector<std::string> names_; ///< parallel to `open_`
  std::vector<const TypeParam *> typeParams_;
  std::map<SymbolId, Extent> extents_;
  std::map<SymbolId, BindingSource> sources_;
  std::map<const TypeParam *, std::pair<Elem, BindingSource>> elems_;
  DimSubstitution map_;
  std::optional<Shape> prefix_;
  BindingSource prefixSource_;
  std::vector<Pending> pending_;
};

} // namespace ptl
