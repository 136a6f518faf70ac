// Types in `.pto` text, with aliases.
#pragma once

#include "ir/dialect/pto_dialect.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"

#include <string>
#include <vector>

namespace ptl::pto {

/// Names for types, `!acc = …`; shared by the functions of a module.
class TypeAliases {
public:
  explicit TypeAliases(llvm::ArrayRef<mlir::ModuleOp> modules);
  /// The alias if there is one, else the type itself.
  std::string of(mlir::Type type) const;
  /// The definitions, in order of first use.
  std::vector<std::string> definitions() const;

private:
  std::string nameOf(TileBufType tile, bool onlyOfPlace) const;
  llvm::MapVector<mlir::Type, std::string> aliases_;
  /// Caches texts of types without an alias, because printing a type takes long.
  mutable llvm::DenseMap<mlir::Type, std::string> texts_;
};

/// The type without its signedness, since scalars of PTOAS have none.
mlir::Type signless(mlir::Type type);

} // namespace ptl::pto
