#include "ir/tblgen/backends.h"

#include "frontend/base/elem_type.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <map>
#include <set>

using namespace llvm;

namespace ptl::tblgen {

void emitWords(const std::vector<Op> &ops, raw_ostream &os) {
  std::map<std::string, std::set<std::string>> groups;
  std::set<std::string> operators;
  for (const Op &op : ops)
    if (op.isOperator)
      operators.insert(op.name);
    else if (op.id != "Convert")
      groups[op.group].insert(op.name);
  json::Object groupObject;
  for (const auto &[group, names] : groups)
    groupObject[group] = json::Array(names);
  json::Array elementTypes;
  for (const ElemInfo &info : elemInfos)
    elementTypes.push_back(std::string(info.name));
  json::Object words{{"groups", std::move(groupObject)},
                     {"operators", json::Array(operators)},
                     {"elementTypes", std::move(elementTypes)}};
  os << formatv("{0:2}", json::Value(std::move(words))) << '\n';
}

void emitCoverage(const std::vector<Op> &ops, raw_ostream &os) {
  for (const Op &op : ops) {
    os << op.mnemonic << '\t' << op.name << '\t' << op.opClass;
    for (size_t i = 0; i < op.support.size(); ++i)
      os << '\t' << targetNames[i] << '=' << StringRef(op.support[i].kind).lower();
    os << '\n';
  }
}

} // namespace ptl::tblgen
