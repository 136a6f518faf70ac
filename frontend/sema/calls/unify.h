// Binding what a signature leaves open (dimensions, element types, `..`) by the types of arguments.
#pragma once

#include "frontend/sema/expressions/broadcast.h"

#include <map>

namespace ptl {

/// Where a binding came from, for messages: "`x` (argument)".
struct BindingSource {
  std::string text;
  Span span;
};

/// The open parts of one call and what the arguments said of them so far. Extents that are no
/// single open symbol wait until everything is bound (`settle`).
class Unifier {
public:
  Unifier(Context &ctx, const std::vector<DimParam> &dims,
          const std::vector<TypeParam *> &typeParams);

  /// Binds by a parameter's type and an argument's; false and a report when they cannot agree.
  bool unify(const Type *param, const Type *arg, const std::string &paramName, Span span);
  /// Binds the element type of a scalar or array parameter only.
  bool unifyElem(Elem param, Elem arg, const std::string &paramName, Span span);
  /// Binds a dimension by name (`E: 64`); false when an argument has said otherwise.
  bool bindDim(SymbolId symbol, const Extent &extent, const BindingSource &source);
  bool bindElem(const TypeParam *param, Elem elem, const BindingSource &source);
  /// Binds the symbol of a scalar `int` parameter to the value it gets.
  void bindScalar(SymbolId symbol, Dim value) { map_[symbol] = value; }

  /// Solves and compares the extents that waited; false when some differ (reported).
  bool settle();

  bool isOpen(SymbolId symbol) const;
  std::optional<Extent> extentOf(SymbolId symbol) const;
  std::optional<Elem> elemOf(const TypeParam *param) const;
  const Shape *prefix() const { return prefix_ ? &*prefix_ : nullptr; }
  const BindingSource *prefixSource() const { return prefix_ ? &prefixSource_ : nullptr; }
  /// A dimension of the signature in the caller's terms.
  Dim substitute(Dim dim) const;
  /// A type of the signature in the caller's terms; `..` by the prefix.
  const Type *substitute(const Type *type) const;

private:
  struct Pending {
    Dim param;
    Extent arg;
    BindingSource source;
  };
  bool unifyShape(const Type *param, const Shape &arg, const Type *argType,
                  const BindingSource &source);
  /// Strides that the parameter names are those of the argument: said by its type, else dense.
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
