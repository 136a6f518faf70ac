// The machines that a user may name: own machine files, and those that came with the compiler.
#pragma once

#include "machines/machine.h"

#include <map>
#include <mutex>

namespace ptl {

/// May be asked from several threads.
class MachineSet {
public:
  struct Invalid {
    std::string path;
    std::string reason;
  };

  MachineSet() = default;
  /// Files may take what they do not say from each other.
  explicit MachineSet(std::vector<MachineFile> own);

  const std::vector<MachineFile> &ownFiles() const { return files_; }
  /// The own files that are no machines.
  const std::vector<Invalid> &invalid() const { return invalid_; }
  /// The machine of the last own file; null without one.
  const Machine *lastOwn() const { return own_.empty() ? nullptr : &own_.back(); }

  /// The machine of that name, `a2:910b3` a variant; own ones hide built-in ones. Null if there is
  /// none.
  const Machine *find(std::string_view name) const;
  /// All names but those of variants, own ones first.
  std::vector<std::string> names() const;
  /// The names of those that kernels are compiled for but that cannot run programs here.
  std::vector<std::string> chips() const;

private:
  std::vector<MachineFile> files_;
  std::vector<Invalid> invalid_;
  std::vector<Machine> own_;
  mutable std::mutex mutex_;
  mutable std::map<std::string, std::optional<Machine>, std::less<>> variants_;
};

} // namespace ptl
