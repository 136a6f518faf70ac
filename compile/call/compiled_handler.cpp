#include "compile/call/compiled_handler.h"

#include "compile/call/call_views.h"
#include "compile/call/packed_arrays.h"
#include "compile/entry/manifest.h"

namespace ptl {

using reference::RunStatus;

static PtlElem elemOf(ElemKind kind) { return rt::elemFromName(elemName(kind)).value_or(PTL_F32); }

reference::Value valueOf(const rt::OwnedArray &array, const rt::Param &param) {
  if (std::optional<ElemKind> kind = packedKind(param))
    return unpackedValue(array, *kind);
  ElemKind kind = elemKindByName(rt::elemName(array.elem())).value_or(ElemKind::F32);
  return reference::Value::array(reference::arrayFromMemory(kind, array.extents(), array.data()));
}

static std::optional<rt::OwnedArray> tryArrayOf(const reference::Value &value) {
  if (isPacked(value.elem()))
    return packedValue(value);
  std::vector<int64_t> shape(value.shape().begin(), value.shape().end());
  std::optional<rt::OwnedArray> array = rt::OwnedArray::reserve(elemOf(value.elem()), shape);
  if (array && value.isArray())
    reference::arrayToMemory(value.asArray(), array->data());
  else if (array)
    storeElem(array->data(), value.elem(), value.asScalar().scalar);
  return array;
}

rt::OwnedArray arrayOf(const reference::Value &value) {
  return tryArrayOf(value).value_or(rt::OwnedArray());
}

CompiledCall::CompiledCall(const reference::CallRequest &request) : request_(request) {
  for (size_t i = 0; i < request.args.size(); ++i) {
    const reference::Value &value = request.args[i];
    const Local &param = *request.callee->params[i];
    if (!param.type->isArray()) {
      PtlScalar cell{};
      storeElem(&cell, value.elem(), value.asScalar().scalar);
      scalars_.push_back(cell);
      continue;
    }
    std::optional<rt::OwnedArray> array = tryArrayOf(value);
    if (!array) {
      outOfMemory_ = true;
      return;
    }
    if (param.isInout)
      inouts_.push_back(arrays_.size());
    arrays_.push_back(std::move(*array));
  }
}

template <typename Use> auto CompiledCall::withArguments(Use use) const {
  CallViews views(arrays_, scalars_);
  for (size_t i = 0; i < request_.callee->dims.size(); ++i)
    views.addDim(request_.callee->dims[i].name, request_.dims[i]);
  return use(views.arguments());
}

CallResult CompiledCall::call(CompiledExecutor &executor, std::vector<rt::OwnedArray> again) {
  if (outOfMemory_) {
    CallResult result;
    result.failure = {PTL_ERROR_MEMORY, "not enough memory for the arguments", "", 0};
    return result;
  }
  return withArguments([&](const rt::CallArguments &arguments) {
    return executor.call(*request_.callee, arguments, request_.tunables, request_.elems,
                         std::move(again));
  });
}

std::optional<Work> CompiledCall::work(CompiledExecutor &executor,
                                       const std::vector<rt::OwnedArray> &outputs) {
  return withArguments([&](const rt::CallArguments &arguments) {
    return executor.work(*request_.callee, arguments, request_.tunables, request_.elems, outputs);
  });
}

int64_t CompiledCall::argumentBytes() const {
  int64_t bytes = 0;
  for (const rt::OwnedArray &array : arrays_)
    bytes += array.bytes();
  return bytes;
}

/// The interpreter's word for a status of the runtime.
static RunStatus statusOf(int32_t code) {
  switch (code) {
  case PTL_ERROR_ASSERT:
    return RunStatus::Assert;
  case PTL_ERROR_BOUNDS:
    return RunStatus::Bounds;
  case PTL_ERROR_WHERE:
  case PTL_ERROR_DATA_FACT:
    return RunStatus::Where;
  case PTL_ERROR_ARITHMETIC:
    return RunStatus::Arithmetic;
  case PTL_ERROR_INTERNAL:
    return RunStatus::Fault;
  case PTL_ERROR_MEMORY:
    return RunStatus::Memory;
  default:
    return RunStatus::Arguments;
  }
}

reference::RunResult CompiledCall::resultOf(CallResult result, const rt::Entry &entry) {
  reference::RunResult run;
  run.span = request_.span;
  if (!result.compiled) {
    run.status = RunStatus::Compile;
    run.message = "`" + request_.callee->name + "` cannot be compiled for the processor";
    return run;
  }
  if (result.failure) {
    run.status = statusOf(result.failure.code);
    run.message = result.failure.message;
    return run;
  }
  std::vector<const rt::Param *> arrays = entry.arrays();
  // A manifest lists the outputs behind the arrays that are given.
  for (size_t i = 0; i < result.outputs.size(); ++i)
    run.outputs.push_back(valueOf(result.outputs[i], *arrays[arrays_.size() + i]));
  for (size_t index : inouts_)
    run.inouts.push_back(valueOf(arrays_[index], *arrays[index]));
  return run;
}

/// Whether all arrays of a call that lie in memory two elements to a byte have an even length: a `fn` takes and gives others, too,
/// where its caller is no caller from outside.
static bool fillsBytes(const reference::CallRequest &request, const rt::Entry &entry) {
  std::vector<std::optional<int64_t>> dims(request.dims.begin(), request.dims.end());
  for (const reference::Value &value : request.args)
    if (isPacked(value.elem()) && value.isArray() &&
        (value.shape().empty() || value.shape().back() % 2 != 0))
      return false;
  for (const rt::Param &param : entry.params)
    if (param.packed && param.kind == PTL_PARAM_OUTPUT && !param.shape.empty() &&
        !rt::evaluateInt(param.shape.back(), rt::ExprValues{dims, {}, {}, {}, nullptr}))
      return false;
  return true;
}

reference::CallHandler compiledHandler(CompiledExecutor &executor, const SourceManager &sources,
                                       CallObserver observer) {
  return [&executor,
          observer](const reference::CallRequest &request) -> std::optional<reference::RunResult> {
    if (!entryProblem(*request.callee).empty())
      return std::nullopt;
    const rt::Entry &entry = executor.describe(*request.callee);
    if (!fillsBytes(request, entry))
      return std::nullopt;
    CompiledCall native(request);
    CallResult result = native.call(executor);
    if (observer)
      observer(native, result);
    return native.resultOf(std::move(result), entry);
  };
}

} // namespace ptl
