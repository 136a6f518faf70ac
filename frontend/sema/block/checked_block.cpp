#include "frontend/sema/block/checked_block.h"

#include <algorithm>

namespace ptl {

static constexpr AttributeInfo attributeTable[] = {
#define INSTRUCTION_ATTRIBUTE(NAME, PTOAS, IR, VALUES, INSTRUCTIONS)                               \
  {#NAME, PTOAS, IR, VALUES, INSTRUCTIONS},
#include "ir/ops/instruction_attributes.def"
};

std::span<const AttributeInfo> attributeInfos() { return attributeTable; }

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
