// Functions that are compiled apart from their module, because many modules have the same ones (products, and the packing that
// they need) or because few of them are called.
#pragma once

#include "codegen/cpu/native.h"

#include <map>
#include <memory>
#include <tuple>

namespace ptl::cpu {

/// A function as a module of its own, before optimisation. Equal functions have equal bitcode.
struct SeparateFunction {
  std::string name, bitcode;
};
using SeparateFunctions = std::vector<SeparateFunction>;

/// Moves functions out of a module before optimisation, leaving declarations. It moves those that
/// only the module calls, that refer to no data, that are not to be inlined, and that take and give numbers and addresses alone, so
/// that `JitCode` may compile them when they are first called.
SeparateFunctions takeFunctions(llvm::Module &module);

/// The object code of a function, optimised to this level: the same code that it would have got in its module. The machine compiles
/// one function at a time; making one takes milliseconds.
llvm::Expected<std::string> compileFunction(const SeparateFunction &function,
                                            llvm::TargetMachine &machine, int level);

/// Caches object code by the function's bitcode, for callers that compile many programs for one
/// processor, one after the other.
class FunctionObjects {
public:
  /// The object code of functions that `takeFunctions` has moved, as `compileFunction` gives it.
  llvm::Expected<JitCode::Objects> objects(const SeparateFunctions &functions,
                                           const Processor &processor, int level,
                                           CodeQuality quality);

private:
  std::map<std::tuple<int, CodeQuality, std::string>, std::shared_ptr<const std::string>> objects_;
};

} // namespace ptl::cpu
