#include "frontend/sema/block/checked_block.h"

#include <algorithm>

namespace ptl {

std::string surfaceName(const InstructionInfo &info) {
  std::string name(info.mnemonic);
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
}

const std::vector<std::string> &blockCallNames() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all = {
#define BLOCK_CALL(NAME, LEAST, GREATEST) #NAME,
#include "frontend/sema/block/block_calls.def"
    };
    for (const InstructionInfo &info : instructions)
      all.push_back(surfaceName(info));
    return all;
  }();
  return names;
}

} // namespace ptl
