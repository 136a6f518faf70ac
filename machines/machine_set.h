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
  /// Any of the files may be the base of another one.
  explicit MachineSet(std::vector<MachineFile> own);

  const std::vector<MachineFile> &ownFiles() const { return files_; }
  /// The user's files that do not describe a machine.
  const std::vector<Invalid> &invalid() const { return invalid_; }
  /// The machine of the user's last file; null if there is none.
  const Machine *lastOwn() const { return own_.empty() ? nullptr : &own_.back(); }

  /// The machine of that name, `a2:910b3` a variant; a user's machine hides the built-in one of that name. Null if there is
  /// none.
  const Machine *find(std::string_view name) const;
  /// All names except those of variants, the user's first.
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
