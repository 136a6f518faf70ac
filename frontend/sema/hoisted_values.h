// Implicit `let`s for values that occur in types. Equal values share one, so that `k[0:t + 1, :]`
// and `v[0:t + 1, :]` have the same length as long as the variable `t` keeps its value.
#pragma once

#include "frontend/sema/checked_expr.h"

#include <vector>

namespace ptl {

class HoistedValues {
public:
  /// The local that holds `value` at the current place; null if none certainly does.
  Local *find(const Expr *value) const;
  /// Records that `local` is bound to `value` before the current statement.
  void add(const Expr *value, Local *local);

  /// Variables of type `int` may have changed: one is assigned, or the body of a loop begins.
  void change() { ++changes_; }

  /// During its lifetime a statement is checked: the values that it adds are computed before
  /// anything in it changes.
  class Statement {
  public:
    explicit Statement(HoistedValues &values) : values_(values), outer_(values.start_) {
      values.start_ = values.changes_;
    }
    ~Statement() { values_.start_ = outer_; }
    Statement(const Statement &) = delete;
    Statement &operator=(const Statement &) = delete;

  private:
    HoistedValues &values_;
    uint64_t outer_;
  };

  /// The values of a block are forgotten at its end.
  class Scope {
  public:
    explicit Scope(HoistedValues &values) : values_(values), count_(values.entries_.size()) {}
    ~Scope() { values_.entries_.resize(count_); }
    Scope(const Scope &) = delete;
    Scope &operator=(const Scope &) = delete;

  private:
    HoistedValues &values_;
    size_t count_;
  };

private:
  struct Entry {
    const Expr *value = nullptr;
    Local *local = nullptr;
    uint64_t changes = 0; ///< number of changes before it was computed
    bool isFixed = false; ///< it contains no variable, so that changes do not affect it
  };
  std::vector<Entry> entries_;
  uint64_t changes_ = 0;
  uint64_t start_ = 0; ///< number of changes before the current statement
};

} // namespace ptl
