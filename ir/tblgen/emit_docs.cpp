#include "ir/tblgen/backends.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <set>

using namespace llvm;

namespace ptl::tblgen {
namespace {

constexpr const char *generatedNote =
    "<!-- Generated from ir/ops/*.td by `./dev docs`; do not edit. -->\n\n";

std::string groupTitle(std::string group) {
  for (char &c : group)
    if (c == '_')
      c = ' ';
  group[0] = static_cast<char>(toupper(group[0]));
  return group;
}

/// A heading that is unique on the page: `max`, or `-` with its mnemonic.
std::string heading(const Op &op) {
  std::string text = "`" + op.name + "`";
  if (op.name != op.mnemonic)
    text += " (" + op.mnemonic + ")";
  return text;
}

/// Text for a cell of a Markdown table.
std::string cell(StringRef text) {
  std::string result;
  for (char c : text) {
    if (c == '|')
      result += '\\';
    result += c;
  }
  return result;
}

std::string code(const std::string &text) { return "`" + cell(text) + "`"; }

std::string paramUse(const Param &param) {
  std::string use;
  if (param.variadic)
    use = param.optional ? "any number" : "one or more";
  else if (param.keyword)
    use = "by name";
  if (!param.variadic && param.optional)
    use += std::string(use.empty() ? "" : ", ") +
           (param.defaultText.empty() ? "may be left out" : "default " + code(param.defaultText));
  if (!param.values.empty()) {
    std::vector<std::string> values;
    for (const std::string &value : param.values)
      values.push_back(code("." + value));
    use += (use.empty() ? "one of " : "; one of ") + join(values, " ");
  }
  return use;
}

void emitSupport(const Op &op, raw_ostream &os) {
  os << "| target | support |\n|---|---|\n";
  for (size_t i = 0; i < op.support.size(); ++i) {
    const Support &s = op.support[i];
    os << "| " << targetNames[i] << " | " << StringRef(s.kind).lower();
    if (!s.detail.empty())
      os << ": " << cell(s.detail);
    os << " |\n";
  }
  os << '\n';
}

void emitOp(const Op &op, raw_ostream &os) {
  os << "## " << heading(op) << "\n\n";
  std::string summary = op.summary;
  summary[0] = static_cast<char>(toupper(summary[0]));
  os << summary << ".\n\n" << op.description << "\n\n```text\n";
  for (const ParsedSignature &signature : op.signatures)
    os << signature.text << '\n';
  os << "```\n\n";
  if (!op.params.empty()) {
    os << "| parameter | | use |\n|---|---|---|\n";
    for (const Param &param : op.params)
      os << "| " << code(param.name) << " | " << cell(param.doc) << " | " << paramUse(param)
         << " |\n";
    os << '\n';
  }
  if (!op.aliases.empty() && op.id != "Convert") {
    os << "Also written";
    for (const std::string &alias : op.aliases)
      os << ' ' << code(alias);
    os << ".\n\n";
  }
  os << "```ptl\n" << op.example << "```\n\n";
  emitSupport(op, os);
}

void emitList(const std::vector<Op> &ops, raw_ostream &os) {
  os << generatedNote << "# Built-in operations\n";
  std::set<std::string> seen;
  for (const Op &first : ops) {
    if (!seen.insert(first.group).second)
      continue;
    os << "\n## [" << groupTitle(first.group) << "](" << first.group
       << ".md)\n\n| | |\n|---|---|\n";
    for (const Op &op : ops)
      if (op.group == first.group)
        os << "| " << code(op.name) << " | " << cell(op.summary) << " |\n";
  }
}

} // namespace

void emitDocs(const std::vector<Op> &ops, const std::string &group, raw_ostream &os) {
  if (group.empty())
    return emitList(ops, os);
  os << generatedNote << "# " << groupTitle(group) << "\n\n";
  std::string page;
  raw_string_ostream pageStream(page);
  for (const Op &op : ops)
    if (op.group == group)
      emitOp(op, pageStream);
  os << StringRef(pageStream.str()).rtrim() << '\n';
}

} // namespace ptl::tblgen
