// Emits `.pto` text for PTOAS.
#pragma once

#include "codegen/pto/line_map.h"
#include "machines/machine.h"

#include "mlir/IR/BuiltinOps.h"

#include <optional>
#include <string_view>

namespace ptl::pto {

/// A version of PTOAS: `0.27`, the default, to `0.64`; later ones are treated as the last.
struct PtoasVersion {
  static constexpr unsigned kFirst = 27, kLast = 64;
  unsigned minor = kFirst;

  /// Reads `0.27`; nothing if the text is no version, or one older than the first.
  static std::optional<PtoasVersion> parse(std::string_view text);
};

/// The changes from version to version: `ptoas_versions.def`.
enum class PtoasChange : uint8_t {
#define CHANGE(SINCE, ID, ARCH, WHAT) ID,
#include "codegen/pto/ptoas_versions.def"
};
/// Whether the version has the change for an architecture (`--pto-arch`).
bool hasChanged(PtoasVersion version, std::string_view arch, PtoasChange change);
/// The version's name for one of our operations, both without `pto.`.
std::string_view ptoasName(PtoasVersion version, std::string_view operation);

/// The text of a kernel whose buffers are placed, for `ptoas --pto-level=level3`. What the version
/// lacks is expressed otherwise: slots of multi-tiles and windows become tiles at computed
/// addresses, and constants that it would print as C++ that does not compile (infinities, NaN) are
/// made from their bits. Our attributes are dropped; names, places and the reasons of
/// synchronisation stay.
Emitted emitPto(mlir::ModuleOp kernel, const Machine &machine, PtoasVersion version = {});
/// Several kernels as one module.
Emitted emitPto(llvm::ArrayRef<mlir::ModuleOp> kernels, const Machine &machine,
                PtoasVersion version = {});

} // namespace ptl::pto
