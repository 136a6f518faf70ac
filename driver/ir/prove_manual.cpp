// `ptlc check` of files with manual kernels: after the checker, the prover judges what is written
// by hand.
#include "driver/ir/chip.h"
#include "driver/ir/commands.h"
#include "driver/ir/compiler.h"

namespace ptl {

/// The machines to judge a kernel for: one of each family of instructions.
static std::vector<Machine> machinesOf(const CallableDecl &decl, std::string_view target) {
  std::vector<Machine> machines;
  auto add = [&](std::string_view name) {
    const Machine *machine = knownMachine(name);
    if (!machine || machine->executable || machine->tools.ptoas.empty())
      return;
    for (const Machine &other : machines)
      if (other.tools.ptoas == machine->tools.ptoas)
        return;
    machines.push_back(*machine);
  };
  for (const std::string &name : decl.targets)
    if (target.empty() || name == target)
      add(name);
  if (decl.targets.empty() && target.empty())
    for (const MachineFile &file : builtinMachineFiles())
      add(file.path);
  else if (decl.targets.empty())
    add(target);
  return machines;
}

/// A variant with a value for whatever the kernel is specialised for; nothing where `-D` does not
/// give one.
static std::optional<ir::EntryBinding> bindingFor(Session &session, const CallableDecl &decl) {
  ir::EntryBinding binding;
  binding.decl = &decl;
  std::string missing;
  for (const DimParam &dim : decl.dims) {
    if (!dim.isStatic)
      continue;
    auto values = session.options().values(OptionId::Define);
    std::string key = decl.name + "." + dim.name + "=";
    for (const std::string &define : values)
      if (define.rfind(key, 0) == 0)
        binding.statics[dim.name] = std::atoll(define.c_str() + key.size());
    if (!binding.statics.count(dim.name))
      missing += (missing.empty() ? "`-D " : ", `-D ") + key + "…`";
  }
  for (const TypeParam *param : decl.typeParams)
    missing += (missing.empty() ? "" : ", ") + std::string("a type for `") + param->name + "`";
  if (decl.hasPrefix)
    missing += (missing.empty() ? "" : ", ") + std::string("the axes of `..`");
  if (missing.empty())
    return binding;
  session.sink().report(
      DiagId::CannotBeProved, decl.nameSpan,
      {"the order of `" + decl.name + "` depends on what it is compiled for: give " + missing});
  return std::nullopt;
}

static void proveKernel(Session &session, const CheckedProgram &program, const CallableDecl &decl) {
  std::optional<ir::EntryBinding> binding = bindingFor(session, decl);
  if (!binding)
    return;
  size_t errors = session.sink().errorCount();
  for (const Machine &machine : machinesOf(decl, session.options().value(OptionId::Target))) {
    CompilerOptions options = compilerOptions(session.options(), Target{machine.name, machine});
    Compiler compiler(program, session.sources(), std::move(options), session.sink());
    if (mlir::OwningOpRef<mlir::ModuleOp> module = compiler.build(*binding, "ptl_" + decl.name))
      compiler.lowerToChip(*module);
    if (session.sink().errorCount() != errors)
      return; // the same again on other machines
  }
}

ExitCode runCheckManual(const Options &options) {
  Session session(options);
  for (const std::string &path : options.positional()) {
    std::unique_ptr<CheckedProgram> program = session.check(path);
    if (!program || session.failed())
      continue;
    for (const CallableDecl *decl : program->modules.front()->callables)
      if (decl->kind == DeclKind::ManualKernel && !decl->hasErrors)
        session.timed("prove", [&] { proveKernel(session, *program, *decl); });
  }
  session.writeDependencies(options.positional().front());
  return session.finish();
}

} // namespace ptl
