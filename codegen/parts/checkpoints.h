// Checkpoints of the loop of a program on parts: which part saves what, and from where a run goes on.
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

/// One part, and how it reaches the others.
struct OwnPart {
  uint32_t part = 0;
  movement::Port &port; ///< to parts by their number
};

struct CheckpointOptions {
  bool saves = false;   ///< the loop with checkpoints saves them
  bool resumes = false; ///< and begins with the latest one that is whole
  std::function<void(const std::string &)> note = [](const std::string &) {
  }; ///< is told what a person should know
};

/// The values that dimensions have, by their symbols.
using Sizes = std::map<SymbolId, int64_t>;

/// The state of a loop for given sizes; nothing for what they do not decide.
std::optional<std::vector<checkpoint::Variable>>
stateOf(const PlacedProgram &placed, const PlacedLoop &loop, const Sizes &sizes);
/// The sizes of a program by name, and back: those of the manifest that the program has, too.
std::map<std::string, int64_t> namedSizes(const PlacedProgram &placed, const Sizes &sizes);
Sizes sizesNamed(const PlacedProgram &placed, const std::map<std::string, int64_t> &names);

/// Why a program cannot go on from a checkpoint, as far as the manifest and the program say; empty if it
/// can. `sizes`: of the run; null for those of the manifest.
std::string whyNotFrom(const PlacedProgram &placed, const checkpoint::Manifest &manifest,
                       const Sizes *sizes = nullptr);

/// What the loop of one run saves. All parts that are ranks call the same in the same order. What fails gives
/// its reason in `why`; `isShared` says that all parts have found the same.
class LoopCheckpoints {
public:
  LoopCheckpoints(const PlacedProgram &placed, const PlacedLoop &loop, const Grid &grid,
                  const Sizes &sizes, const CheckpointOptions &options, OwnPart *own);

  /// The iteration to go on with; nothing for the first one.
  std::optional<int64_t> begin(std::string &why, bool &isShared);
  /// What a part has of a variable in the checkpoint to go on from.
  reference::Value read(size_t variable, uint32_t part, std::string &why) const;

  using ValueAt = std::function<const reference::Value &(size_t variable, uint32_t part)>;
  /// Begins to save the state with which iteration `next` begins.
  void save(int64_t next, const ValueAt &valueAt, std::string &why);
  /// What has failed of that so far.
  std::string failure() { return saver_ ? saver_->failure() : std::string(); }
  /// Waits until all is saved.
  std::string finish() { return saver_ ? saver_->finish() : std::string(); }

private:
  bool isFirst() const { return !own_ || own_->part == 0; }
  movement::Box boxAt(size_t variable, uint32_t part) const;
  void addPieces(size_t variable);
  // Between parts that are ranks: what the first says to all, what all say to the first.
  std::string told(const std::string &text);
  std::vector<std::string> heard(const std::string &mine);
  // The search for the checkpoint to go on from.
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
  std::unique_ptr<checkpoint::FolderLock> lock_; ///< of the first part
  std::vector<int64_t> candidates_;              ///< of the first part; the latest first
  size_t tried_ = 0;
  checkpoint::Manifest from_; ///< to go on from
  std::string fromFolder_;
  checkpoint::Manifest plan_; ///< of what is saved
  std::unique_ptr<checkpoint::Saver> saver_;
};

} // namespace ptl::parts
