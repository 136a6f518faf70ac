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

  /// Calls the entry. It may be called again, with the outputs of the call before as `again` so
  /// that no memory is allocated; `inout` arguments then start from their last values.
  CallResult call(CompiledExecutor &executor, std::vector<rt::OwnedArray> again = {});

  /// How much each call computes, given the outputs of a call; see `CompiledExecutor::work`.
  std::optional<Work> work(CompiledExecutor &executor, const std::vector<rt::OwnedArray> &outputs);

  /// The result in the form that the interpreter continues with. Takes the arrays of `result`.
  reference::RunResult resultOf(CallResult result, const SourceManager &sources);

  const reference::CallRequest &request() const { return request_; }
  /// Those of the arguments, in order.
  const std::vector<rt::OwnedArray> &arrays() const { return arrays_; }
  /// Bytes of all array arguments.
  int64_t argumentBytes() const;

private:
  /// Calls `use` with the arguments as the runtime takes them.
  template <typename Use> auto withArguments(Use use) const;

  const reference::CallRequest &request_;
  std::vector<rt::OwnedArray> arrays_;
  std::vector<size_t> inouts_; ///< indices into `arrays_`
  std::vector<PtlScalar> scalars_;
  bool outOfMemory_ = false;
};

/// Arrays of native code as values of the interpreter, and back (scalars become arrays without
/// axes).
reference::Value valueOf(const rt::OwnedArray &array);
rt::OwnedArray arrayOf(const reference::Value &value);

/// Called with each native call before its result is used, for timing.
using CallObserver = std::function<void(CompiledCall &call, CallResult &result)>;

/// Callees that native code cannot be called with (structs in their signature) are left to the
/// interpreter.
reference::CallHandler compiledHandler(CompiledExecutor &executor, const SourceManager &sources,
                                       CallObserver observer = {});

} // namespace ptl
