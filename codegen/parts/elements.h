// The elements of values in the form that movements use: dense and in row-major order.
#pragma once

#include "codegen/reference/value.h"
#include "runtime/movement/step_list.h"

#include <vector>

namespace ptl::parts {

std::vector<int64_t> shapeOfBox(const movement::Box &box);

/// The elements of an array or a scalar.
std::vector<Scalar> elementsOf(const reference::Value &value);
reference::Value valueOfElements(ElemKind elem, std::vector<int64_t> shape,
                                 const std::vector<Scalar> &elements);

/// The elements in `box` of a value of which `value` holds the elements in `within`.
reference::Value sliceOf(const reference::Value &value, const movement::Box &within,
                         const movement::Box &box);

/// The elements in row-major order with another shape of as many elements.
reference::Value reshaped(const reference::Value &value, std::vector<int64_t> shape);

/// The elements in their storage format, as files and messages hold them.
std::vector<uint8_t> bytesOf(const reference::Value &value);
reference::Value valueOfBytes(ElemKind elem, std::vector<int64_t> shape, const uint8_t *bytes);

/// Writes a box of an array, which has `within`; nothing yet: an array of zeros is made first.
void putIn(reference::Value &array, const movement::Box &within, const movement::Box &box,
           const reference::Value &piece);

} // namespace ptl::parts
