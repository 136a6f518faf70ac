// Modules as `.pto`, and what changed between the versions of PTOAS.
#include "codegen/pto/emit_pto.h"

#include "codegen/pto/emit_pto_function.h"
#include "codegen/pto/loops_as_blocks.h"
#include "common/read_number.h"
#include "ir/dialect/attributes.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace ptl::pto {

// ---- versions -----------------------------------------------------------------------------------

std::optional<PtoasVersion> PtoasVersion::parse(std::string_view text) {
  if (!text.starts_with("0."))
    return std::nullopt;
  PtoasVersion version;
  auto minor = integerIn<decltype(version.minor)>(text.substr(2));
  if (!minor || *minor < kFirst)
    return std::nullopt;
  version.minor = *minor;
  return version;
}

bool hasChanged(PtoasVersion version, std::string_view arch, PtoasChange change) {
  struct Row {
    unsigned since;
    std::string_view arch;
  };
  static constexpr Row rows[] = {
#define CHANGE(SINCE, ID, ARCH, WHAT) {SINCE, ARCH},
#include "codegen/pto/ptoas_versions.def"
  };
  const Row &row = rows[static_cast<size_t>(change)];
  // An empty architecture means that the change concerns all of them.
  return version.minor >= row.since && (row.arch.empty() || row.arch == arch);
}

std::string_view ptoasName(PtoasVersion version, std::string_view operation) {
#define RENAMED(SINCE, NAME, SPELLING)                                                             \
  if (operation == NAME && version.minor >= SINCE)                                                 \
    return SPELLING;
#include "codegen/pto/ptoas_versions.def"
  return operation;
}

// ---- modules ------------------------------------------------------------------------------------

namespace {

/// The functions of a kernel as the version takes them.
TextLines emitFunctions(ModuleOp kernel, const Machine &machine, PtoasVersion version,
                        const TypeAliases &types, std::vector<Finding> &findings) {
  TextLines code;
  IRMapping copies;
  OwningOpRef<ModuleOp> copy;
  // Before the version that takes nested `while`, functions that have one are printed as basic
  // blocks, from a copy: the kernel itself must stay as it is.
  bool inBlocks = !hasChanged(version, machine.tools.ptoas, PtoasChange::NestedWhile) &&
                  llvm::any_of(kernel.getOps<func::FuncOp>(), needsBlocks);
  if (inBlocks) {
    copy = cast<ModuleOp>(kernel->clone(copies));
    kernel = *copy;
    for (func::FuncOp function : kernel.getOps<func::FuncOp>())
      if (needsBlocks(function))
        makeBlocks(function);
  }
  // Findings of other kernels, which are not about the copy, come before these.
  size_t before = findings.size();
  for (func::FuncOp function : kernel.getOps<func::FuncOp>())
    code.append(emitFunction(function, machine, version, types, findings));
  if (!inBlocks)
    return code;
  // Lines and findings refer to operations of the copy, which ends here, so they are mapped to the
  // originals.
  llvm::DenseMap<Operation *, Operation *> originals;
  for (auto [original, made] : copies.getOperationMap())
    originals[made] = original;
  code.mapOperations([&](Operation *op) { return originals.lookup(op); });
  for (size_t i = before; i < findings.size(); ++i)
    if (findings[i].place)
      findings[i].place->operation = originals.lookup(findings[i].place->operation);
  return code;
}

} // namespace

Emitted emitPto(ModuleOp kernel, const Machine &machine, PtoasVersion version) {
  return emitPto(llvm::ArrayRef<ModuleOp>(kernel), machine, version);
}

Emitted emitPto(llvm::ArrayRef<ModuleOp> kernels, const Machine &machine, PtoasVersion version) {
  TextLines text, code;
  std::vector<Finding> findings;
  TypeAliases types(kernels);
  std::string listed;
  for (ModuleOp kernel : kernels) {
    StringAttr name;
    code.append(emitFunctions(kernel, machine, version, types, findings));
    for (func::FuncOp function : kernel.getOps<func::FuncOp>())
      name = attrs::kernel.of(function);
    listed += (listed.empty() ? "`" : ", `") + (name ? name.str() : std::string("kernel")) + "`";
  }
  text.add("// " + listed + " for " + machine.name + ". ptoas --pto-arch=" + machine.tools.ptoas +
           " --pto-level=level3");
  for (const std::string &definition : types.definitions())
    text.add(definition);
  text.add("module attributes {\"pto.target_arch\" = \"" + machine.tools.ptoas + "\"} {");
  text.append(std::move(code));
  text.add("}");
  return text.finish(std::move(findings));
}

} // namespace ptl::pto
