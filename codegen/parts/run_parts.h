// Executes a placed program on the parts of its levels, all in one process or each as a rank of its
// own. Every part computes on its blocks as the reference executor does, and movements follow their
// lists of steps.
#pragma once

#include "codegen/parts/checkpoints.h"
#include "codegen/parts/grid.h"
#include "codegen/parts/part_code.h"
#include "codegen/parts/pools.h"
#include "codegen/reference/interpreter.h"
#include "frontend/sema/placement/placement.h"
#include "runtime/movement/run_rank.h"

namespace ptl::parts {

/// Arrays in files, of which each part reads and writes its own blocks. All parts must make the
/// same calls in the same order, and get the same answers.
class PartFiles {
public:
  virtual ~PartFiles() = default;
  /// Whether the array of a parameter is read from a file instead of being passed.
  virtual bool reads(size_t param) const = 0;
  virtual reference::Value read(size_t param, const movement::Box &box, std::string &why) = 0;
  /// Whether a result is written to a file instead of being sent to the first part.
  virtual bool writes(size_t output) const = 0;
  /// Creates the file; called on the first part. Returns what the other parts must know about it.
  virtual std::string begin(size_t output, ElemKind elem, const std::vector<int64_t> &shape,
                            std::string &why) = 0;
  virtual void write(size_t output, const std::string &file, const std::vector<int64_t> &shape,
                     const movement::Box &box, const reference::Value &value, std::string &why) = 0;
};

struct PartsOptions {
  MachineShape shape;
  uint64_t seed = 0;                ///< of the order in which messages arrive
  reference::RunOptions entry = {}; ///< dimensions by name
  OwnPart *own = nullptr;           ///< null: all parts run in this process
  /// Of a part that is a rank: movements go on while it computes, by another thread that uses `own->port`.
  bool movesBeside = false;
  /// Bytes that a part moves from which on it moves them by chunks beside the product that needs or makes them; no chunk is
  /// smaller.
  int64_t leastChunk = 64 << 10;
  PartFiles *files = nullptr; ///< for a part that is a rank; null: arrays are passed whole
  PartCode *code = nullptr;   ///< null: the reference executor computes everything
  /// Gets a line for each stretch about what has computed it; empty if nobody asks.
  std::function<void(const std::string &)> note = {};
  CheckpointOptions checkpoints = {};
  PoolOptions pools = {};
};

/// `args` has whole arrays and scalars, one per parameter. The outputs are whole arrays again,
/// assembled from the blocks; a block that several parts have is compared between them. An error on
/// one part stops all of them, and names the part. If parts are ranks, only the first has the
/// outputs, the others have empty values; outputs that `files` write are empty everywhere. For
/// arrays that `files` read, `args` has only the shapes.
reference::RunResult runOnParts(const CheckedProgram &program, const SourceManager &sources,
                                const PlacedProgram &placed, std::vector<reference::Value> args,
                                const PartsOptions &options);

} // namespace ptl::parts
