#pragma once

#include "runtime/bind.h"

#include <array>

namespace ptl::rt {

/// The unification of one call, shared by the checks of inputs and of outputs. If a check returns
/// false, `failure` has the reason; no text is created for a correct call.
class Binder {
public:
  Binder(const Entry &entry, const CallArguments &arguments, Binding &binding);

  /// Only the first `rank` values are valid; the others are uninitialised.
  struct Extents {
    std::array<int64_t, PTL_MAX_RANK> values;
    size_t rank;
  };

  bool bindInputs();
  /// Checks one array against its declaration; binds names that have no value as yet.
  bool checkArray(const Param &param, const PtlArray *array);
  /// The required extents of an output.
  bool wantedExtents(const Param &param, Extents &extents);
  Failure takeFailure() { return std::move(failure_); }

private:
  using Origin = Binding::Origin;

  /// An extent whose comparison is deferred because its expression has unbound names.
  struct Pending {
    const Param *param;
    size_t axis; // counts the array's axes, `..` included
    const Expr *expr;
    const std::string *text;
    int64_t given;
    bool stride;
  };

  [[gnu::cold]] bool fail(int32_t code, const std::string &message, int line = 0);
  bool bindNamedDims();
  bool checkElem(const Param &param, const PtlArray &array);
  bool checkRank(const Param &param, const PtlArray &array);
  bool checkExtents(const Param &param, const PtlArray &array);
  bool checkLeading(const Param &param, const PtlArray &array, size_t count);
  /// `empty`: the array has no elements.
  bool checkStrides(const Param &param, const PtlArray &array, bool empty);
  /// Precondition: the array has elements.
  bool checkData(const Param &param, const PtlArray &array);
  bool compare(const Pending &pending, bool &open);
  bool settlePending();
  bool checkAllBound();
  bool checkWheres();
  [[gnu::cold]] bool mismatch(const Pending &pending, int64_t wanted);
  /// Fails because an extent leaves dimensions that it names without a value.
  [[gnu::cold]] bool failOpen(const Pending &pending);
  void bindDim(int dim, int64_t value, Origin origin);
  ExprValues values() const;
  [[gnu::cold]] std::string describe(const Param &param) const;
  [[gnu::cold]] std::string originOf(int dim) const;
  [[gnu::cold]] std::string valuesOf(const Expr &expr) const;

  const Entry &entry_;
  const CallArguments &arguments_;
  Binding &binding_;
  std::vector<Pending> pending_;
  Failure failure_;
};

} // namespace ptl::rt
