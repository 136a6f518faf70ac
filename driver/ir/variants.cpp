#include "driver/ir/variants.h"

#include "compile/entry/binding.h"
#include "compile/entry/choose_entry.h"
#include "driver/ir/commands.h"
#include "frontend/base/given_value.h"

#include <algorithm>
#include <map>

namespace ptl {

namespace {

/// Values by `entry.name`, in the order given.
using Defines = std::map<std::string, std::vector<std::string>>;

Defines readDefines(const Options &options) {
  Defines defines;
  for (const std::string &define : options.values(OptionId::Define)) {
    size_t equals = define.find('=');
    // Defines without an entry are for the checker.
    if (equals == define.npos || define.substr(0, equals).find('.') == define.npos)
      continue;
    std::vector<std::string> &values = defines[define.substr(0, equals)];
    for (size_t begin = equals + 1; begin <= define.size();) {
      size_t end = std::min(define.find(',', begin), define.size());
      values.push_back(define.substr(begin, end - begin));
      begin = end + 1;
    }
  }
  return defines;
}

/// One generic part of an entry and the values it is compiled for.
struct Axis {
  enum class Kind { Static, Elem, Leading } kind;
  std::string name;
  std::vector<std::string> values;
  const TypeParam *type = nullptr; ///< of `Elem`
};

std::vector<Axis> axesOf(const CallableDecl &decl, const Defines &defines) {
  std::vector<Axis> axes;
  auto add = [&](Axis::Kind kind, const std::string &name, const TypeParam *type = nullptr) {
    auto it = defines.find(decl.name + "." + name);
    axes.push_back(
        {kind, name, it == defines.end() ? std::vector<std::string>{} : it->second, type});
  };
  for (const DimParam &dim : decl.dims)
    if (dim.isStatic)
      add(Axis::Kind::Static, dim.name);
  for (const TypeParam *param : decl.typeParams)
    add(Axis::Kind::Elem, param->name, param);
  if (decl.hasPrefix)
    add(Axis::Kind::Leading, "..");
  return axes;
}

/// Applies one value to a variant; says what is wrong with it.
std::string apply(ManifestVariant &variant, const Axis &axis, const std::string &value) {
  if (axis.kind == Axis::Kind::Elem) {
    variant.elems.push_back(elemKindByName(value).value_or(ElemKind::F32));
    variant.symbol += "_" + value;
    return elementProblem(*axis.type, value);
  }
  int64_t number = givenNumber(value).value_or(-1);
  if (number < 0)
    return "`" + value + "` is not a value for it";
  if (axis.kind == Axis::Kind::Leading)
    variant.leading = static_cast<uint32_t>(number);
  else
    variant.statics[axis.name] = number;
  variant.symbol += "_" + (axis.kind == Axis::Kind::Leading ? "rank" : axis.name) + value;
  return {};
}

std::vector<ManifestVariant> variantsOf(Session &session, const CallableDecl &decl,
                                        const Defines &defines) {
  std::vector<ManifestVariant> variants = {{"ptl_" + decl.name, {}, {}, 0}};
  for (const Axis &axis : axesOf(decl, defines)) {
    std::vector<ManifestVariant> longer;
    // Each axis multiplies the variants by its values; an axis without values leaves none.
    for (const ManifestVariant &variant : variants)
      for (const std::string &value : axis.values) {
        longer.push_back(variant);
        if (std::string wrong = apply(longer.back(), axis, value); !wrong.empty())
          session.sink().report(DiagId::BadRunArgument, kNoSpan,
                                {decl.name + "." + axis.name, wrong});
      }
    variants = std::move(longer);
  }
  return variants;
}

bool isNamed(const CallableDecl &decl, const Defines &defines) {
  return std::any_of(defines.begin(), defines.end(), [&](const auto &define) {
    return define.first.substr(0, decl.name.size() + 1) == decl.name + ".";
  });
}

} // namespace

std::vector<ManifestEntry> chooseVariants(Session &session, const CheckedProgram &program) {
  Defines defines = readDefines(session.options());
  std::vector<const CallableDecl *> all, wanted;
  if (session.options().has(OptionId::Entry)) {
    if (const CallableDecl *entry = chooseEntry(session, program))
      wanted.push_back(entry);
  } else {
    for (const CallableDecl *decl : program.modules.front()->callables) {
      if (!isCallable(*decl) || !entryProblem(*decl).empty())
        continue;
      all.push_back(decl);
      if (decl->isPub || isNamed(*decl, defines))
        wanted.push_back(decl);
    }
    // A file that exports nothing is compiled as a whole.
    if (wanted.empty())
      wanted = all;
    if (wanted.empty())
      session.sink().report(DiagId::NoEntry, kNoSpan, {"the file has nothing to call"});
  }
  std::vector<ManifestEntry> entries;
  for (const CallableDecl *decl : wanted)
    entries.push_back({decl, variantsOf(session, *decl, defines)});
  return entries;
}

std::string missingDefines(const CallableDecl &decl) {
  std::string text;
  for (const Axis &axis : axesOf(decl, {})) {
    std::string_view example = axis.kind == Axis::Kind::Elem ? elemName(usualElement(*axis.type))
                               : axis.kind == Axis::Kind::Leading ? "1"
                                                                  : "512";
    text += (text.empty() ? "-D " : " -D ") + decl.name + "." + axis.name + "=";
    text += example;
  }
  return text;
}

std::map<std::string, int64_t> tunablesGiven(Session &session, const CallableDecl &decl) {
  std::map<std::string, int64_t> given;
  for (const std::string &define : session.options().values(OptionId::Define)) {
    size_t equals = define.find('=');
    std::string name = define.substr(0, equals);
    for (const Tunable &tunable : decl.tunables) {
      const std::string &own = tunable.local->name;
      if (equals == define.npos || (name != own && name != decl.name + "." + own))
        continue;
      std::string text = define.substr(equals + 1);
      int64_t value = givenNumber(text).value_or(-1);
      bool isLegal = tunable.domain.empty() ||
                     std::ranges::find(tunable.domain, value) != tunable.domain.end();
      if (value < (tunable.isBool ? 0 : 1) || (tunable.isBool && value > 1))
        session.sink().report(DiagId::BadRunArgument, kNoSpan,
                              {name, "`" + text + "` is not a value for it"});
      else if (!isLegal)
        session.sink().report(DiagId::BadRunArgument, kNoSpan,
                              {name, "`" + text + "` is not in its domain"});
      else
        given[own] = value;
    }
  }
  return given;
}

ir::EntryBinding bindingOf(Session &session, const ManifestEntry &entry,
                           const ManifestVariant &variant) {
  ir::EntryBinding binding;
  binding.decl = entry.decl;
  binding.elems = variant.elems;
  binding.prefixRank = variant.leading;
  binding.statics = variant.statics;
  binding.checked = !session.options().has(OptionId::Unchecked);
  binding.tunables = tunablesGiven(session, *entry.decl);
  return binding;
}

} // namespace ptl
