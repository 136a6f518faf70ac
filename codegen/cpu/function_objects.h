// Machine code of functions that are the same in many modules: products and what they pack.
#pragma once

#include "codegen/cpu/native.h"

#include <map>
#include <memory>
#include <tuple>

namespace ptl::cpu {

/// Modules of one function each, as text. Functions that are the same have the same text.
using FunctionTexts = std::vector<std::string>;

/// Takes the functions out of a module before optimisation that are called by it alone, refer to no
/// data and are not to be inlined (declarations stay).
FunctionTexts takeFunctions(llvm::Module &module);

/// Object code by what functions are, for those who compile many programs for one processor, one
/// after the other.
class FunctionObjects {
public:
  /// The code of what `takeFunctions` took, optimised to this level: the same that it would have
  /// become in its module.
  llvm::Expected<JitCode::Objects> objects(const FunctionTexts &texts, const Processor &processor,
                                           int level, CodeQuality quality);

private:
  std::map<std::tuple<int, CodeQuality, std::string>, std::shared_ptr<const std::string>> objects_;
};

} // namespace ptl::cpu
