// Implicit `let`s for values that types speak of: one for the same value, so that `k[0:t + 1, :]`
// and `v[0:t + 1, :]` are of one length as long as the variable `t` keeps its value.
#pragma once

#include "frontend/sema/checked_expr.h"

#include <vector>

namespace ptl {

class HoistedValues {
public:
  /// The local that holds `value` where the check is now; null if none surely does.
  Local *find(const Expr *value) const;
  void add(const Expr *value, Local *local);

  /// The statement at hand changes a variable of type `int`.
  void changes() { isChanged_ = true; }
  /// Behind each statement.
  void endStatement();
  /// What is known does not hold in a body that runs again and again.
  void forget();

  /// The values of a block are unknown behind it.
  class Scope {
  public:
    explicit Scope(HoistedValues &values);
    ~Scope();
    Scope(const Scope &) = delete;
    Scope &operator=(const Scope &) = delete;

  private:
    HoistedValues &values_;
    size_t count_;
    uint64_t epoch_;
  };

private:
  struct Entry {
    const Expr *value;
    Local *local;
  };
  std::vector<Entry> entries_;
  uint64_t epoch_ = 0; ///< how often all was forgotten
  bool isChanged_ = false;
};

} // namespace ptl
