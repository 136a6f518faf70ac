#pragma once

#include "runtime/abi/kernel_abi.h"

#include <string>
#include <string_view>

namespace ptl::rt {

/// A value as `print` and messages show it. Arrays are nested brackets; of more than a thousand
/// elements only the ends of each axis are printed, with `...` in between.
std::string formatValue(const PtlValue &value);
std::string formatArray(const PtlArray &array);

/// `text` with `{0}`, `{1}` … replaced by the values; a number without a value is left unchanged,
/// and `{{` is a brace.
std::string formatMessage(std::string_view text, const PtlValue *values, int32_t count);

/// "[3, 4]".
std::string formatShape(int64_t rank, const int64_t *extents);

} // namespace ptl::rt
