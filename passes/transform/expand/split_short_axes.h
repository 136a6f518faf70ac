// Axes of two to four elements that lie side by side in memory: pairs of pixels, channels of a colour.
#pragma once

#include "passes/transform/expand/expand_tensors.h"

namespace ptl::ir {

/// Folds along such a last axis, and transpositions from or to one, become one operation for each of its positions on
/// every second (third, fourth) element of longer rows, which chips load and store that way.
void splitShortAxes(mlir::func::FuncOp function);

} // namespace ptl::ir
