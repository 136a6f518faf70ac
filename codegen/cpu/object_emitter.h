// Object code of several modules in turn.
#pragma once

#include "codegen/cpu/native.h"

namespace ptl::cpu {

/// Emits object code of modules in turn, as `emitOutput` does, but sets up the code generator only
/// once.
class ObjectEmitter {
public:
  explicit ObjectEmitter(std::unique_ptr<llvm::TargetMachine> machine);
  ~ObjectEmitter();

  llvm::TargetMachine &machine() { return *machine_; }
  llvm::Expected<std::string> emit(llvm::Module &module);

private:
  struct Generator;
  std::unique_ptr<llvm::TargetMachine> machine_;
  std::unique_ptr<Generator> generator_; ///< made for the first module
};

} // namespace ptl::cpu
