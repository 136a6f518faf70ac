// Checks, after grids have been made, that each item of a schedule about a value has had an effect.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <optional>
#include <string>
#include <vector>

namespace ptl::ir {

/// Finds the schedule items that had no effect. It is constructed before a function is cut into
/// grids, and checks afterwards. It lists such items in the function's `ptl.refused`, for the
/// caller to report.
class ScheduleEffects {
public:
  explicit ScheduleEffects(mlir::func::FuncOp function);
  void check();

private:
  /// The items about one value, and the state before the pass.
  struct Item {
    mlir::DictionaryAttr attributes;
    mlir::Block *block = nullptr; ///< where it is computed; null: it has been removed
    mlir::Attribute task = {}, cores = {};
    bool isSplit = false;
    std::string type = {};
    std::vector<mlir::Operation *> grids = {}; ///< the grids that compute it

    std::string label() const;
    std::optional<int64_t> number(llvm::StringRef name) const;
  };

  void findGrids();
  const Item *firstFusedWith(size_t number) const;
  std::string whyWithoutEffect(size_t number) const;
  std::string whyNotTiled(const Item &item) const;
  std::string whyNotFused(const Item &a, const Item &b) const;
  void refuse(const Item &item, const std::string &why);

  mlir::func::FuncOp function_;
  std::vector<Item> items_;
  llvm::SmallVector<mlir::Attribute> refused_;
};

} // namespace ptl::ir
