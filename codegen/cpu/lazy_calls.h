// Functions in this process that are compiled at their first call.
#pragma once

#include "codegen/cpu/native.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ExecutionEngine/Orc/IndirectionUtils.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/ExecutionEngine/Orc/LazyReexports.h"

#include <mutex>

namespace ptl::cpu {

/// The stubs through which such functions are called. They must outlive all code that calls them,
/// but not the JIT that they are defined in, which owns their names.
class LazyCalls {
public:
  /// Defines the functions in the main library of `jit`, by their names. On architectures without
  /// stubs they are compiled at once.
  static llvm::Expected<std::unique_ptr<LazyCalls>>
  define(llvm::orc::LLJIT &jit, std::vector<JitCode::LazyFunction> functions);

  /// Defines further functions; names that are already defined are skipped. Thread-safe.
  llvm::Error add(std::vector<JitCode::LazyFunction> functions);

private:
  explicit LazyCalls(llvm::orc::LLJIT &jit) : jit_(jit), library_(&jit.getMainJITDylib()) {}

  llvm::orc::LLJIT &jit_;
  /// The library that holds the functions themselves; their calls of each other also go through the
  /// stubs of the main library.
  llvm::orc::JITDylib *library_;
  std::mutex mutex_;
  llvm::DenseSet<llvm::orc::SymbolStringPtr> known_;
  std::unique_ptr<llvm::orc::LazyCallThroughManager> callThrough_;
  std::unique_ptr<llvm::orc::IndirectStubsManager> stubs_;
};

} // namespace ptl::cpu
