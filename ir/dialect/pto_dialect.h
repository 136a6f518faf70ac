// The `pto` dialect: the block level. Types and structural operations are generated; instructions
// come from the table (`instruction_op.h`). See README.md in this folder.
#pragma once

#include "ir/dialect/ptl_dialect.h"
#include "ir/ops/instruction_table.h"
#include "mlir/IR/ExtensibleDialect.h"

namespace ptl::pto {

/// The order of a tile's elements: `box` orders the boxes (fractals), `inner` the elements inside a
/// box.
struct Layout {
  enum Order : uint8_t { None, RowMajor, ColMajor };
  Order box = RowMajor;
  Order inner = None;    ///< `None`: no boxes, `box` orders the elements
  int32_t fractal = 512; ///< bytes of a box
  int32_t pad = 0;       ///< 0 nothing, 1 zero, 2 largest, 3 smallest value beyond the valid part

  bool operator==(const Layout &) const = default;
};
inline llvm::hash_code hash_value(const Layout &layout) {
  return llvm::hash_combine(layout.box, layout.inner, layout.fractal, layout.pad);
}

/// The layouts by their names in the language: `nd`, `dn` without boxes; `nz`, `zn`, `zz`, `nn` in
/// boxes; `acc`: nz in boxes of 1024 bytes. Nothing for other names.
std::optional<Layout> layoutByName(llvm::StringRef name);
/// The inverse; empty if the layout has no name.
llvm::StringRef layoutName(const Layout &layout);

/// An extent that is not constant; printed as `?` in types.
inline constexpr int64_t kDynamic = mlir::ShapedType::kDynamic;

} // namespace ptl::pto

#include "ir/dialect/pto_dialect.h.inc"

#include "ir/dialect/pto_enums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "ir/dialect/pto_attrs.h.inc"

#define GET_TYPEDEF_CLASSES
#include "ir/dialect/pto_types.h.inc"

#define GET_OP_CLASSES
#include "ir/dialect/block.h.inc"

namespace ptl::pto {

/// The kind of core that a kernel's function is for; nothing for functions of no kernel.
inline std::optional<KernelKind> kernelKindOf(mlir::Operation *function) {
  auto kind = function->getAttrOfType<KernelKindAttr>("pto.kernel_kind");
  return kind ? std::optional(kind.getValue()) : std::nullopt;
}
inline bool isCube(mlir::Operation *function) { return kernelKindOf(function) == KernelKind::cube; }

/// The bits of an element: 1 for `i1`, otherwise the width of the type.
int64_t elementBits(mlir::Type type);
inline int64_t elementBytes(mlir::Type type) { return (elementBits(type) + 7) / 8; }

/// The bytes of one slot of a queue, for tiles of that many rows and columns: whole fractals, at
/// least one.
inline int64_t slotBytes(int64_t rows, int64_t cols, mlir::Type element) {
  auto whole = [](int64_t extent) { return ((extent < 1 ? 1 : extent) + 15) / 16 * 16; };
  return whole(rows) * whole(cols) * elementBytes(element);
}

/// The byte offset of element (row, col) from the start of a tile, in the layout of the hardware.
int64_t elementOffset(TileBufType type, int64_t row, int64_t col);

PipeKind pipeKind(Pipe pipe);
Pipe pipeOf(PipeKind kind);

} // namespace ptl::pto
