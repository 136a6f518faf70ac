// `.pto` text for PTOAS.
#pragma once

#include "codegen/machines/machine.h"
#include "codegen/pto/line_map.h"

#include "mlir/IR/BuiltinOps.h"

#include <optional>
#include <string_view>

namespace ptl::pto {

/// A version of PTOAS, `0.27`.
struct PtoasVersion {
  unsigned minor = 27;

  /// Reads `0.27`; nothing for what is no version.
  static std::optional<PtoasVersion> parse(std::string_view text);
};

/// Features by version: `spelling.def`.
enum class PtoasFeature : uint8_t {
#define FEATURE(ID, SINCE, WHAT) ID,
#define RENAMED(INSTRUCTION, MNEMONIC)
#include "codegen/pto/spelling.def"
};
bool hasFeature(PtoasVersion version, PtoasFeature feature);

/// The text of a kernel whose buffers are placed, for `ptoas --pto-level=level3`. What the version
/// lacks is spelled out: slots of multi-tiles and windows become tiles at computed addresses.
/// Attributes of ours are dropped; names, places and the reasons of synchronisation stay.
Emitted emitPto(mlir::ModuleOp kernel, const Machine &machine, PtoasVersion version = {});
/// Several kernels as one module.
Emitted emitPto(llvm::ArrayRef<mlir::ModuleOp> kernels, const Machine &machine,
                PtoasVersion version = {});

} // namespace ptl::pto
