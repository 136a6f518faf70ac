// Lets the reference interpreter hand calls of test bodies to native code.
#pragma once

#include "codegen/reference/interpreter.h"
#include "compile/call/compiled_executor.h"

#include <functional>

namespace ptl {

/// The arguments of one call in the memory layout of native code, and its results.
class CompiledCall {
public:
  explicit CompiledCall(const reference::CallRequest &request);

  /// Calls the entry. It may be called repeatedly, with the outputs of the previous call as `again`
  /// so that no memory is allocated; `inout` arguments then start from their latest values.
  CallResult call(CompiledExecutor &executor, std::vector<rt::OwnedArray> again = {});

  /// The amount of computation of each call, given the outputs of one; see
  /// `CompiledExecutor::work`.
  std::optional<Work> work(CompiledExecutor &executor, const std::vector<rt::OwnedArray> &outputs);

  /// The result in the interpreter's form. The arrays of `result` are moved.
  reference::RunResult resultOf(CallResult result, const rt::Entry &entry);

  const reference::CallRequest &request() const { return request_; }
  /// The arrays among the arguments, in order.
  const std::vector<rt::OwnedArray> &arrays() const { return arrays_; }
  /// Bytes of all array arguments.
  int64_t argumentBytes() const;

private:
  /// Calls `use` with the arguments in the form of the runtime.
  template <typename Use> auto withArguments(Use use) const;

  const reference::CallRequest &request_;
  std::vector<rt::OwnedArray> arrays_;
  std::vector<size_t> inouts_; ///< indices into `arrays_`
  std::vector<PtlScalar> scalars_;
  bool outOfMemory_ = false;
};

/// Conversions between arrays of native code and values of the interpreter (scalars become arrays
/// without axes). Elements of four bits are two to a byte in arrays, which `param` says.
reference::Value valueOf(const rt::OwnedArray &array, const rt::Param &param);
rt::OwnedArray arrayOf(const reference::Value &value);

/// Called after each native call, before its result is used, for timing.
using CallObserver = std::function<void(CompiledCall &call, CallResult &result)>;

/// Callees that native code cannot call (because their signature has structs) are left to the
/// interpreter.
reference::CallHandler compiledHandler(CompiledExecutor &executor, const SourceManager &sources,
                                       CallObserver observer = {});

} // namespace ptl
