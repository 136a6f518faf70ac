#include "compile/simulate/kernel_lines.h"

#include "compile/simulate/host_values.h"
#include "runtime/format_value.h"

#include "frontend/base/elem_type.h"

#include <algorithm>
#include <cstdio>

namespace ptl {

/// The extents of a value in the source. One that is not constant there follows from the number of
/// elements; where several are not, they are the rows and columns of the tile.
static std::vector<int64_t> extentsOf(const rt::sim::Printed &printed) {
  std::vector<int64_t> extents = printed.part->extents;
  int64_t count = printed.rows * printed.cols, known = 1;
  auto isUnknown = [](int64_t extent) { return extent < 0; };
  for (int64_t extent : extents)
    known *= isUnknown(extent) ? 1 : extent;
  auto open = std::ranges::find_if(extents, isUnknown);
  if (open != extents.end() && known > 0) {
    *open = count / known;
    known *= *open;
  }
  bool areKnown = std::ranges::none_of(extents, isUnknown);
  return areKnown && known == count ? extents : std::vector{printed.rows, printed.cols};
}

static std::string textOf(const rt::sim::Printed &printed) {
  // A tile holds conditions as bytes, and lengths as `i32`: where the sizes agree, the source's type
  // says how elements are shown.
  ElemKind source = printed.part->elem, elem = printed.elem;
  bool isAsDeclared = elemBytes(source) == elemBytes(elem);
  std::vector<int64_t> extents = extentsOf(printed), strides(extents.size(), 1);
  for (size_t axis = extents.size(); axis-- > 1;)
    strides[axis - 1] = strides[axis] * extents[axis];
  return rt::formatArray({const_cast<uint8_t *>(printed.bytes.data()),
                          static_cast<int64_t>(extents.size()), extents.data(), strides.data(),
                          elemCodeOf(isAsDeclared ? source : elem)});
}

void KernelLines::add(const rt::sim::Printed &printed) {
  std::string &line = begun_[{printed.block, printed.core}];
  auto append = [&](const std::string &text) {
    line += (line.empty() || text.empty() ? "" : " ") + text;
  };
  append(printed.part->before);
  if (printed.part->hasValue)
    append(textOf(printed));
  if (!printed.part->endsLine)
    return;
  append(printed.part->behind);
  line += "\n";
  std::fwrite(line.data(), 1, line.size(), stdout);
  std::fflush(stdout);
  line.clear();
}

} // namespace ptl
