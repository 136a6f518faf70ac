#include "driver/ir/prove_manual.h"

#include "compile/chip/feasibility.h"
#include "driver/ir/command_options.h"

namespace ptl {

/// The machines that a kernel names, or all chips: one of each family of instructions.
static std::vector<Machine> machinesOf(const CallableDecl &decl, const MachineSet &known) {
  std::vector<std::string> names = decl.targets;
  if (names.empty())
    names = known.names();
  std::vector<Machine> machines;
  for (const std::string &name : names) {
    const Machine *machine = known.find(name);
    bool isChip = machine && !machine->executable && !machine->tools.ptoas.empty();
    // Machines of one family have the same instructions, so one of them is enough.
    auto isKnown = [&](const Machine &other) { return other.tools.ptoas == machine->tools.ptoas; };
    if (isChip && std::none_of(machines.begin(), machines.end(), isKnown))
      machines.push_back(*machine);
  }
  return machines;
}

bool proveManual(Session &session, const CheckedProgram &program, const Wanted &wanted) {
  bool isWell = true;
  for (const CallableDecl *decl : program.modules.front()->callables) {
    if (decl->kind != DeclKind::ManualKernel || decl->hasErrors || !isForChips(*decl))
      continue;
    size_t errors = session.sink().errorCount();
    for (const Machine &machine : machinesOf(*decl, *session.machines())) {
      std::string problem;
      for (const BoundEntry &entry : bindEntries(program, *decl, wanted, problem)) {
        CompileContext context(program, session.sources(),
                               compilerOptions(session.options(), Target{machine.name, machine}),
                               session.sink());
        // Lowering a manual kernel runs the prover, whose findings are what is wanted.
        lowerEntry(context, entry);
        isWell &= !context.log().hadInternalError();
      }
      if (!problem.empty())
        session.sink().report(DiagId::BadRunArgument, kNoSpan, {decl->name, problem});
      if (session.sink().errorCount() != errors)
        break; // other machines say the same again
    }
  }
  return isWell;
}

} // namespace ptl
