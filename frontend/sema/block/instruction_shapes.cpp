#include "frontend/sema/block/instruction_shapes.h"

#include "frontend/sema/type_string.h"

namespace ptl {

static OperandShape readOperand(std::string_view text) {
  OperandShape shape;
  if (text.starts_with('!')) {
    shape.counts = false;
    text.remove_prefix(1);
  }
  if (size_t colon = text.find(':'); colon != text.npos) {
    shape.place = placeByName(text.substr(0, colon));
    text.remove_prefix(colon + 1);
  }
  shape.isScalar = text == ".";
  if (text.size() == 2) {
    shape.rows = text[0];
    shape.cols = text[1];
  }
  return shape;
}

static std::vector<OperandShape> readList(std::string_view text) {
  std::vector<OperandShape> shapes;
  while (!text.empty()) {
    size_t comma = std::min(text.find(','), text.size());
    shapes.push_back(readOperand(text.substr(0, comma)));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return shapes;
}

static std::vector<InstructionShape> readTable() {
  std::vector<InstructionShape> table(std::size(instructions));
  auto add = [&](InstructionId id, std::string_view text) {
    size_t equals = text.find('=');
    table[static_cast<size_t>(id)] = {readList(text.substr(0, equals)),
                                      readList(text.substr(equals + 1))};
  };
#define SHAPE(ID, TEXT) add(InstructionId::ID, TEXT);
#include "ir/ops/instruction_shapes.def"
  return table;
}

const InstructionShape &instructionShape(InstructionId id) {
  static const std::vector<InstructionShape> table = readTable();
  return table[static_cast<size_t>(id)];
}

} // namespace ptl
