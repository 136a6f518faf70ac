// Executes a placed program on the parts of its levels, all in one process or each as a rank by itself:
// every part computes on its blocks as the reference executor does, and movements go by their lists of
// steps.
#pragma once

#include "codegen/parts/checkpoints.h"
#include "codegen/parts/grid.h"
#include "codegen/parts/pools.h"
#include "codegen/reference/interpreter.h"
#include "frontend/sema/placement/placement.h"
#include "runtime/movement/run_rank.h"

namespace ptl::parts {

/// Arrays in files, of which each part reads and writes what it has. All parts ask for the same in the
/// same order, and are answered alike.
class PartFiles {
public:
  virtual ~PartFiles() = default;
  /// Whether the array of a parameter is read so, instead of being given.
  virtual bool reads(size_t param) const = 0;
  virtual reference::Value read(size_t param, const movement::Box &box, std::string &why) = 0;
  /// Whether a result is written so, instead of being given to the first part.
  virtual bool writes(size_t output) const = 0;
  /// Makes the file, by the first part; what the others are to know of it.
  virtual std::string begin(size_t output, ElemKind elem, const std::vector<int64_t> &shape,
                            std::string &why) = 0;
  virtual void write(size_t output, const std::string &file, const std::vector<int64_t> &shape,
                     const movement::Box &box, const reference::Value &value, std::string &why) = 0;
};

struct PartsOptions {
  MachineShape shape;
  uint64_t seed = 0;                ///< of the order in which messages arrive
  reference::RunOptions entry = {}; ///< dimensions by name
  OwnPart *own = nullptr;           ///< null: all parts are here
  PartFiles *files = nullptr;       ///< of a part that is a rank; null: arrays are given as a whole
  CheckpointOptions checkpoints = {};
  PoolOptions pools = {};
};

/// `args`: whole arrays and scalars, one per parameter. The outputs are whole arrays again, put
/// together of the blocks; what several parts have is compared between them. What stops one
/// part stops all, with the name of the part. Of parts that are ranks the first has the outputs, the
/// others have empty values; nobody has those that `files` write. Of arrays that `files` read `args` has
/// the shapes.
reference::RunResult runOnParts(const CheckedProgram &program, const SourceManager &sources,
                                const PlacedProgram &placed, std::vector<reference::Value> args,
                                const PartsOptions &options);

} // namespace ptl::parts
