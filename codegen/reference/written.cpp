#include "codegen/reference/written.h"

#include "codegen/reference/array_ops.h"

namespace ptl::reference {

void checkWritten(const RunState &run, const Value &value, Span span) {
  if (!value.hasUndefined())
    return;
  std::string where;
  if (value.isArray()) {
    const RefArray &array = value.asArray();
    std::vector<int64_t> strides = denseStrides(array.shape), at;
    int64_t position = 0;
    while (array.defined[static_cast<size_t>(position)])
      ++position;
    for (size_t i = 0; i < strides.size(); ++i)
      at.push_back(position / strides[i] % array.shape[i]);
    where = ", first at " + shapeText(at);
  }
  stop(RunStatus::Uninitialised, "`" + run.textOf(span) + "` is read before it is written" + where,
       span);
}

} // namespace ptl::reference
