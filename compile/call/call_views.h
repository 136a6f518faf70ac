// The arguments of a call in the form of the runtime, for arrays that the caller owns.
#pragma once

#include "compile/call/arguments.h"
#include "runtime/bind.h"

namespace ptl {

/// Views of arrays, scalars and lengths. The viewed data must outlive them.
class CallViews {
public:
  explicit CallViews(const RunInputs &inputs) : CallViews(inputs.arrays, inputs.scalars) {
    for (const auto &[name, value] : inputs.givenDims)
      addDim(name, value);
  }
  CallViews(const std::vector<rt::OwnedArray> &arrays, const std::vector<PtlScalar> &scalars)
      : scalars_(scalars) {
    for (const rt::OwnedArray &array : arrays)
      views_.push_back(array.view());
    for (const PtlArray &view : views_)
      arrays_.push_back(&view);
  }
  CallViews(const CallViews &) = delete;
  CallViews &operator=(const CallViews &) = delete;

  void addDim(const std::string &name, int64_t value) { dims_.push_back({name.c_str(), value}); }
  const std::vector<PtlArray> &views() const { return views_; }
  rt::CallArguments arguments() const { return {arrays_, scalars_, dims_}; }

private:
  std::vector<PtlArray> views_;
  std::vector<const PtlArray *> arrays_;
  std::span<const PtlScalar> scalars_;
  std::vector<PtlDim> dims_;
};

} // namespace ptl
