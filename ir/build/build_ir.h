// Builds `ptl` IR from the checked tree; this is the only bridge between them. One entry (kernel,
// program or fn) is made concrete: element types, the rank of `..`, values of `static` dimensions
// and tunables are constants; other dimensions stay `index` values. Callees are inlined, so a
// module holds one function per entry.
#pragma once

#include "frontend/base/diagnostic.h"
#include "frontend/sema/checked_tree.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <map>
#include <string>
#include <vector>

namespace ptl {
struct Machine;
} // namespace ptl

namespace ptl::ir {

/// The values that specialise a generic entry.
struct EntryBinding {
  const CallableDecl *decl = nullptr;
  std::vector<ElemKind> elems;            ///< one per `decl->typeParams`
  uint32_t prefixRank = 0;                ///< number of axes of `..`
  std::map<std::string, int64_t> statics; ///< dimension → value; must hold every `static` one
  std::map<std::string, int64_t>
      tunables;                  ///< overrides; others come from the schedule or are defaults
  std::vector<ElemKind> lacking; ///< element types that the machine lacks
  std::string machine = "cpu";   ///< chooses the schedule
  const Machine *chip = nullptr; ///< the target of kernels of the block level; null: the CPU
  bool checked = true;           ///< false: `--unchecked`, no bounds checks
  /// Requirements that whoever calls the entry has checked, so that it does not check them again.
  std::vector<const WhereClause *> checkedByCaller;
  bool ranges = false; ///< locations carry source ranges (source_range.h)
};

/// Makes the module of one entry; the function has the name `symbol`. Null, after reporting to
/// `sink`, if the entry uses features that the tile level cannot express (block level, levels above
/// `chip`). Precondition: the declaration and its callees have no errors. `program.dims` gets fresh
/// symbols.
mlir::OwningOpRef<mlir::ModuleOp> buildIr(mlir::MLIRContext &context, const CheckedProgram &program,
                                          const SourceManager &sources, const EntryBinding &binding,
                                          const std::string &symbol, DiagnosticSink &sink);

} // namespace ptl::ir
