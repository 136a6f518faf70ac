#pragma once

#include "runtime/bind.h"

namespace ptl::rt {

/// The unification of one call, shared by the checks of inputs and of outputs.
class Binder {
public:
  Binder(const Entry &entry, const CallArguments &arguments, Binding &binding);

  Failure bindInputs();
  /// One array against its declaration; binds names that have no value yet.
  Failure checkArray(const Param &param, const PtlArray *array);
  /// The extents an output must have.
  Failure wantedExtents(const Param &param, std::vector<int64_t> &extents);

private:
  using Origin = Binding::Origin;

  /// An extent that could not be compared yet, because its expression has open names.
  struct Pending {
    const Param *param;
    size_t axis; // counts the array's axes, `..` included
    const Expr *expr;
    const std::string *text;
    int64_t given;
    bool stride;
  };

  Failure fail(int32_t code, const std::string &message, int line = 0) const;
  Failure bindNamedDims();
  Failure checkElem(const Param &param, const PtlArray &array);
  Failure checkRank(const Param &param, const PtlArray &array);
  Failure checkExtents(const Param &param, const PtlArray &array);
  Failure checkLeading(const Param &param, const PtlArray &array, size_t count);
  Failure checkStrides(const Param &param, const PtlArray &array);
  Failure checkData(const Param &param, const PtlArray &array);
  Failure compare(const Pending &pending, bool &open);
  Failure settlePending();
  Failure checkAllBound();
  Failure checkWheres();
  Failure mismatch(const Pending &pending, int64_t wanted) const;
  void bindDim(int dim, int64_t value, Origin origin);
  ExprValues values() const;
  std::string describe(const Param &param) const;
  std::string originOf(int dim) const;
  std::string valuesOf(const Expr &expr) const;

  const Entry &entry_;
  const CallArguments &arguments_;
  Binding &binding_;
  std::vector<Pending> pending_;
};

} // namespace ptl::rt
