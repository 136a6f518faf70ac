// Tries edits of the root file of a program: the time of the edited program, and whether it
// computes the same.
#pragma once

#include "compile/chip/chip_program.h"
#include "compile/tune/advice.h"

#include <ctime>
#include <map>

namespace ptl {

/// An edited program that runs on the chip.
struct EditTrial {
  double us = 0;
  int64_t groups = 0; ///< core groups with work
  std::shared_ptr<TrialSource> source;
};

class EditTrials {
public:
  EditTrials(const CostQuestion &question, const CompilerOptions &options,
             const AdviceLimits &limits);

  /// The edited program. Null if it has problems that the present one lacks, does not run on the
  /// chip, has no known time, or the search is over. Edits that lead to the same text are tried
  /// once. The pointer is valid as long as this object.
  const EditTrial *tried(const std::vector<TextEdit> &edits);
  /// Whether the search is over, so that nothing more is tried.
  bool isOver();

  /// Whether the edited program gives the same results as the present one on small arguments. Also
  /// false if no arguments were found with which it can be called.
  bool computesTheSame(const std::vector<TextEdit> &edits);
  /// Whether the edited text passes the checker; it need not run on the chip.
  bool checks(const std::vector<TextEdit> &edits) { return checked(edits) != nullptr; }

private:
  bool isStopped() const;
  std::string edited(const std::vector<TextEdit> &edits) const;
  std::shared_ptr<TrialSource> checked(const std::vector<TextEdit> &edits);
  std::optional<EditTrial> run(const std::vector<TextEdit> &edits);

  const CostQuestion &question_;
  CompilerOptions options_;
  const AdviceLimits &limits_;
  std::clock_t begin_ = std::clock(); ///< the processor time of this process at the start
  FileId root_;
  std::shared_ptr<TrialSource> present_;
  size_t presentReports_ = 0; ///< errors and warnings of the present text
  size_t tries_ = 0;
  std::map<std::string, std::optional<EditTrial>> known_; ///< by text
};

} // namespace ptl
