// Shares the machine code of functions that are equal in many modules: products, and the packing
// that they need.
#pragma once

#include "codegen/cpu/native.h"

#include <map>
#include <memory>
#include <tuple>

namespace ptl::cpu {

/// Modules of one function each, as text. Equal functions have equal texts.
using FunctionTexts = std::vector<std::string>;

/// Moves functions out of a module before optimisation, leaving declarations. It moves those that
/// only the module calls, that refer to no data, and that are not to be inlined.
FunctionTexts takeFunctions(llvm::Module &module);

/// Caches object code by the function's text, for callers that compile many programs for one
/// processor, one after the other.
class FunctionObjects {
public:
  /// The object code of functions that `takeFunctions` has moved, optimised to this level. It is
  /// the same code that they would have got in their module.
  llvm::Expected<JitCode::Objects> objects(const FunctionTexts &texts, const Processor &processor,
                                           int level, CodeQuality quality);

private:
  std::map<std::tuple<int, CodeQuality, std::string>, std::shared_ptr<const std::string>> objects_;
};

} // namespace ptl::cpu
