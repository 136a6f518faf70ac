// What the two sides of a kernel share: queues and events between the kinds of cores.
#pragma once

#include "codegen/source/body_code.h"

#include "mlir/IR/Location.h"
#include "mlir/IR/Operation.h"

#include <map>
#include <optional>
#include <utility>

namespace ptl::source {

/// A queue between the two kinds of cores.
struct Queue {
  std::string name;
  std::string declaration; ///< with what `initialize_pipe` says
};

/// An event between them: each side knows its own end.
struct CoreEvent {
  std::string name;
  int64_t first = 0, count = 1;
  std::string from, to;          ///< `aic.fix`
  mlir::Operation *op = nullptr; ///< that is about it
};

/// Where the source declares the event that an operation is about.
std::optional<mlir::Location> declarationOf(mlir::Operation *op);

/// What both sides must call the same.
struct SharedByCores {
  std::map<int64_t, Queue> queues; ///< by the number of the first flag
  /// By whether they go to vector cores, and number.
  std::map<std::pair<bool, int64_t>, CoreEvent> events;

  /// `wanted`, or what is free of that; no queue or event is called so.
  std::string fresh(const std::string &wanted) const;
  /// Stands before both sides.
  std::string declarations(const Unwritable &unwritable) const;
};

} // namespace ptl::source
