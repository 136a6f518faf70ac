// Axes of two to four elements that lie side by side in memory: pairs of pixels, channels of a colour; and such axes in front of rows
// that are folded, as windows of an image.
#pragma once

#include "passes/transform/expand/expand_tensors.h"

namespace ptl::ir {

/// Folds along such axes, repetitions along a last one and transpositions from or to one become one operation for each of its positions on
/// every second (third, fourth) element of longer rows, which chips load and store that way.
void splitShortAxes(mlir::func::FuncOp function);

} // namespace ptl::ir
