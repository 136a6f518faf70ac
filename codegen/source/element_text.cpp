#include "codegen/source/tile_body.h"

#include "frontend/base/elem_type.h"
#include "ir/dialect/element_types.h"

namespace ptl::source {

std::string elementText(mlir::Type scalar) { return std::string(elemName(ir::elemKindOf(scalar))); }

} // namespace ptl::source
