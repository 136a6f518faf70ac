// Casts between the node classes of a tree by their kind: `isa`, `cast` and `dyn_cast`, spelled as
// in LLVM. The front end does not depend on LLVM, so these are its own. In files that include LLVM
// too, argument-dependent look-up keeps the two apart: only nodes of trees (`Castable`) lead into
// this namespace.
#pragma once

#include <cassert>
#include <concepts>
#include <type_traits>

namespace ptl::casting {

/// The root type of a tree derives from it, so that argument-dependent look-up finds the casts.
struct Castable {};

/// `To` is a kind of `From`: it is derived from it, and has a `classof` that tells whether a node
/// is one.
template <typename To, typename From>
concept KindOf = std::derived_from<To, std::remove_const_t<From>> && requires(const From *node) {
  { To::classof(node) } -> std::same_as<bool>;
};

/// `To`, with the constness of `From`.
template <typename To, typename From>
using ConstAs = std::conditional_t<std::is_const_v<From>, const To, To>;

/// Whether the node, which is not null, is a `To`.
template <typename To, typename From>
  requires KindOf<To, From>
bool isa(From *node) {
  assert(node);
  return To::classof(node);
}
template <typename To, typename From>
  requires KindOf<To, From>
bool isa(From &node) {
  return To::classof(&node);
}

/// The node, which is not null and is a `To`.
template <typename To, typename From>
  requires KindOf<To, From>
ConstAs<To, From> *cast(From *node) {
  assert(isa<To>(node));
  return static_cast<ConstAs<To, From> *>(node);
}
template <typename To, typename From>
  requires KindOf<To, From>
ConstAs<To, From> &cast(From &node) {
  assert(isa<To>(node));
  return static_cast<ConstAs<To, From> &>(node);
}

/// The node, which is not null, if it is a `To`, else null.
template <typename To, typename From>
  requires KindOf<To, From>
ConstAs<To, From> *dyn_cast(From *node) {
  return isa<To>(node) ? static_cast<ConstAs<To, From> *>(node) : nullptr;
}
/// The same for a node that may be null.
template <typename To, typename From>
  requires KindOf<To, From>
ConstAs<To, From> *dyn_cast_if_present(From *node) {
  return node ? dyn_cast<To>(node) : nullptr;
}

} // namespace ptl::casting
