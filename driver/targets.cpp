#include "common/words.h"
#include "driver/commands.h"
#include "driver/target.h"
#include "machines/levels.h"
#include "machines/machine.h"

#include <algorithm>
#include <cstdio>
#include <span>

namespace ptl {

static std::string sizeText(int64_t bytes) {
  if (bytes == 0)
    return "no limit";
  return bytes % 1024 ? std::to_string(bytes) + " B" : std::to_string(bytes / 1024) + " KiB";
}

static std::string coresText(const std::vector<MachineCore> &cores) {
  std::string text;
  for (const MachineCore &core : cores)
    text += (text.empty() ? "" : " + ") +
            (core.count ? std::to_string(core.count) + " " : std::string()) + core.kind;
  return text;
}

static std::string clockText(int64_t mhz) {
  return mhz ? std::to_string(mhz) + " MHz" : std::string();
}

/// `16 chips x 48 hosts`; empty for one chip.
static std::string levelsText(const MachineLevels &levels) {
  std::string text;
  for (const MachineLevel &level : levels.levels)
    text += (text.empty() ? "" : " x ") + std::to_string(level.count) + " " + level.name + "s";
  return text;
}

static void printLevels(const MachineLevels &levels) {
  if (!levels.known())
    return;
  std::printf("\nlevels\n");
  for (const MachineLevel &level : levels.levels) {
    std::printf("  %-9s %lld in each part of the next, %s; %g us", level.name.c_str(),
                static_cast<long long>(level.count), level.topology.c_str(), level.latencyUs);
    for (const auto &[rate, what] : {std::pair(level.linkRate, "a link"),
                                     {level.portRate, "a chip"},
                                     {level.partRate, "a part"}})
      if (rate > 0)
        std::printf(", %g GB/s of %s", rate, what);
    std::printf("%s%s; a movement starts in %g us\n",
                level.isSamePlace ? ", between chips at the same place" : "",
                level.throughInner ? ", through the port of the level inside" : "", level.startUs);
    if (level.diskRate > 0)
      std::printf("            they share a disk: %g GB/s, %g us until its first byte\n",
                  level.diskRate, level.diskUs);
  }
}

static void printRow(const Machine &machine, const MachineLevels &levels) {
  if (levels.known()) {
    std::printf("%-14s %s; %s\n", machine.name.c_str(), levelsText(levels).c_str(),
                machine.summary.c_str());
    return;
  }
  std::string memories;
  for (const char *place : {"vec", "mat", "left", "acc"})
    if (const MemorySpace *space = machine.space(place); space && space->bytes)
      memories += (memories.empty() ? "" : ", ") + std::string("@") + place + " " +
                  sizeText(space->usableBytes());
  std::printf("%-14s %-17s %-9s %s%s\n", machine.name.c_str(), coresText(machine.cores).c_str(),
              clockText(machine.clockMhz).c_str(), machine.summary.c_str(),
              machine.executable ? "" : "; does not run here");
  if (!memories.empty())
    std::printf("%42s %s\n", "", memories.c_str());
}

static std::string pairsText(const std::vector<NamePair> &pairs, const char *arrow) {
  std::string text;
  for (size_t i = 0; i < pairs.size(); ++i)
    // Pairs with the same left side are put together.
    if (i > 0 && pairs[i].first == pairs[i - 1].first)
      text += " " + pairs[i].second;
    else
      text += (text.empty() ? "" : ", ") + pairs[i].first + arrow + pairs[i].second;
  return text;
}

static void printMemories(const Machine &machine) {
  std::printf("\nmemories\n");
  for (const MemorySpace &memory : machine.memories) {
    std::string box;
    if (memory.fractal)
      box = ", boxes of " + std::to_string(memory.fractal->rows) + " x " +
            std::to_string(memory.fractal->bytes) + " B";
    std::string reserved =
        memory.reserved ? " + " + sizeText(memory.reserved) + " reserved" : std::string();
    std::printf("  @%-10s %-5s %s%s, aligned to %lld B, %s%s\n", memory.place.c_str(),
                memory.core.c_str(), sizeText(memory.usableBytes()).c_str(), reserved.c_str(),
                static_cast<long long>(memory.alignment), joined(memory.layouts).c_str(),
                box.c_str());
  }
}

static void printMoves(const Machine &machine) {
  if (!machine.moves.empty())
    std::printf("\nmoves\n");
  for (const Move &move : machine.moves) {
    std::printf("  %-18s %s.%-5s %s; %s; %s\n", (move.from + " -> " + move.to).c_str(),
                move.core.c_str(), move.pipe.c_str(), joined(move.instructions).c_str(),
                pairsText(move.layouts, "->").c_str(), joined(move.types).c_str());
    if (!move.conversions.empty())
      std::printf("  %28s converts %s\n", "", pairsText(move.conversions, " -> ").c_str());
    if (!move.quantized.empty())
      std::printf("  %28s with a scale %s\n", "", pairsText(move.quantized, " -> ").c_str());
  }
}

static void printSynchronisation(const Machine &machine) {
  if (machine.events == 0)
    return;
  std::printf("\nsynchronisation\n");
  for (const MachineCore &core : machine.cores)
    std::printf("  pipes of %s: %s\n", core.kind.c_str(), joined(core.pipes).c_str());
  std::printf("  %lld events for each ordered pair of pipes\n",
              static_cast<long long>(machine.events));
  std::string reserved;
  for (int64_t id : machine.crossCore.reserved)
    reserved += " " + std::to_string(id);
  std::printf("  %lld flags between cores%s%s\n", static_cast<long long>(machine.crossCore.flags),
              reserved.empty() ? "" : ", reserved:", reserved.c_str());
  std::printf("  vector instructions that depend on each other %s a barrier\n",
              machine.vectorBarrier ? "need" : "need no");
  std::printf("  %lld vector cores for a cube; tiles go between them through %s\n",
              static_cast<long long>(machine.exchange.vectorPerCube),
              machine.exchange.throughBuffer ? "the receiver's buffer" : "@gm");
}

/// `i8 i8 -> i32, f32 -> f16 bf16` of the rows with several types.
static std::string signatures(const std::vector<TypeRow> &rows) {
  std::vector<NamePair> pairs;
  for (const TypeRow &row : rows)
    if (row.size() > 1)
      pairs.push_back({joined(std::span(row).first(row.size() - 1)), row.back()});
  return pairsText(pairs, " -> ");
}

static void printInstructions(const Machine &machine) {
  if (machine.instructions.empty())
    return;
  std::printf("\ninstructions        ");
  for (const std::string &type : machine.elementTypes)
    std::printf(" %s", type.c_str());
  for (const InstructionTypes &instruction : machine.instructions) {
    std::string line;
    for (const std::string &type : machine.elementTypes) {
      bool takes = std::count(instruction.rows.begin(), instruction.rows.end(), TypeRow{type});
      line += " " + std::string(type.size() - 1, ' ') + (takes ? "x" : ".");
    }
    std::string more = signatures(instruction.rows);
    bool plain = line.find('x') != line.npos;
    std::printf("\n  %-18s%s%s%s", instruction.name.c_str(), plain ? line.c_str() : "",
                more.empty() ? ""
                : plain      ? "  "
                             : " ",
                more.c_str());
  }
  std::printf("\n");
  if (!machine.missing.empty())
    std::printf("\nnot on it\n");
  for (const auto &[name, reason] : machine.missing)
    std::printf("  %-18s %s\n", name.c_str(), reason.c_str());
}

static void printDetails(const Machine &machine, const MachineLevels &levels) {
  std::printf("%s: %s%s\n", machine.name.c_str(), machine.summary.c_str(),
              machine.executable ? "" : "; does not run here");
  printLevels(levels);
  if (machine.cores.empty())
    return;
  std::printf("element types: %s\n", joined(machine.elementTypes).c_str());
  std::printf("cores: %s", coresText(machine.cores).c_str());
  std::printf(machine.clockMhz ? ", %s\n" : "%s\n", clockText(machine.clockMhz).c_str());
  for (const MachineVariant &variant : machine.variants)
    std::printf("  %s:%s: %s, %s\n", machine.name.c_str(), variant.name.c_str(),
                coresText(variant.cores).c_str(), clockText(variant.clockMhz).c_str());
  printMemories(machine);
  printMoves(machine);
  printSynchronisation(machine);
  printInstructions(machine);
}

namespace {

/// The machines that a command line asks about.
struct Listing {
  std::vector<MachineFile> builtin;
  std::vector<MachineFile> own;
  bool details = false;
};

} // namespace

static Listing listingOf(Session &session) {
  Listing listing;
  listing.own = session.machines()->ownFiles();
  listing.builtin = builtinMachineFiles();
  const std::vector<std::string> &names = session.options().positional();
  listing.details = !names.empty() || session.options().has(OptionId::Machine);
  if (listing.details)
    std::erase_if(listing.builtin, [&](const MachineFile &file) {
      return std::find(names.begin(), names.end(), file.path) == names.end();
    });
  return listing;
}

static void print(const Listing &listing) {
  auto *show = listing.details ? printDetails : printRow;
  for (const MachineFile &file : listing.builtin)
    if (std::optional<Machine> machine = findMachine(file.path))
      show(*machine, findLevels(file.path));
  for (const MachineFile &file : listing.own) {
    std::string reason; // has been reported
    if (std::optional<Machine> machine = parseMachine(file.text, &reason, listing.own))
      show(*machine, findLevels(machine->name, listing.own));
  }
}

static void printJson(const Listing &listing) {
  std::vector<MachineFile> files = listing.builtin;
  files.insert(files.end(), listing.own.begin(), listing.own.end());
  std::string document;
  for (const MachineFile &file : files) {
    std::string reason;
    if (std::optional<std::string> text = machineJson(file.text, &reason, listing.own))
      document += (document.empty() ? "" : ",\n") + *text;
  }
  std::printf("[\n%s\n]\n", document.c_str());
}

static std::string unknownName(const std::vector<std::string> &names) {
  std::string known;
  for (const MachineFile &file : builtinMachineFiles())
    known += (known.empty() ? "`" : ", `") + file.path + "`";
  for (const std::string &name : names)
    if (known.find("`" + name + "`") == known.npos)
      return "there is no machine `" + name + "`; there are " + known;
  return "";
}

ExitCode runTargets(const Options &options) {
  if (std::string error = unknownName(options.positional()); !error.empty())
    return usageError(error);
  Session session(options);
  Listing listing = listingOf(session);
  (options.has(OptionId::Json) ? printJson : print)(listing);
  return session.finish();
}

} // namespace ptl
