// Queues and events between the kinds of cores, which both sides of a kernel share.
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
  std::string declaration; ///< including the operands of `initialize_pipe`
};

/// An event between the two kinds of cores; each side knows one end of it.
struct CoreEvent {
  std::string name;
  int64_t first = 0, count = 1;
  std::string from, to;          ///< `aic.fix`
  mlir::Operation *op = nullptr; ///< an operation that refers to it
};

/// The location of the source declaration of the event that an operation refers to.
std::optional<mlir::Location> declarationOf(mlir::Operation *op);

/// Names that must be the same on both sides.
struct SharedByCores {
  std::map<int64_t, Queue> queues; ///< by the number of the first flag
  /// The key is whether the event goes to vector cores, and its number.
  std::map<std::pair<bool, int64_t>, CoreEvent> events;
  std::vector<std::string> unused = {}; ///< names of parameters that neither side uses

  /// `wanted`, or a similar name that no queue or event has.
  std::string fresh(const std::string &wanted) const;
  /// The declarations in front of both sides.
  std::string declarations(const Unwritable &unwritable) const;
};

} // namespace ptl::source
