#include "codegen/source/origins.h"

namespace ptl::source {

static constexpr char kMark = '\x01';

// Locations live as long as their context.
static std::string markOf(mlir::Location location) {
  return kMark + std::to_string(reinterpret_cast<uintptr_t>(location.getAsOpaquePointer()));
}

std::string withOrigin(const std::string &line, mlir::Location origin,
                       const std::vector<mlir::Location> &parts) {
  std::string marked = line + markOf(origin);
  for (mlir::Location part : parts)
    if (part != origin)
      marked += markOf(part);
  return marked;
}

std::string OriginLines::text() const {
  std::string all;
  for (const OriginLine &line : lines)
    all += line.text + "\n";
  return all;
}

OriginLines takeOrigins(const std::string &marked) {
  OriginLines result;
  for (size_t begin = 0; begin < marked.size();) {
    size_t end = std::min(marked.find('\n', begin), marked.size());
    OriginLine line{marked.substr(begin, end - begin), std::nullopt, {}};
    size_t mark = line.text.find(kMark);
    for (size_t at = mark; at != line.text.npos; at = line.text.find(kMark, at + 1)) {
      // Locations live as long as the context, so their addresses may stand in the text until the
      // lines are complete.
      auto address = static_cast<uintptr_t>(std::stoull(line.text.substr(at + 1)));
      line.all.push_back(
          mlir::Location::getFromOpaquePointer(reinterpret_cast<const void *>(address)));
    }
    if (mark != line.text.npos) {
      line.origin = line.all.front();
      line.text.resize(mark);
    }
    result.lines.push_back(std::move(line));
    begin = end + 1;
  }
  return result;
}

} // namespace ptl::source
