// Types of the checked tree. Types are immutable and owned by the `CheckedProgram`; compare shapes
// with the prover (`facts.h`), never by pointer.
#pragma once

#include "frontend/base/elem_type.h"
#include "frontend/base/span.h"
#include "frontend/dim/dim.h"

#include <optional>
#include <string>
#include <vector>

namespace ptl {

struct StructDecl;

/// A type parameter of a declaration.
struct TypeParam {
  std::string name;
  ElemConstraint constraint = ElemConstraint::Any;
  Span span;
};

/// An element type: concrete, or a type parameter `T`, or `acc(T)`.
struct Elem {
  ElemKind kind = ElemKind::F32;    ///< meaningful when `param` is null
  const TypeParam *param = nullptr; ///< set for `T` and `acc(T)`
  bool acc = false;                 ///< `acc(T)`; only with `param`

  bool operator==(const Elem &) const = default;
};

/// The memory in which an array lives. `Inferred` means that the checker leaves the choice open
/// inside kernels.
enum class Place : uint8_t { Inferred, Gm, Vec, Mat, Left, Right, Acc, Bias, Scale };
/// The order of the elements; `Inferred` follows from the place and the target.
enum class Layout : uint8_t {
  Inferred,
#define LAYOUT(NAME, SPELLING) NAME,
#include "frontend/base/layouts.def"
};

/// A range: bounds, length and (for `tiles`) tile size and tile number, all in the symbols of the
/// scope that made it.
struct RangeInfo {
  std::string name; ///< of the loop variable, for messages; may be empty
  Dim start;        ///< first position
  Dim length;       ///< number of positions (a symbol for tiles, the last of which may be shorter)
  Dim step;         ///< distance of neighbouring positions, 1 by default
  Dim size;         ///< tile size `T`; unknown for plain ranges
  Dim count;        ///< number of the tile; unknown for plain ranges
  Dim capacity; ///< static bound of the length (constants, tunables, `static` dimensions); unknown
                ///< if none
  const RangeInfo *parent = nullptr; ///< the range of which this one is a shift or a multiple
  Span span;
};

/// One axis of an array.
struct Extent {
  Dim length;
  Dim capacity; ///< static bound; unknown if none. Equals `length` when that is static
  const RangeInfo *range = nullptr; ///< the range that selected it, for display
};

enum class TypeKind : uint8_t {
  Error, ///< suppresses further errors
  Void,
  Scalar, ///< `elem`; `ElemKind::Int` for positions and sizes
  Array,  ///< `elem`, `prefix`, `extents`, `place`, `layout`, `strides`
  Range,  ///< `range`
  Tuple,  ///< `elements`
  List,   ///< fixed array of scalars: `elements[0]`, `extents[0]`
  Struct, ///< `structDecl`, `dimArgs`, `elemArgs`
  String,
  Buffer,
  Event,
  Pipe, ///< block level
};

struct Type {
  TypeKind kind = TypeKind::Error;
  Elem elem;
  bool prefix = false;         ///< the shape begins with the declaration's `..`
  std::vector<Extent> extents; ///< after the prefix
  Place place = Place::Inferred;
  Layout layout = Layout::Inferred;
  std::vector<Dim> strides; ///< empty: dense row-major
  const RangeInfo *range = nullptr;
  std::vector<const Type *> elements;
  const StructDecl *structDecl = nullptr;
  std::vector<Dim> dimArgs;
  std::vector<Elem> elemArgs;

  bool isError() const { return kind == TypeKind::Error; }
  bool isArray() const { return kind == TypeKind::Array; }
  bool isScalar() const { return kind == TypeKind::Scalar; }
  bool isInt() const { return isScalar() && !elem.param && elem.kind == ElemKind::Int; }
};

} // namespace ptl
