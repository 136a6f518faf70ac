#pragma once

#include "runtime/graph/region.h"

#include <cstdint>

namespace ptl::rt {

/// The number of a task in its graph, from 0, in program order.
using TaskId = uint32_t;
constexpr TaskId kNoTask = ~TaskId(0);

/// The resource that a task needs: a cube core, a vector core, a cube core together with the vector
/// cores of its group, or the host.
enum class TaskKind : uint8_t { Aic, Aiv, Mixed, Host };
constexpr int kTaskKinds = 4;

/// An array that tasks read and write, by number.
using StorageId = uint32_t;

/// `Write` also covers accesses that read and write.
enum class AccessMode : uint8_t { Read, Write };

/// The access of a task to a box of a storage. The axes are read only during the call to which they
/// are passed.
struct Access {
  StorageId storage = 0;
  AccessMode mode = AccessMode::Read;
  Box box;
};

/// The work of a task: the points [begin, end) of its grid. `arguments` belong to the run,
/// `closure` to the task.
using TaskBody = void (*)(void *arguments, const void *closure, int64_t begin, int64_t end);

/// The specification of a task. A task with several points may run on several lanes at once, in
/// chunks of `grain` points; it is complete when all of them have run.
struct TaskSpec {
  TaskKind kind = TaskKind::Host;
  TaskBody body = nullptr;
  const void *closure = nullptr; ///< of a static graph: must outlive it
  int64_t points = 1;
  int64_t grain = 1;
  /// An estimate of the task's duration, in any unit. Tasks with the longest path to the end are
  /// started first.
  int64_t cost = 1;
};

} // namespace ptl::rt
