// Names for lengths that passes make.
#pragma once

#include "ir/dialect/ptl_dialect.h"

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/StringSet.h"

namespace ptl::ir {

/// The names of lengths that begin with `base`.
inline llvm::StringSet<> extentNamesOf(mlir::Operation *function, llvm::StringRef base) {
  llvm::StringSet<> names;
  auto note = [&](mlir::Type type) {
    for (const Extent &extent : extentsOf(type))
      if (extent.symbol && extent.symbol.getValue().starts_with(base))
        names.insert(extent.symbol.getValue());
  };
  function->walk([&](mlir::Operation *op) {
    for (mlir::Type type : op->getResultTypes())
      note(type);
    for (mlir::Region &region : op->getRegions())
      for (mlir::Block &block : region)
        for (mlir::Type type : block.getArgumentTypes())
          note(type);
  });
  return names;
}

/// A length of its own, at most `capacity`. Equal names stand for equal lengths, so its name is one
/// that no value of the function around `inside` has: `base`, or `base_2` and so on.
inline Extent unusedExtent(mlir::Operation *inside, llvm::StringRef base, int64_t capacity) {
  mlir::Operation *function = inside;
  while (function->getParentOp() && !isa<mlir::FunctionOpInterface>(function))
    function = function->getParentOp();
  llvm::StringSet<> names = extentNamesOf(function, base);
  std::string name = base.str();
  for (unsigned number = 2; names.contains(name); ++number)
    name = base.str() + "_" + std::to_string(number);
  return Extent::named(mlir::StringAttr::get(inside->getContext(), name), capacity);
}

} // namespace ptl::ir
