#include "runtime/format_value.h"

#include "common/array_text.h"
#include "runtime/elem.h"

#include <algorithm>
#include <span>

namespace ptl::rt {

std::string formatArray(const PtlArray &array) {
  const ElemInfo *info = elemInfo(array.elem);
  if (!info || info->size() == 0)
    return "(unknown element type)";
  std::span extents(array.extents, static_cast<size_t>(array.rank));
  if (std::ranges::count(extents, 0) > 0)
    return info->name + formatShape(array.rank, array.extents);
  const auto *data = static_cast<const char *>(array.data);
  return ArrayText(extents, std::span(array.strides, extents.size()),
                   [&](int64_t at) { return formatElem(array.elem, data + at * info->size()); })
      .text();
}

std::string formatValue(const PtlValue &value) {
  switch (value.kind) {
  case PTL_VALUE_TEXT:
    return value.as.text ? value.as.text : "";
  case PTL_VALUE_ARRAY:
    return value.as.array ? formatArray(*value.as.array) : "";
  default:
    return formatElem(value.elem, &value.as.scalar);
  }
}

std::string formatMessage(std::string_view text, const PtlValue *values, int32_t count) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    size_t close = text[i] == '{' ? text.find('}', i) : std::string_view::npos;
    int index = 0;
    // Places have one or two digits; whatever else stands in braces is text of the author.
    bool number = close != std::string_view::npos && close > i + 1 && close < i + 4;
    for (size_t d = i + 1; number && d < close; ++d) {
      number = text[d] >= '0' && text[d] <= '9';
      index = index * 10 + (text[d] - '0');
    }
    if (text.substr(i, 2) == "{{") {
      out += text[i++];
    } else if (number && index < count) {
      out += formatValue(values[index]);
      i = close;
    } else {
      out += text[i];
    }
  }
  return out;
}

std::string formatShape(int64_t rank, const int64_t *extents) {
  std::string out = "[";
  for (int64_t axis = 0; axis < rank; ++axis)
    out += (axis ? ", " : "") + std::to_string(extents[axis]);
  return out + "]";
}

} // namespace ptl::rt
