// From checked entries to IR at tensor level: the first stage.
#pragma once

#include "compile/compile_context.h"
#include "ir/build/build_ir.h"

#include "mlir/IR/OwningOpRef.h"

#include <optional>
#include <string>
#include <vector>

namespace ptl {

/// Code at tensor level, as built: never null.
struct TensorModule {
  mlir::OwningOpRef<mlir::ModuleOp> module;
};
TensorModule copyOf(const TensorModule &tensor);

/// One entry at tensor level.
struct BuiltEntry {
  ir::EntryBinding binding; ///< what it was built with, with what the options say of the machine
  TensorModule tensor;
};

/// Builds the function of an entry, which is called `symbol`. Nothing after an error.
std::optional<BuiltEntry> buildEntry(const CompileContext &context, const ir::EntryBinding &binding,
                                     const std::string &symbol);

/// All functions of the entries, in order; an empty module if there are none.
TensorModule joinEntries(const CompileContext &context, std::vector<BuiltEntry> entries);

} // namespace ptl
