// The native code of an entry, as it is linked into a process and kept from process to process.
#pragma once

#include "codegen/cpu/function_objects.h"
#include "compile/compile_context.h"

#include <optional>
#include <string>

namespace ptl {

/// Object code of what surely runs, and the functions that it may call, which are compiled when they are called: of the ways that a
/// product can go, most programs take few.
struct EntryCode {
  std::string object;
  cpu::SeparateFunctions functions;

  /// One text, and back; nothing of a text that was not made so.
  std::string text() const;
  static std::optional<EntryCode> ofText(llvm::StringRef text);
};

/// The functions for `JitCode::fromObject`. Their object code comes from `CompilerOptions::cache` if it is there, by its content, and
/// goes there otherwise.
std::vector<cpu::JitCode::LazyFunction> lazyFunctions(const CompilerOptions &options,
                                                      const cpu::SeparateFunctions &functions);

} // namespace ptl
