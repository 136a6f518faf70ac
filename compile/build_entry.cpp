#include "compile/build_entry.h"

#include "compile/entry/manifest.h"

#include "mlir/IR/Verifier.h"

namespace ptl {

/// Element types that a machine's file does not list; `int` is every machine's.
static std::vector<ElemKind> lackingTypes(const Machine &machine) {
  std::vector<ElemKind> lacking;
  for (const ElemInfo &info : elemInfos)
    // Conditions are masks on chips; their arrays in memory are another matter.
    if (info.kind != ElemKind::Int && info.kind != ElemKind::Bool &&
        !llvm::is_contained(machine.elementTypes, info.name))
      lacking.push_back(info.kind);
  return lacking;
}

/// A binding with what the options say of the machine.
static ir::EntryBinding bindingFor(const CompileContext &context, ir::EntryBinding binding) {
  const CompilerOptions &options = context.options();
  binding.ranges = options.ranges;
  if (options.chip) {
    binding.machine = options.chip->name;
    binding.chip = &*options.chip;
    binding.ranges = true; // errors of the block level are about places in the source
  } else if (binding.decl) {
    // Code of this processor is called by the runtime, which reads the manifest.
    binding.checkedByCaller = elementsCheckedByCaller(context.program(), *binding.decl);
  }
  binding.lacking = lackingTypes(options.chip ? *options.chip : *knownMachine("cpu"));
  return binding;
}

TensorModule copyOf(const TensorModule &tensor) { return {tensor.module.get().clone()}; }

std::optional<BuiltEntry> buildEntry(const CompileContext &context, const ir::EntryBinding &binding,
                                     const std::string &symbol) {
  context.step("build");
  ir::EntryBinding wanted = bindingFor(context, binding);
  mlir::OwningOpRef<mlir::ModuleOp> module = runStage(context, "build", {}, [&](std::string &) {
    auto built = ir::buildIr(context.mlir(), context.program(), context.sources(), wanted, symbol,
                             context.sink());
    if (built && mlir::failed(mlir::verify(*built)))
      built = nullptr;
    return built;
  });
  if (!module)
    return std::nullopt;
  if (context.log().dumps())
    context.log().dump("tensor.mlir", textOf(*module));
  return BuiltEntry{std::move(wanted), {std::move(module)}};
}

TensorModule joinEntries(const CompileContext &context, std::vector<BuiltEntry> entries) {
  if (entries.empty())
    return {mlir::ModuleOp::create(mlir::UnknownLoc::get(&context.mlir()))};
  TensorModule all = std::move(entries.front().tensor);
  mlir::Block *body = all.module->getBody();
  for (size_t i = 1; i < entries.size(); ++i)
    body->getOperations().splice(body->end(), entries[i].tensor.module->getBody()->getOperations());
  return all;
}

} // namespace ptl
