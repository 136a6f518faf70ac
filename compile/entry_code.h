// The native code of an entry, in the form that is linked into a process and cached between
// processes.
#pragma once

#include "codegen/cpu/lower.h"
#include "codegen/cpu/object_emitter.h"
#include "compile/compile_context.h"

#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace ptl {

/// Object code of an entry, or of one of the functions that it calls, together with the functions
/// that it calls in turn; these are compiled at their first call, because most programs use few of
/// the ways to compute a product.
struct EntryCode {
  std::string object;
  cpu::DeferredFunctions functions;

  /// Serialises the code as one text, and back; returns nothing for a text in another format.
  std::string text() const;
  static std::optional<EntryCode> ofText(llvm::StringRef text);
};

/// Makes machine code of an entry and of the functions that it calls, with the options of the
/// context, which must live as long. Thread-safe.
class EntryCompiler : public std::enable_shared_from_this<EntryCompiler> {
public:
  static std::shared_ptr<EntryCompiler> create(const CompileContext &context);

  /// Optimises the module and returns its object code.
  llvm::Expected<std::string> objectOf(llvm::Module &module);
  /// The functions for `JitCode::fromObject`; they keep this object alive. Their code is read from
  /// `CompilerOptions::cache` if it is there, and stored there otherwise.
  std::vector<cpu::JitCode::LazyFunction> lazyFunctions(const cpu::DeferredFunctions &functions);

private:
  explicit EntryCompiler(const CompileContext &context) : context_(context) {}
  llvm::Expected<EntryCode> codeOf(const cpu::DeferredFunction &function);
  llvm::Expected<EntryCode> compile(const cpu::DeferredFunction &function);
  llvm::Expected<std::string> objectAlone(llvm::Module &module);

  const CompileContext &context_;
  std::mutex mutex_;                            ///< guards the following members, and the context
  std::unique_ptr<cpu::ObjectEmitter> emitter_; ///< created on first use
};

} // namespace ptl
