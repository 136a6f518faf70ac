// Text that editors show about a placed value besides its type: its placement, the share of one
// part, and why it is partial.
#pragma once

#include "frontend/sema/placement/placement.h"

#include <span>
#include <string>

namespace ptl {

/// The parts of a level in a sentence: "chips", or "parts of `columns`" of an axis of a mesh. One of them, and their number in a formula.
std::string partsText(const PlacedLevel &level);
std::string partText(const PlacedLevel &level);
std::string countText(const PlacedLevel &level);

/// An axis as `by` names it: by its length if no other axis has the same one, and that is a name, else by its number.
std::string axisName(const DimContext &dims, std::span<const Dim> shape, int64_t axis);
/// The same in a sentence: "`B`", or "axis 1 of length `N`". Axes are counted from the end.
std::string axisText(const DimContext &dims, std::span<const Dim> shape, int64_t axis);

/// ` over host by B, chip by F`, as after a type; empty if the value is the same everywhere.
std::string placementText(const DimContext &dims, const PlacedProgram &placed, ValueId value);

/// The type of a part's share: `f32[B, cdiv(F, chips)]`; that of the whole value if nothing cuts
/// it.
std::string partTypeText(const DimContext &dims, const PlacedProgram &placed, ValueId value);

/// The bytes of a part's share: a number as text if it is known, else `4*B*cdiv(F, chips)`.
struct PartBytes {
  std::optional<int64_t> number;
  std::string text;
};
PartBytes partBytes(const DimContext &dims, const PlacedProgram &placed, ValueId value);

/// Why a value is partial, and since which expression: "`x @ w` adds along `F`, which is cut over the chips:
/// every chip has a summand". Empty if it is not. `tree`: of the program.
std::string partialText(const DimContext &dims, const PlacedProgram &placed, const Tree &tree,
                        ValueId value);

/// What a movement of the program sends: "each of n chips sends (n - 1) / n of 4 * B * F bytes".
/// `source` is the value that it moves.
std::string sentText(const DimContext &dims, const std::vector<PlacedLevel> &levels, size_t level,
                     const PlacedValue &source, const MovementRecord &movement);

} // namespace ptl
