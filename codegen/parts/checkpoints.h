// Checkpoints of the loop of a program on parts: what each part saves, and the checkpoint from
// which a run resumes.
#pragma once

#include "codegen/parts/grid.h"
#include "codegen/reference/value.h"
#include "runtime/checkpoint/folder.h"
#include "runtime/checkpoint/saver.h"
#include "runtime/movement/run_rank.h"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ptl::parts {

/// One part, with its connections to the others.
struct OwnPart {
  uint32_t part = 0;
  movement::Port &port; ///< connections to the other parts, by their number
};

struct CheckpointOptions {
  bool saves = false;   ///< checkpoints are saved
  bool resumes = false; ///< the loop resumes from the latest undamaged checkpoint
  std::function<void(const std::string &)> note = [](const std::string &) {
  }; ///< is told what a person should know
};

/// The values of dimensions, by their symbols.
using Sizes = std::map<SymbolId, int64_t>;

/// The variables of a loop for given sizes; nothing if an extent does not follow from the sizes.
std::optional<std::vector<checkpoint::Variable>>
stateOf(const PlacedProgram &placed, const PlacedLoop &loop, const Sizes &sizes);
/// `namedSizes` gives the sizes of a program by name; `sizesNamed` is the inverse, and ignores
/// names that the program lacks.
std::map<std::string, int64_t> namedSizes(const PlacedProgram &placed, const Sizes &sizes);
Sizes sizesNamed(const PlacedProgram &placed, const std::map<std::string, int64_t> &names);

/// Why a program cannot resume from a checkpoint, judged by the manifest alone; empty if it can.
/// `sizes` are those of the run; null means those of the manifest.
std::string whyNotFrom(const PlacedProgram &placed, const checkpoint::Manifest &manifest,
                       const Sizes *sizes = nullptr);

/// The checkpoints of the loop of one run. All parts that are ranks must make the same calls in the
/// same order. After a failure `why` has the reason; if `isShared` is set, all parts have failed
/// with the same reason.
class LoopCheckpoints {
public:
  LoopCheckpoints(const PlacedProgram &placed, const PlacedLoop &loop, const Grid &grid,
                  const Sizes &sizes, const CheckpointOptions &options, OwnPart *own);

  /// The iteration at which the run resumes; nothing if it starts from the beginning.
  std::optional<int64_t> begin(std::string &why, bool &isShared);
  /// A part's block of a variable in the checkpoint that the run resumes from.
  reference::Value read(size_t variable, uint32_t part, std::string &why) const;

  using ValueAt = std::function<const reference::Value &(size_t variable, uint32_t part)>;
  /// Starts to save the state at the beginning of iteration `next`, in the background.
  void save(int64_t next, const ValueAt &valueAt, std::string &why);
  /// Why saving has failed so far; empty if it has not failed.
  std::string failure() { return saver_ ? saver_->failure() : std::string(); }
  /// Waits until everything is saved. Returns why saving has failed, or an empty text.
  std::string finish() { return saver_ ? saver_->finish() : std::string(); }

private:
  bool isFirst() const { return !own_ || own_->part == 0; }
  movement::Box boxAt(size_t variable, uint32_t part) const;
  void addPieces(size_t variable);
  // Messages between parts that are ranks: a broadcast from the first to all, and a gather from all
  // to the first.
  std::string told(const std::string &text);
  std::vector<std::string> heard(const std::string &mine);
  // The search for the checkpoint that the run resumes from.
  std::string firstWord(std::string &token);
  std::string nextWord();
  std::string verdict(const std::string &name);
  std::string seesFolder(const std::string &token);

  const PlacedProgram &placed_;
  const PlacedLoop &loop_;
  const Grid &grid_;
  const Sizes &sizes_;
  const CheckpointOptions &options_;
  OwnPart *own_;
  std::string folder_;
  std::unique_ptr<checkpoint::FolderLock> lock_; ///< held by the first part only
  std::vector<int64_t> candidates_;              ///< known to the first part only; the latest first
  size_t tried_ = 0;
  checkpoint::Manifest from_; ///< of the checkpoint that the run resumes from
  std::string fromFolder_;
  checkpoint::Manifest plan_; ///< of the checkpoints that are saved
  std::unique_ptr<checkpoint::Saver> saver_;
};

} // namespace ptl::parts
