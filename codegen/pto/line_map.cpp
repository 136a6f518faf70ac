#include "codegen/pto/line_map.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace ptl::pto {

std::optional<SourcePlace> placeOf(Location location) {
  return llvm::TypeSwitch<Attribute, std::optional<SourcePlace>>(LocationAttr(location))
      .Case<FileLineColLoc>([](FileLineColLoc at) -> std::optional<SourcePlace> {
        return SourcePlace{at.getFilename().str(), at.getLine(), at.getColumn()};
      })
      .Case<NameLoc>([](NameLoc named) { return placeOf(named.getChildLoc()); })
      .Case<CallSiteLoc>([](CallSiteLoc call) { return placeOf(call.getCallee()); })
      .Case<FusedLoc>([](FusedLoc fused) -> std::optional<SourcePlace> {
        for (Location part : fused.getLocations())
          if (std::optional<SourcePlace> place = placeOf(part))
            return place;
        return std::nullopt;
      })
      .Default([](Attribute) { return std::nullopt; });
}

std::optional<SourcePlace> placeOf(Operation *operation) {
  std::optional<SourcePlace> place = placeOf(operation->getLoc());
  if (place)
    place->operation = operation;
  return place;
}

std::vector<unsigned> LineMap::linesOf(const std::string &file, unsigned sourceLine) const {
  std::vector<unsigned> found;
  for (unsigned line = 1; line <= numLines(); ++line)
    if (const SourcePlace *place = at(line);
        place && place->line == sourceLine && place->file == file)
      found.push_back(line);
  return found;
}

Emitted TextLines::finish(std::vector<Finding> findings) {
  Emitted emitted;
  emitted.findings = std::move(findings);
  size_t length = 0;
  for (const Line &line : lines_)
    length += line.text.size() + 1;
  emitted.text.reserve(length);
  emitted.lines.reserve(lines_.size());
  for (Line &line : lines_) {
    emitted.text += line.text;
    emitted.text += '\n';
    emitted.lines.add(std::move(line.place));
  }
  lines_.clear();
  return emitted;
}

} // namespace ptl::pto
