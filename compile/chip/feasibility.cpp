#include "compile/chip/feasibility.h"

#include "compile/entry/manifest.h"
#include "compile/entry/reach.h"
#include "compile/native_code.h"

#include <algorithm>

namespace ptl {

bool isForChips(const CallableDecl &decl) {
  switch (decl.kind) {
  case DeclKind::Kernel:
  case DeclKind::ManualKernel:
  case DeclKind::Program:
    return entryProblem(decl).empty();
  default:
    return false;
  }
}

std::string chipSymbol(const BoundEntry &entry) { return "ptl_" + entry.name; }

ChipResult lowerEntry(const CompileContext &context, const BoundEntry &entry,
                      const OnPhase &onPhase) {
  ir::EntryBinding binding = entry.binding;
  binding.checked = !context.options().unchecked;
  std::optional<BuiltEntry> built = buildEntry(context, binding, chipSymbol(entry));
  return built ? lowerToChip(context, *built, onPhase) : ChipResult();
}

static bool isBroken(const CallableDecl &decl) {
  std::vector<const CallableDecl *> reach = reachableFrom(decl);
  return std::any_of(reach.begin(), reach.end(),
                     [](const CallableDecl *each) { return each->hasErrors; });
}

/// Whether a mere name, without that of a declaration before it, is one of this declaration.
static bool hasName(const CallableDecl &decl, const std::string &name) {
  auto isIt = [&](const std::string &other) { return other == name; };
  return std::any_of(decl.dims.begin(), decl.dims.end(),
                     [&](const DimParam &dim) { return isIt(dim.name); }) ||
         std::any_of(decl.typeParams.begin(), decl.typeParams.end(),
                     [&](const TypeParam *param) { return isIt(param->name); }) ||
         std::any_of(decl.tunables.begin(), decl.tunables.end(),
                     [&](const Tunable &tunable) { return isIt(tunable.local->name); });
}

/// Code is made for every length of a dimension that is not static, whatever examples have.
static bool isLength(const CallableDecl &decl, std::string_view name) {
  return std::any_of(decl.dims.begin(), decl.dims.end(),
                     [&](const DimParam &dim) { return !dim.isStatic && dim.name == name; });
}

std::vector<Wanted> wantedVariants(const CallableDecl &decl, const Wanted &wanted) {
  std::vector<Wanted> variants(1);
  for (const auto &[name, values] : wanted) {
    size_t dot = name.find('.');
    bool isOwn = dot == name.npos || dot == 0 ? hasName(decl, name) || name == ".."
                                              : name.substr(0, dot) == decl.name;
    isOwn &= !isLength(decl, std::string_view(name).substr(dot == name.npos ? 0 : dot + 1));
    std::vector<Wanted> longer;
    for (size_t begin = 0; isOwn && begin <= values.size();) {
      size_t end = std::min(values.find(',', begin), values.size());
      for (Wanted variant : variants) {
        variant[name] = values.substr(begin, end - begin);
        longer.push_back(std::move(variant));
      }
      begin = end + 1;
    }
    if (isOwn)
      variants = std::move(longer);
  }
  return variants;
}

/// Visits the kernels and programs of the root file for the machine with that name, with the values
/// that they are compiled for.
static void eachEntry(const CheckedProgram &program, std::string_view machine, const Wanted &wanted,
                      DiagnosticSink &sink, const std::function<void(const BoundEntry &)> &visit) {
  for (const CallableDecl *decl : program.modules.front()->callables) {
    // The checker has reported what is broken; lowering it would only add consequences.
    if (!isForChips(*decl) || !decl->isFor(machine) || isBroken(*decl))
      continue;
    for (const Wanted &variant : wantedVariants(*decl, wanted)) {
      std::string problem;
      for (const BoundEntry &entry : bindEntries(program, *decl, variant, problem))
        visit(entry);
      if (!problem.empty())
        sink.report(DiagId::BadRunArgument, kNoSpan, {decl->name, problem});
    }
  }
}

bool checkForChip(const CheckedProgram &program, const SourceManager &sources,
                  const CompilerOptions &options, const Wanted &wanted, DiagnosticSink &sink,
                  const OnLowered &onLowered) {
  bool isWell = true;
  eachEntry(program, options.chip->name, wanted, sink, [&](const BoundEntry &entry) {
    CompileContext context(program, sources, options, sink);
    ChipResult lowered = lowerEntry(context, entry);
    if (lowered.program && onLowered)
      onLowered(entry, *lowered.program);
    isWell &= !context.log().hadInternalError();
  });
  return isWell;
}

bool checkForCpu(const CheckedProgram &program, const SourceManager &sources,
                 const CompilerOptions &options, const Wanted &wanted, DiagnosticSink &sink,
                 const OnBlocks &onLowered) {
  bool isWell = true;
  eachEntry(program, "cpu", wanted, sink, [&](const BoundEntry &entry) {
    if (entry.binding.decl->kind == DeclKind::ManualKernel)
      return;
    CompileContext context(program, sources, options, sink);
    if (auto vectors = vectoriseEntry(context, entry.binding, chipSymbol(entry)))
      onLowered(entry, *vectors->module);
    isWell &= !context.log().hadInternalError();
  });
  return isWell;
}

} // namespace ptl
