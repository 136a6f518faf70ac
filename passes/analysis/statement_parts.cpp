#include "passes/analysis/statement_parts.h"

namespace ptl {

std::string partsTitle(const StatementParts &statement) {
  return "in " + std::to_string(statement.parts) + " parts";
}

std::string tileText(const StatementParts &statement) {
  std::string type = "`" + statement.type + "`, " + bytesText(statement.bytes);
  return statement.tile.empty() ? "its largest tile is " + type
                                : "`" + statement.tile + "` is " + type;
}

std::string partsText(const StatementParts &statement) {
  std::string text = std::string(statement.isFold ? "This fold" : "This store") + " is done " +
                     partsTitle(statement) + ", one after the other: " + tileText(statement) +
                     ", and whole, the tiles of the kernel need " + bytesText(statement.needed) +
                     " of `" + statement.memory + "`, which has " + bytesText(statement.usable) +
                     ".";
  return statement.avoid.empty() ? text : text + " `" + statement.avoid + "` needs no parts.";
}

std::string statementsText(const std::vector<StatementParts> &statements) {
  std::string out;
  for (const StatementParts &each : statements)
    out += each.kernel + ", " + std::to_string(each.place.line) + ":" +
           std::to_string(each.place.column) + ": " + partsText(each) + "\n";
  return out;
}

} // namespace ptl
