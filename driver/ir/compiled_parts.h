// Compiled code for what parts compute.
#pragma once

#include "codegen/parts/part_code.h"
#include "driver/session.h"
#include "driver/target.h"

#include <map>
#include <memory>
#include <string>

namespace ptl {

/// Compiles the stretches of a program on parts, and calls them. Its code is kept on the disk like that of other programs.
class CompiledParts : public parts::PartCode {
public:
  /// `target` is the processor, or a chip, which is simulated. `file` is that of the program: what it imports lies beside it.
  CompiledParts(Session &session, Target target, std::string file, double worth);
  ~CompiledParts() override;

  std::optional<std::vector<reference::Value>>
  compute(const std::string &text, const std::vector<reference::Value> &inputs) override;

private:
  struct Stretch;
  Stretch &stretchOf(const std::string &text);

  Session &session_;
  Target target_;
  std::string file_;
  std::map<std::string, std::unique_ptr<Stretch>> stretches_;
  uint64_t uses_ = 0;
};

} // namespace ptl
