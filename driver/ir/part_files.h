// The arrays of a run on ranks that are stored in files: each rank reads and writes its own blocks.
#pragma once

#include "codegen/parts/run_parts.h"
#include "compile/call/arguments.h"
#include "driver/ir/pending_results.h"

#include <string>
#include <vector>

namespace ptl {

class RunFiles : public parts::PartFiles {
public:
  /// `paths` has one entry per output, and then one per `inout`; it is empty if that does not go to a file.
  RunFiles(const RunInputs &inputs, const rt::Entry &entry, std::vector<std::string> paths,
           PendingResults &pending);

  bool reads(size_t param) const override { return files_[param] != nullptr; }
  reference::Value read(size_t param, const movement::Box &box, std::string &why) override;
  bool writes(size_t output) const override { return !paths_[output].empty(); }
  std::string begin(size_t output, ElemKind elem, const std::vector<int64_t> &shape,
                    std::string &why) override;
  void write(size_t output, const std::string &file, const std::vector<int64_t> &shape,
             const movement::Box &box, const reference::Value &value, std::string &why) override;

private:
  std::vector<const rt::ArrayFile *> files_; ///< per parameter
  std::vector<PtlElem> elems_;               ///< the element types in which they are read
  std::vector<std::string> paths_;
  PendingResults &pending_;
};

/// A value with the shape of the array and without elements.
reference::Value shapeOnly(const rt::OwnedArray &array);

} // namespace ptl
