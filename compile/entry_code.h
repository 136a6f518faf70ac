// The native code of an entry, as it is linked into a process and kept from process to process.
#pragma once

#include "codegen/cpu/lower.h"
#include "codegen/cpu/object_emitter.h"
#include "compile/compile_context.h"

#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace ptl {

/// Object code of an entry, or of one of the functions that it calls, and the functions that this may call, which are compiled when they
/// are called: of the ways that a product can go, most programs take few.
struct EntryCode {
  std::string object;
  cpu::DeferredFunctions functions;

  /// One text, and back; nothing of a text that was not made so.
  std::string text() const;
  static std::optional<EntryCode> ofText(llvm::StringRef text);
};

/// Makes machine code of an entry and of the functions that it calls, as the options of the context say, which must live as long.
/// Threads may use it at once.
class EntryCompiler : public std::enable_shared_from_this<EntryCompiler> {
public:
  static std::shared_ptr<EntryCompiler> create(const CompileContext &context);

  /// Optimises the module, and gives its object code.
  llvm::Expected<std::string> objectOf(llvm::Module &module);
  /// The functions for `JitCode::fromObject`, which keep this alive. Their code comes from `CompilerOptions::cache` if it is there, and
  /// goes there otherwise.
  std::vector<cpu::JitCode::LazyFunction> lazyFunctions(const cpu::DeferredFunctions &functions);

private:
  explicit EntryCompiler(const CompileContext &context) : context_(context) {}
  llvm::Expected<EntryCode> codeOf(const cpu::DeferredFunction &function);
  llvm::Expected<EntryCode> compile(const cpu::DeferredFunction &function);
  llvm::Expected<std::string> objectAlone(llvm::Module &module);

  const CompileContext &context_;
  std::mutex mutex_;                            ///< of what follows, and of the context
  std::unique_ptr<cpu::ObjectEmitter> emitter_; ///< made when it is first wanted
};

} // namespace ptl
