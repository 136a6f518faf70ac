#include "ir/dialect/source_range.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace ptl::ir {

Location rangeLocation(FileLineColLoc at, Span span) {
  MLIRContext *context = at.getContext();
  int64_t numbers[] = {span.file, span.begin, span.end};
  return FusedLoc::get(context, {at}, DenseI64ArrayAttr::get(context, numbers));
}

std::vector<Span> rangesOf(Location location) {
  std::vector<Span> spans;
  location->walk([&](Location inner) {
    auto fused = dyn_cast<FusedLoc>(inner);
    auto numbers = fused ? dyn_cast_or_null<DenseI64ArrayAttr>(fused.getMetadata()) : nullptr;
    if (!numbers || numbers.size() != 3)
      return WalkResult::advance();
    Span span = {static_cast<FileId>(numbers[0]), static_cast<uint32_t>(numbers[1]),
                 static_cast<uint32_t>(numbers[2])};
    if (!llvm::is_contained(spans, span))
      spans.push_back(span);
    return WalkResult::advance();
  });
  return spans;
}

} // namespace ptl::ir
