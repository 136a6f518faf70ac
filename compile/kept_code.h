// Native code of an entry that is kept from process to process.
#pragma once

#include "compile/compile_context.h"
#include "compile/entry_code.h"
#include "ir/build/build_ir.h"

#include <optional>
#include <string>

namespace ptl {

/// The place of one entry's object code in `CompilerOptions::cache`. Its key is all that code
/// depends on: the sources with what they import, the entry and what makes it concrete, the
/// options, the processor, and the build of this compiler.
class KeptCode {
public:
  KeptCode(const CompileContext &context, const ir::EntryBinding &binding,
           const std::string &symbol);

  /// False if nothing is kept: there is no cache, or more than code is wanted of the compilation.
  bool isUsed() const { return !key_.empty(); }
  std::optional<EntryCode> find() const;
  /// Keeps the code, unless compiling it has said something, which would have to be said again.
  void keep(const EntryCode &code) const;

private:
  const CompileContext &context_;
  size_t reportedBefore_;
  std::string key_;
};

/// Whether nothing but the code is wanted: no times, dumps or checks of passes.
bool wantsCodeAlone(const CompilerOptions &options);

/// What identifies the build of the compiler: the build ID of the file that this code lies in, or
/// where a linker wrote none, the file's path, size and time.
const std::string &buildIdentity();

} // namespace ptl
