// Functions of code in this process that are compiled when they are first called.
#pragma once

#include "codegen/cpu/native.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ExecutionEngine/Orc/IndirectionUtils.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/ExecutionEngine/Orc/LazyReexports.h"

#include <mutex>

namespace ptl::cpu {

/// The stubs through which such functions are called. They must last as long as code runs that calls them, and not longer than
/// the JIT that they were defined in, whose names they hold.
class LazyCalls {
public:
  /// Defines the functions in the main library of `jit`, by their names. Where the architecture has no stubs, they are compiled now.
  static llvm::Expected<std::unique_ptr<LazyCalls>>
  define(llvm::orc::LLJIT &jit, std::vector<JitCode::LazyFunction> functions);

  /// Defines more of them, but for those that are there. Threads may call it at once.
  llvm::Error add(std::vector<JitCode::LazyFunction> functions);

private:
  explicit LazyCalls(llvm::orc::LLJIT &jit) : jit_(jit), library_(&jit.getMainJITDylib()) {}

  llvm::orc::LLJIT &jit_;
  /// Where the functions themselves are; their calls of each other go through the stubs of the main library, too.
  llvm::orc::JITDylib *library_;
  std::mutex mutex_;
  llvm::DenseSet<llvm::orc::SymbolStringPtr> known_;
  std::unique_ptr<llvm::orc::LazyCallThroughManager> callThrough_;
  std::unique_ptr<llvm::orc::IndirectStubsManager> stubs_;
};

} // namespace ptl::cpu
