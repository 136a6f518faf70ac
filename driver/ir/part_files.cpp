#include "driver/ir/part_files.h"

#include "codegen/parts/elements.h"
#include "compile/call/compiled_handler.h"
#include "runtime/elem.h"
#include "runtime/movement/execute.h"
#include "runtime/npy/npy_header.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace ptl {

RunFiles::RunFiles(const RunInputs &inputs, const rt::Entry &entry, std::vector<std::string> paths,
                   PendingResults &pending)
    : paths_(std::move(paths)), pending_(pending) {
  for (std::string &path : paths_)
    if (!path.empty() && !PendingResults::takesParts(path))
      path.clear();
  size_t array = 0;
  for (const rt::Param &param : entry.params) {
    if (param.kind == PTL_PARAM_OUTPUT)
      continue;
    files_.push_back(param.isArray() ? inputs.files[array].get() : nullptr);
    elems_.push_back(param.isArray() ? inputs.arrays[array].elem() : PTL_F32);
    array += param.isArray();
  }
}

reference::Value RunFiles::read(size_t param, const movement::Box &box, std::string &why) {
  std::vector<rt::AxisPart> part;
  for (const movement::Interval &axis : box)
    part.push_back({axis.begin, axis.end});
  rt::OwnedArray array;
  if (rt::Failure failure = files_[param]->read(part, array)) {
    why = failure.message;
    return {};
  }
  array.reinterpretAs(elems_[param]);
  return valueOf(array, rt::Param()); // programs on parts have no packed arrays
}

static std::string headerOf(ElemKind elem, const std::vector<int64_t> &shape) {
  return rt::makeNpyHeader(*rt::elemFromName(elemName(elem)), static_cast<int64_t>(shape.size()),
                           shape.data());
}

std::string RunFiles::begin(size_t output, ElemKind elem, const std::vector<int64_t> &shape,
                            std::string &why) {
  std::string head = headerOf(elem, shape);
  int64_t bytes = movement::elementCount(movement::wholeBox(shape)) * elemInfo(elem).storageBytes;
  return pending_.begin(paths_[output], head, head.size() + static_cast<uint64_t>(bytes), why);
}

void RunFiles::write(size_t output, const std::string &file, const std::vector<int64_t> &shape,
                     const movement::Box &box, const reference::Value &value, std::string &why) {
  std::vector<uint8_t> bytes = parts::bytesOf(value);
  auto size = static_cast<int64_t>(elemInfo(value.elem()).storageBytes);
  auto begin = static_cast<int64_t>(headerOf(value.elem(), shape).size());
  int opened = ::open(file.c_str(), O_WRONLY | O_CLOEXEC);
  bool isWell = opened >= 0;
  const uint8_t *next = bytes.data();
  // The rows of a box lie apart in the file and one behind the other in the value.
  movement::forEachRow(movement::wholeBox(shape), box, [&](int64_t offset, int64_t length) {
    for (int64_t at = 0; isWell && at < length * size;) {
      ssize_t written = ::pwrite(opened, next + at, static_cast<size_t>(length * size - at),
                                 begin + offset * size + at);
      isWell = written > 0 || (written < 0 && errno == EINTR);
      at += std::max<ssize_t>(written, 0);
    }
    next += length * size;
  });
  if (!isWell)
    why = "`" + paths_[output] + "` cannot be written: " + std::strerror(errno);
  if (opened >= 0 && ::close(opened) != 0 && why.empty())
    why = "`" + paths_[output] + "` cannot be written: " + std::strerror(errno);
}

reference::Value shapeOnly(const rt::OwnedArray &array) {
  reference::RefArray described;
  described.elem = elemKindByName(rt::elemName(array.elem())).value_or(ElemKind::F32);
  described.shape = array.extents();
  return reference::Value::array(std::move(described));
}

} // namespace ptl
