#include "compile/source/header_facts.h"

#include "codegen/source/expression.h"

#include "llvm/Support/Casting.h"

#include <algorithm>

namespace ptl {

using source::ConstantValue;

/// The value of a folded constant; nothing for other expressions.
static std::optional<ConstantValue> constantOf(const Expr *expr) {
  const auto *constant = llvm::dyn_cast_or_null<ConstExpr>(expr);
  if (!constant)
    return std::nullopt;
  bool isReal = expr->type->elem.param || isFloat(expr->type->elem.kind);
  return ConstantValue{constant->floatValue, constant->intValue, isReal};
}

/// The values of whole constants, by the names that a declaration may use: its own, `limits.MOST` and what it imports by name.
static std::map<std::string, std::string> wholeConstants(const CallableDecl &decl) {
  std::map<std::string, std::string> texts;
  auto add = [&](const std::string &prefix, const CheckedModule &module) {
    for (const ConstDecl *each : module.consts)
      if (std::optional<ConstantValue> value = constantOf(each->value); value && !value->isReal) {
        std::string text = std::to_string(value->whole);
        texts.try_emplace(prefix + each->name, value->whole < 0 ? "(" + text + ")" : text);
      }
  };
  add("", *decl.module);
  for (const CheckedModule *import : decl.module->imports) {
    add(import->name.substr(import->name.rfind('.') + 1) + ".", *import);
    add("", *import);
  }
  // What the declaration has itself goes before names of the file.
  for (const Local *local : decl.locals)
    texts.erase(local->name);
  return texts;
}

/// The text with words, also ones with a dot, replaced by values.
static std::string withValues(std::string text, const std::map<std::string, std::string> &values) {
  // Names with a prefix first: their second word alone may be another constant.
  for (const auto &[name, value] : values)
    if (name.find('.') != name.npos)
      for (size_t at = 0; (at = text.find(name, at)) != text.npos; at += value.size())
        text.replace(at, name.size(), value);
  return source::renamed(text, values);
}

/// That a `fn` is associative is no condition on arguments: the kernels and programs made of it say nothing. Requirements on constants
/// alone hold.
static void addRequirements(const CallableDecl &decl, const std::map<std::string, int64_t> &statics,
                            source::EntryFacts &facts) {
  std::map<std::string, std::string> values = wholeConstants(decl), dims;
  for (const auto &[name, value] : statics)
    values[name] = dims[name] = std::to_string(value);
  for (const WhereClause &clause : decl.wheres) {
    std::string text = withValues(clause.text, values);
    bool isPromise = text == "associative";
    if (isPromise || clause.onTunables || source::identifiersOf(text).empty())
      continue;
    facts.wheres.push_back(text);
    facts.wheresAsWritten.push_back(source::renamed(clause.text, dims));
  }
}

static void addStrides(const CallableDecl &decl, DimContext &dims, source::EntryFacts &facts) {
  for (const Local *param : decl.params) {
    std::string text;
    for (Dim stride : param->type->strides)
      text += (text.empty() ? "[" : ", ") + source::dimension(dims.toString(stride)).text;
    if (!text.empty())
      facts.strides[param->name] = text + "]";
  }
}

static void addDefaults(const CallableDecl &decl, source::EntryFacts &facts) {
  for (size_t i = 0; i < decl.params.size() && i < decl.paramDefaults.size(); ++i)
    if (std::optional<ConstantValue> value = constantOf(decl.paramDefaults[i]))
      facts.defaults[decl.params[i]->name] = *value;
}

void addHeaderFacts(const CallableDecl &decl, const std::map<std::string, int64_t> &statics,
                    DimContext &dims, source::EntryFacts &facts) {
  addRequirements(decl, statics, facts);
  addStrides(decl, dims, facts);
  addDefaults(decl, facts);
}

} // namespace ptl
