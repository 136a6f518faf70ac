#pragma once

#include "runtime/abi/kernel_abi.h"

#include <string>
#include <string_view>

namespace ptl::rt {

/// A value as `print` and messages show it. Arrays print nested brackets; beyond a thousand
/// elements only the ends of each axis, as `...` says.
std::string formatValue(const PtlValue &value);
std::string formatArray(const PtlArray &array);

/// `text` with `{0}`, `{1}` … replaced; a number without a value stays as it is, and `{{` is a
/// brace.
std::string formatMessage(std::string_view text, const PtlValue *values, int32_t count);

/// "[3, 4]".
std::string formatShape(int64_t rank, const int64_t *extents);

} // namespace ptl::rt
