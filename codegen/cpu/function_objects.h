// Functions that are compiled separately from their module: many modules have the same ones
// (products, and their packing), or few of them are called.
#pragma once

#include "codegen/cpu/native.h"

#include <map>
#include <memory>
#include <tuple>

namespace ptl::cpu {

/// A function as a module of its own, before optimisation. Equal functions have equal bitcode,
/// which serves as the cache key.
struct SeparateFunction {
  std::string name, bitcode;
};
using SeparateFunctions = std::vector<SeparateFunction>;

/// Moves functions out of a module before optimisation, and leaves declarations. A function is
/// moved if it is called only within the module, refers to no global data, is not to be inlined,
/// and has only numbers and addresses as arguments and results, so that `JitCode` may compile it at
/// its first call.
SeparateFunctions takeFunctions(llvm::Module &module);

/// The object code of a function, optimised to this level: the same code that it would have in its
/// module. A TargetMachine must not be used by two threads at once. Compiling one function takes
/// milliseconds.
llvm::Expected<std::string> compileFunction(const SeparateFunction &function,
                                            llvm::TargetMachine &machine, int level);

/// A cache of object code by the function's bitcode, for callers that compile many programs for one
/// processor in turn.
class FunctionObjects {
public:
  /// The object code of functions that `takeFunctions` has moved, compiled by `compileFunction` if
  /// not cached.
  llvm::Expected<JitCode::Objects> objects(const SeparateFunctions &functions,
                                           const Processor &processor, int level,
                                           CodeQuality quality);

private:
  std::map<std::tuple<int, CodeQuality, std::string>, std::shared_ptr<const std::string>> objects_;
};

} // namespace ptl::cpu
