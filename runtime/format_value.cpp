#include "runtime/format_value.h"

#include "runtime/elem.h"

namespace ptl::rt {
namespace {

constexpr int64_t kElementsShownInFull = 1000;
constexpr int64_t kShownAtEachEnd = 3;

void appendAxis(std::string &out, const PtlArray &array, int64_t axis, const char *at, int64_t size,
                bool shorten) {
  if (axis == array.rank) {
    out += formatElem(array.elem, at);
    return;
  }
  int64_t extent = array.extents[axis];
  bool inner = axis + 1 == array.rank;
  out += '[';
  for (int64_t i = 0; i < extent; ++i) {
    if (i > 0)
      out += inner ? ", " : ",\n" + std::string(axis + 1, ' ');
    // Of a long axis both ends are shown.
    if (shorten && extent > 2 * kShownAtEachEnd && i == kShownAtEachEnd) {
      out += "...";
      i = extent - kShownAtEachEnd - 1;
      continue;
    }
    appendAxis(out, array, axis + 1, at + i * array.strides[axis] * size, size, shorten);
  }
  out += ']';
}

} // namespace

std::string formatArray(const PtlArray &array) {
  const ElemInfo *info = elemInfo(array.elem);
  if (!info || info->size() == 0)
    return "(unknown element type)";
  double total = 1;
  for (int64_t axis = 0; axis < array.rank; ++axis)
    total *= static_cast<double>(array.extents[axis]);
  std::string out;
  // An axis of extent 0 below long ones would still print every bracket of those.
  if (total == 0)
    return info->name + formatShape(array.rank, array.extents);
  appendAxis(out, array, 0, static_cast<const char *>(array.data), info->size(),
             total > kElementsShownInFull);
  return out;
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
