#include "frontend/base/given_value.h"

#include "common/read_number.h"
#include "frontend/base/elem_type.h"

#include <algorithm>

namespace ptl {

std::optional<int64_t> givenNumber(std::string_view value) {
  if (value == "true" || value == "false")
    return value == "true";
  return integerIn(value);
}

std::string givenProblem(std::string_view values) {
  for (bool isLast = false; !isLast;) {
    size_t comma = std::min(values.find(','), values.size());
    isLast = comma == values.size();
    std::string_view value = values.substr(0, comma);
    if (!givenNumber(value) && !elemKindByName(value))
      return "`" + std::string(value) +
             "` is not a value: it is neither a whole number (of 64 bits) nor an element type";
    values.remove_prefix(isLast ? comma : comma + 1);
  }
  return {};
}

} // namespace ptl
