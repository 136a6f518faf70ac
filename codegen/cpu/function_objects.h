// Machine code of functions that are the same in many modules: products and what they pack.
#pragma once

#include "codegen/cpu/native.h"

#include <map>
#include <memory>

namespace ptl::cpu {

/// Object code by what functions are, for those who compile many programs for one processor, one
/// after the other.
class FunctionObjects {
public:
  /// Takes the functions out of a module before optimisation that are called by it alone, refer to
  /// no data and are not to be inlined (declarations stay), and gives their code, optimised to this
  /// level: the same code that they would have become in the module.
  llvm::Expected<JitCode::Objects> take(llvm::Module &module, llvm::TargetMachine &machine,
                                        int level);

private:
  /// By level and text.
  std::map<std::pair<int, std::string>, std::shared_ptr<const std::string>> objects_;
};

} // namespace ptl::cpu
