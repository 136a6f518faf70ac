// Caches native code of an entry between processes.
#pragma once

#include "compile/compile_context.h"
#include "compile/entry_code.h"
#include "ir/build/build_ir.h"

#include <optional>
#include <string>

namespace ptl {

/// The slot of one entry's object code in `CompilerOptions::cache`. Its key covers everything that
/// the code depends on: the sources with their imports, the entry and its specialisation, the
/// options, the processor, and the build of this compiler.
class KeptCode {
public:
  KeptCode(const CompileContext &context, const ir::EntryBinding &binding,
           const std::string &symbol);

  /// False if there is no cache, or if more than the code is requested of the compilation.
  bool isUsed() const { return !key_.empty(); }
  std::optional<EntryCode> find() const;
  /// Stores the code, unless its compilation has reported something, which would have to be
  /// reported again.
  void keep(const EntryCode &code) const;

private:
  const CompileContext &context_;
  size_t reportedBefore_;
  std::string key_;
};

/// Whether only code is requested: no times, dumps or checks of passes.
bool wantsCodeAlone(const CompilerOptions &options);

/// Identifies the build of the compiler: the build ID of the file that contains this code or, if
/// the linker wrote none, the file's path, size and time.
const std::string &buildIdentity();

} // namespace ptl
