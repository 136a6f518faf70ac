// The machines that a user may name: the user's machine files, and those built into the compiler.
#pragma once

#include "machines/machine.h"

#include <map>
#include <mutex>

namespace ptl {

/// Thread-safe.
class MachineSet {
public:
  struct Invalid {
    std::string path;
    std::string reason;
  };

  MachineSet() = default;
  /// The files may be bases of each other.
  explicit MachineSet(std::vector<MachineFile> own);

  const std::vector<MachineFile> &ownFiles() const { return files_; }
  /// The user's files that do not describe a machine.
  const std::vector<Invalid> &invalid() const { return invalid_; }
  /// The machine of the user's last file; null if there is none.
  const Machine *lastOwn() const { return own_.empty() ? nullptr : &own_.back(); }

  /// The machine of that name, where `a2:910b3` is a variant; a user's machine hides the built-in
  /// one of the same name. Null if there is none.
  const Machine *find(std::string_view name) const;
  /// All names except those of variants, the user's first.
  std::vector<std::string> names() const;
  /// The names of machines for which kernels are compiled but that cannot run programs here.
  std::vector<std::string> chips() const;

private:
  std::vector<MachineFile> files_;
  std::vector<Invalid> invalid_;
  std::vector<Machine> own_;
  mutable std::mutex mutex_;
  mutable std::map<std::string, std::optional<Machine>, std::less<>> variants_;
};

} // namespace ptl
