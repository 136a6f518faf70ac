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

  /// Parses `0.27`; nothing if the text is not a version, or an older one than the first.
  static std::optional<PtoasVersion> parse(std::string_view text);
};

/// The changes between versions: `ptoas_versions.def`.
enum class PtoasChange : uint8_t {
#define CHANGE(SINCE, ID, ARCH, WHAT) ID,
#include "codegen/pto/ptoas_versions.def"
};
/// Whether the version includes the change for an architecture (`--pto-arch`).
bool hasChanged(PtoasVersion version, std::string_view arch, PtoasChange change);
/// The version's name of one of our operations, both without the prefix `pto.`.
std::string_view ptoasName(PtoasVersion version, std::string_view operation);

/// The text of a kernel whose buffers have addresses, for `ptoas --pto-level=level3`. Features that
/// the version lacks are expressed by others: slots of multi-tiles and windows become tiles at
/// computed addresses, and constants that it would print as invalid C++ (infinities, NaN) are
/// computed from their bits. Our attributes are dropped; names, source locations and the reasons of
/// synchronisation are kept.
Emitted emitPto(mlir::ModuleOp kernel, const Machine &machine, PtoasVersion version = {});
/// Emits several kernels as one module.
Emitted emitPto(llvm::ArrayRef<mlir::ModuleOp> kernels, const Machine &machine,
                PtoasVersion version = {});

} // namespace ptl::pto
