#include "ir/tblgen/cpp_text.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace ptl::tblgen {

std::string quoted(StringRef text) {
  std::string result;
  raw_string_ostream os(result);
  os << '"';
  for (char c : text) {
    if (c == '\n')
      os << "\\n";
    else if (c == '"' || c == '\\')
      os << '\\' << c;
    else
      os << c; // UTF-8 passes through
  }
  os << '"';
  return os.str();
}

std::vector<std::string> quotedAll(const std::vector<std::string> &texts) {
  std::vector<std::string> result;
  for (const std::string &text : texts)
    result.push_back(quoted(text));
  return result;
}

std::string array(raw_ostream &os, StringRef type, const std::string &name,
                  const std::vector<std::string> &items) {
  if (items.empty())
    return "{}";
  os << "static constexpr " << type << ' ' << name << "[] = {" << join(items, ", ") << "};\n";
  return name;
}

} // namespace ptl::tblgen
