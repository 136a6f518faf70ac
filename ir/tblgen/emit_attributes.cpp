#include "ir/tblgen/backends.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TableGen/Record.h"

using namespace llvm;

namespace ptl::tblgen {

/// `tile_group` as `TileGroup`, or `tileGroup`.
static std::string camelCase(StringRef name, bool beginsUpper) {
  std::string result;
  bool isUpper = beginsUpper;
  for (char c : name) {
    if (c != '_')
      result += isUpper ? toUpper(c) : c;
    isUpper = c == '_';
  }
  return result;
}

static std::string joined(const Record &row, StringRef field, StringRef separator) {
  return join(row.getValueAsListOfStrings(field), separator);
}

void emitAttributes(const RecordKeeper &records, raw_ostream &os) {
  const Record *dialect = records.getDef("Ptl_Dialect");
  for (const Record *row : dialect->getValueAsListOfDefs("attributes")) {
    StringRef name = row->getValueAsString("name");
    os << "/// " << row->getValueAsString("meaning") << "\nPTL_ATTRIBUTE(" << camelCase(name, true)
       << ", " << camelCase(name, false) << ", " << joined(*row, "on", " | ") << ", \""
       << row->getValueAsDef("type")->getValueAsString("summary") << "\", \""
       << joined(*row, "words", " ") << "\")\n";
  }
}

} // namespace ptl::tblgen
