// Object code of many modules, one after the other.
#pragma once

#include "codegen/cpu/native.h"

namespace ptl::cpu {

/// Makes object code of modules one after the other: what `emitOutput` gives, without setting the code generator up for each.
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
