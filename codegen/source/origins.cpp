#include "codegen/source/origins.h"

namespace ptl::source {

static constexpr char kMark = '\x01';

// Locations live as long as their context.
std::string withOrigin(const std::string &line, mlir::Location origin) {
  return line + kMark + std::to_string(reinterpret_cast<uintptr_t>(origin.getAsOpaquePointer()));
}

OriginLines takeOrigins(const std::string &marked) {
  OriginLines result;
  for (size_t begin = 0; begin < marked.size();) {
    size_t end = std::min(marked.find('\n', begin), marked.size());
    std::string line = marked.substr(begin, end - begin);
    std::optional<mlir::Location> origin;
    if (size_t mark = line.find(kMark); mark != line.npos) {
      auto address = static_cast<uintptr_t>(std::stoull(line.substr(mark + 1)));
      origin = mlir::Location::getFromOpaquePointer(reinterpret_cast<const void *>(address));
      line.resize(mark);
    }
    result.text += line + "\n";
    result.origins.push_back(origin);
    begin = end + 1;
  }
  return result;
}

} // namespace ptl::source
