// The first stage: from checked entries to IR at tensor level.
#pragma once

#include "compile/compile_context.h"
#include "ir/build/build_ir.h"

#include "mlir/IR/OwningOpRef.h"

#include <optional>
#include <string>
#include <vector>

namespace ptl {

/// Tensor-level code as built; never null.
struct TensorModule {
  mlir::OwningOpRef<mlir::ModuleOp> module;
};
TensorModule copyOf(const TensorModule &tensor);

/// One entry at tensor level.
struct BuiltEntry {
  ir::EntryBinding binding; ///< static values, and the machine's properties from the options
  TensorModule tensor;
};

/// Builds the function of an entry, with the name `symbol`. Nothing if there was an error, which is
/// reported.
std::optional<BuiltEntry> buildEntry(const CompileContext &context, const ir::EntryBinding &binding,
                                     const std::string &symbol);

/// Merges the functions of the entries in order; an empty module if there are none.
TensorModule joinEntries(const CompileContext &context, std::vector<BuiltEntry> entries);

} // namespace ptl
