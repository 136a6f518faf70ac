// Arrays that the tests of this folder compute with.
#pragma once

#include "codegen/reference/array_ops.h"

namespace ptl::reference {

inline Value floats(std::vector<int64_t> shape, std::vector<double> values,
                    ElemKind elem = ElemKind::F32) {
  RefArray array = zeroArray(elem, std::move(shape));
  array.floats = std::move(values);
  return Value::array(std::move(array));
}

inline Value integers(std::vector<int64_t> shape, std::vector<int64_t> values,
                      ElemKind elem = ElemKind::I32) {
  RefArray array = zeroArray(elem, std::move(shape));
  array.ints = std::move(values);
  return Value::array(std::move(array));
}

} // namespace ptl::reference
