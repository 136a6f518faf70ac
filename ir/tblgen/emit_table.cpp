#include "ir/tblgen/backends.h"
#include "ir/tblgen/cpp_text.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <map>

using namespace llvm;

namespace ptl::tblgen {
namespace {

std::string emitParams(const Op &op, raw_ostream &os) {
  std::vector<std::string> items;
  for (const Param &p : op.params) {
    std::string values =
        array(os, "std::string_view", "values_" + op.id + "_" + p.name, quotedAll(p.values));
    items.push_back("\n    {" + quoted(p.name) + ", ParamKind::" + p.kind + ", " +
                    flag(p.optional) + ", " + flag(p.keyword) + ", " + flag(p.variadic) + ", " +
                    quoted(p.defaultText) + ", " + values + ", " + quoted(p.doc) + "}");
  }
  return array(os, "OpParam", "params_" + op.id, items);
}

std::string emitTypes(const std::string &prefix, const std::vector<ParsedType> &types,
                      raw_ostream &os) {
  std::vector<std::string> items;
  for (const ParsedType &t : types) {
    std::vector<std::string> dims;
    for (unsigned dim : t.dims)
      dims.push_back(std::to_string(dim));
    std::string dimArray =
        array(os, "uint8_t", prefix + "_dims" + std::to_string(items.size()), dims);
    items.push_back("\n    {{ElemPatternKind::" + t.elemKind + ", " + std::to_string(t.elemVar) +
                    ", ElemKind::" + t.concrete + "}, {ShapePatternKind::" + t.shapeKind + ", " +
                    flag(t.hasRest) + ", " + dimArray + "}, " + flag(t.optional) + ", " +
                    flag(t.variadic) + ", " + flag(t.fromArrayArg) + "}");
  }
  return array(os, "TypePattern", prefix, items);
}

std::string emitSignatures(const Op &op, raw_ostream &os) {
  std::vector<std::string> items;
  for (const ParsedSignature &s : op.signatures) {
    std::string suffix = op.id + std::to_string(items.size());
    std::vector<std::string> vars;
    for (const auto &[name, constraint] : s.elemVars)
      vars.push_back("{" + quoted(name) + ", ElemConstraint::" + constraint + "}");
    std::string varArray = array(os, "ElemVar", "vars_" + suffix, vars);
    std::string dimArray = array(os, "std::string_view", "dims_" + suffix, quotedAll(s.dimVars));
    std::string operands = emitTypes("operands_" + suffix, s.operands, os);
    std::string results = emitTypes("results_" + suffix, s.results, os);
    items.push_back("\n    {" + quoted(s.text) + ", " + varArray + ", " + dimArray + ", " +
                    operands + ", " + results + "}");
  }
  return array(os, "Signature", "signatures_" + op.id, items);
}

std::string emitRecord(const Op &op, raw_ostream &os) {
  std::string aliases = array(os, "std::string_view", "aliases_" + op.id, quotedAll(op.aliases));
  std::string params = emitParams(op, os);
  std::string signatures = emitSignatures(op, os);
  std::vector<std::string> support;
  for (const Support &s : op.support)
    support.push_back("{SupportKind::" + s.kind + ", " + quoted(s.detail) + "}");
  return "    {OpId::" + op.id + ", " + quoted(op.name) + ", " + aliases + ", " +
         quoted(op.mnemonic) + ", " + quoted(op.group) + ",\n     " + quoted(op.summary) +
         ",\n     " + quoted(op.description) + ",\n     " + params + ", " + signatures +
         ",\n     " + quoted(op.example) + ",\n     OpClass::" + op.opClass +
         ", OpEffect::" + op.effect + ", CoreKind::" + op.core + ", " + quoted(op.pipe) + ", " +
         quoted(op.flops) + ", " + quoted(op.bytes) + ",\n     {" + join(support, ", ") + "}, " +
         flag(op.isOperator) + ", " + flag(op.customCheck) + ", AxisFlow::" + op.axisFlow +
         ", Linearity::" + op.linearity + "},\n";
}

} // namespace

void emitOpIds(const std::vector<Op> &ops, raw_ostream &os) {
  for (const Op &op : ops)
    os << "PTL_OP(" << op.id << ")\n";
}

void emitOpTable(const std::vector<Op> &ops, raw_ostream &os) {
  std::string table;
  for (const Op &op : ops)
    table += emitRecord(op, os);
  os << "static constexpr OpRecord opRecords[] = {\n" << table << "};\n";

  // Names and aliases in alphabetic order, each with its records in order of the table.
  std::map<std::string, std::vector<std::string>> byName;
  for (const Op &op : ops) {
    std::string entry = "&opRecords[static_cast<size_t>(OpId::" + op.id + ")]";
    byName[op.name].push_back(entry);
    for (const std::string &alias : op.aliases)
      byName[alias].push_back(entry);
  }
  std::vector<std::string> index;
  for (const auto &[name, entries] : byName)
    index.push_back("\n    {" + quoted(name) + ", " +
                    array(os, "const OpRecord *", "named" + std::to_string(index.size()), entries) +
                    "}");
  array(os, "OpName", "opNames", index);
}

} // namespace ptl::tblgen
