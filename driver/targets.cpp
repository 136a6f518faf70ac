#include "codegen/machines/machine.h"
#include "driver/commands.h"

#include <cstdio>

namespace ptl {

static void printMachine(const Machine &machine) {
  std::printf("%s  %s%s\n", machine.name.c_str(), machine.summary.c_str(),
              machine.executable ? "" : " (not executable yet)");
  std::printf("  element types ");
  for (const std::string &type : machine.elementTypes)
    std::printf(" %s", type.c_str());
  std::printf("\n  cores         ");
  for (const MachineCore &core : machine.cores)
    std::printf(core.count ? " %s x %lld" : " %s, as many as the host has", core.kind.c_str(),
                static_cast<long long>(core.count));
  std::printf("\n  memories      ");
  for (const MemorySpace &memory : machine.memories)
    std::printf(memory.bytes ? " @%s %lld KiB" : " @%s", memory.place.c_str(),
                static_cast<long long>(memory.bytes / 1024));
  std::printf("\n");
}

ExitCode runTargets(const Options &options) {
  Session session(options);
  std::vector<MachineFile> files = builtinMachineFiles();
  for (const std::string &path : options.values(OptionId::Machine))
    if (std::optional<FileId> id = session.load(path))
      files.push_back({path, std::string(session.sources().file(*id).text())});
  std::string document = "[\n";
  for (const MachineFile &file : files) {
    std::string reason;
    std::optional<Machine> machine = parseMachine(file.text, &reason);
    if (!machine) {
      session.sink().report(DiagId::InvalidMachine, kNoSpan, {file.path, reason});
      continue;
    }
    if (options.has(OptionId::Json))
      document += (document.size() > 2 ? ",\n" : "") + file.text;
    else
      printMachine(*machine);
  }
  if (options.has(OptionId::Json))
    std::fputs((document + "]\n").c_str(), stdout);
  return session.finish();
}

} // namespace ptl
