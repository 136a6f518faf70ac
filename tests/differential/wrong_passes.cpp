// Makes passes on the way to a chip wrong, one at a time and at one place, and says who finds it:
// the prover, which judges all that leaves the compiler, or the run of every stage on drawn
// arguments (`--verify-each=run`).
//   ptl_wrong_passes [--target CHIPS] [--sites N] [--list] [--std FOLDER] FILE...
// A change with which nobody finds fault gives the same results after every pass: then it is
// harmless. So what counts is who is first, by kinds of faults; a kind that never shows at all
// makes the run fail, and so does a compiler that ends without a word. With --list every change is
// named.
#include "common/tool_number.h"
#include "compile/call/drawn_call.h"
#include "compile/entry/binding.h"
#include "frontend/sema/check.h"
#include "ir/dialect/cross_core.h"
#include "ir/dialect/instruction_op.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/wait.h>
#include <unistd.h>

using namespace mlir;

namespace ptl {
namespace {

// ---- faults -------------------------------------------------------------------------------------

/// The one that makes a tile; null where it is no buffer of its own.
Operation *bufferOf(Value tile) {
  Operation *maker = tile.getDefiningOp();
  return maker && isa<pto::AllocTileOp>(maker) ? maker : nullptr;
}

/// Whether `tile` could stand where `other` is used.
bool canStandFor(Value tile, Value other) {
  Operation *maker = tile.getDefiningOp(), *made = bufferOf(other);
  if (tile == other || tile.getType() != other.getType() || !maker || !made)
    return false;
  Operation *here = maker->getBlock()->findAncestorOpInBlock(*made);
  return here && maker->isBeforeInBlock(here);
}

/// The value of a copy is the copy: what it was made from is changed with it.
bool dropCopy(Operation *op, bool makes) {
  pto::Instruction copy(op);
  if (!copy || copy.id() != InstructionId::TMov || copy.ins().size() != 1 ||
      !canStandFor(copy.ins()[0], copy.outs()[0]))
    return false;
  if (!makes)
    return true;
  Value from = copy.ins()[0], to = copy.outs()[0];
  op->erase();
  to.replaceAllUsesWith(from);
  return true;
}

/// A square tile is handed on as it is.
bool dropTranspose(Operation *op, bool makes) {
  pto::Instruction transpose(op);
  if (!transpose || transpose.id() != InstructionId::TTrans ||
      transpose.ins()[0].getType() != transpose.outs()[0].getType())
    return false;
  if (!makes)
    return true;
  OpBuilder builder(op);
  pto::emitInstruction(builder, op->getLoc(), InstructionId::TMov, {transpose.ins()[0]},
                       {transpose.outs()[0]});
  op->erase();
  return true;
}

/// An instruction that reads elements elsewhere than it writes them gets one buffer for both.
bool updateInPlace(Operation *op, bool makes) {
  pto::Instruction instruction(op);
  if (!instruction || instruction.info().has(InstructionInfo::InPlace) ||
      instruction.outs().size() != 1 || instruction.id() == InstructionId::TMov)
    return false;
  for (Value in : instruction.ins())
    if (isa<pto::TileBufType>(in.getType()) && canStandFor(in, instruction.outs()[0])) {
      if (makes)
        instruction.outs()[0].replaceAllUsesWith(in);
      return true;
    }
  return false;
}

/// Both vector cores take themselves for the first: they do everything, with effects too.
bool runOnBoth(Operation *op, bool makes) {
  auto index = dyn_cast<pto::GetSubBlockIdxOp>(op);
  if (!index)
    return false;
  if (!makes)
    return true;
  OpBuilder builder(op);
  Value zero = builder.create<arith::ConstantOp>(
      op->getLoc(), builder.getIntegerAttr(op->getResult(0).getType(), 0));
  op->getResult(0).replaceAllUsesWith(zero);
  op->erase();
  return true;
}

/// No core tells the other kind of core, and none waits: all of one event of a kernel.
bool dropMeeting(Operation *op, bool makes) {
  auto signal = dyn_cast<pto::SyncSetOp>(op);
  auto id = signal ? signal.getEventId().getDefiningOp<arith::ConstantIndexOp>() : nullptr;
  if (!id)
    return false;
  if (!makes)
    return true;
  llvm::SmallVector<Operation *> ends;
  op->getParentOfType<ModuleOp>().walk([&](Operation *other) {
    if (isa<pto::SyncSetOp, pto::SyncWaitOp>(other))
      if (auto its = other->getOperand(0).getDefiningOp<arith::ConstantIndexOp>();
          its && its.value() == id.value())
        ends.push_back(other);
  });
  for (Operation *end : ends)
    end->erase();
  return true;
}

/// The `number`-th wait for the other kind of core, in the text of a function.
pto::SyncWaitOp meetingOf(func::FuncOp function, int number) {
  pto::SyncWaitOp found;
  function.walk([&](pto::SyncWaitOp wait) {
    if (number-- == 0)
      found = wait;
  });
  return found;
}

/// The nearest operation before or behind a meeting, in the same block, that accesses an array over
/// which the cores meet.
Operation *nextAccess(pto::SyncWaitOp wait, bool behind) {
  auto reaches = [&](Operation *op) {
    pto::Instruction instruction(op);
    return instruction && llvm::any_of(op->getOperands(), [&](Value operand) {
             return llvm::is_contained(wait.getOrders(), pto::rootOf(operand));
           });
  };
  auto step = [&](Operation *op) { return behind ? op->getNextNode() : op->getPrevNode(); };
  for (Operation *op = step(wait); op && !isa<pto::SyncWaitOp>(op); op = step(op))
    if (op->walk([&](Operation *inner) {
            return reaches(inner) ? WalkResult::interrupt() : WalkResult::advance();
          }).wasInterrupted())
      return op;
  return nullptr;
}

/// Cores meet all the same, but one before it stores what the other then has read already.
bool meetOnWrongSide(Operation *op, bool makes) {
  auto wait = dyn_cast<pto::SyncWaitOp>(op);
  if (!wait)
    return false;
  auto own = op->getParentOfType<func::FuncOp>();
  int number = -1;
  bool isPast = false;
  own.walk([&](pto::SyncWaitOp each) {
    number += !isPast;
    isPast |= each == wait;
  });
  Operation *behind = nextAccess(wait, /*behind=*/true);
  for (auto other : op->getParentOfType<ModuleOp>().getOps<func::FuncOp>()) {
    pto::SyncWaitOp its = other == own ? pto::SyncWaitOp() : meetingOf(other, number);
    Operation *before = its ? nextAccess(its, /*behind=*/false) : nullptr;
    if (!before || !behind)
      continue;
    auto move = [](pto::SyncWaitOp met, Operation *to, bool after) {
      Operation *set = met->getNextNode(), *previous = met->getPrevNode();
      bool isFirst = !isa_and_nonnull<pto::SyncSetOp>(previous); // it waits, then signals
      Operation *one = isFirst ? met.getOperation() : previous, *two = isFirst ? set : met;
      after ? one->moveAfter(to) : one->moveBefore(to);
      two->moveAfter(one);
    };
    if (makes) {
      move(wait, behind, /*after=*/true);
      move(its, before, /*after=*/false);
    }
    return true;
  }
  return false;
}

bool swapOperands(Operation *op, bool makes) {
  llvm::StringRef name = op->getName().getStringRef();
  bool matters = name == "ptl.sub" || name == "ptl.div";
  if (!matters || op->getOperand(0).getType() != op->getOperand(1).getType())
    return false;
  if (!makes)
    return true;
  Value first = op->getOperand(0);
  op->setOperand(0, op->getOperand(1));
  op->setOperand(1, first);
  return true;
}

/// The last tile is taken for a whole one.
bool forgetBound(Operation *op, bool makes) {
  auto least = dyn_cast<arith::MinSIOp>(op);
  if (!least)
    return false;
  if (makes)
    least.replaceAllUsesWith(least.getLhs());
  return true;
}

struct Fault {
  const char *name, *pass;
  bool (*apply)(Operation *, bool makes); ///< whether it can be made here, and makes it
  bool isForProver = false; ///< the prover has to see it: of order, of places, of who does what
};
constexpr Fault kFaults[] = {
    {"a transpose is dropped", "ptl-lower-block", dropTranspose},
    {"a carried start is overwritten", "ptl-lower-block", dropCopy, true},
    {"in place under a permutation", "ptl-lower-block", updateInPlace, true},
    {"an effect on both vector cores", "ptl-lower-block", runOnBoth, true},
    {"a meeting between cores is dropped", "ptl-lower-block", dropMeeting, true},
    {"cores meet on the wrong side", "ptl-lower-block", meetOnWrongSide, true},
    {"operands are exchanged", "ptl-legalize", swapOperands},
    {"the last tile is taken for a whole one", "ptl-unroll", forgetBound},
};
constexpr size_t kFaultCount = std::size(kFaults);

/// Marks modules in which the fault is.
constexpr const char *kMark = "test.wrong";

/// Makes the fault at the `site`-th place where it can be made.
bool makeWrong(const Fault &fault, int site, llvm::ArrayRef<ModuleOp> made) {
  for (ModuleOp module : made)
    if (module->hasAttr(kMark))
      return true;
  for (ModuleOp module : made) {
    Operation *place = nullptr;
    module.walk([&](Operation *op) {
      if (!fault.apply(op, /*makes=*/false) || site-- > 0)
        return WalkResult::advance();
      place = op;
      return WalkResult::interrupt();
    });
    if (place) {
      module->setAttr(kMark, UnitAttr::get(module.getContext()));
      return fault.apply(place, /*makes=*/true);
    }
  }
  return false;
}

// ---- verdicts -----------------------------------------------------------------------------------

enum class Verdict : uint8_t { None, Harmless, Proved, Ran, Refused, Crashed };
constexpr size_t kVerdicts = 6;

struct Settings {
  const CheckedProgram &program;
  const SourceManager &sources;
  Machine machine;
};

/// Compiles and runs an entry with the fault; `None` where there is no such place.
Verdict verdictOf(const Settings &settings, const BoundEntry &bound, const Fault *fault, int site) {
  DiagnosticSink sink;
  CompilerOptions options;
  options.chip = settings.machine;
  options.keepsStages = true;
  options.triesHelps = false;
  bool isMade = fault == nullptr;
  options.afterPass = [&](llvm::StringRef pass, llvm::ArrayRef<ModuleOp> made) {
    if (fault && pass == fault->pass)
      isMade |= makeWrong(*fault, site, made);
  };
  CompiledExecutor executor(settings.program, settings.sources, options, sink);
  const ir::EntryBinding &binding = bound.binding;
  ManifestVariant variant{"ptl_entry", binding.statics, binding.elems, binding.prefixRank};
  bool isCalled = callDrawn(executor, *binding.decl, variant, binding.tunables, {});
  if (!isMade)
    return Verdict::None;
  for (const Diagnostic &diagnostic : sink.all())
    if (diagnostic.id == DiagId::CompilerFault)
      return diagnostic.message.find("`prove`") != std::string::npos ? Verdict::Proved
                                                                     : Verdict::Ran;
  return sink.errorCount() || !isCalled ? Verdict::Refused : Verdict::Harmless;
}

/// Does the same in a process of its own, which may crash.
Verdict verdictApart(const Settings &settings, const BoundEntry &bound, const Fault *fault,
                     int site) {
  std::fflush(nullptr);
  pid_t child = ::fork();
  if (child == 0) {
    ::alarm(60);
    std::_Exit(static_cast<int>(verdictOf(settings, bound, fault, site)));
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  bool isWell = WIFEXITED(status) && WEXITSTATUS(status) < static_cast<int>(kVerdicts);
  return isWell ? static_cast<Verdict>(WEXITSTATUS(status)) : Verdict::Crashed;
}

class Counts {
public:
  void add(size_t fault, Verdict verdict) { ++counts_[fault][static_cast<size_t>(verdict)]; }
  void print() const {
    std::printf("| A pass is wrong | Places | By the prover | By running stages | Refused | "
                "Harmless | Crashed |\n"
                "|---|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < kFaultCount; ++i) {
      auto count = [&](Verdict verdict) { return counts_[i][static_cast<size_t>(verdict)]; };
      int all = 0;
      for (int each : counts_[i])
        all += each;
      std::printf("| %s | %d | %d | %d | %d | %d | %d |\n", kFaults[i].name, all,
                  count(Verdict::Proved), count(Verdict::Ran), count(Verdict::Refused),
                  count(Verdict::Harmless), count(Verdict::Crashed));
    }
  }
  /// Whether there is a fault that was made, and that nobody has ever seen, or not who should.
  bool isAnyUnseen() const {
    for (size_t i = 0; i < kFaultCount; ++i) {
      auto count = [&](Verdict verdict) { return counts_[i][static_cast<size_t>(verdict)]; };
      int others = kFaults[i].isForProver ? 0 : count(Verdict::Ran);
      bool isMade = count(Verdict::Ran) + count(Verdict::Harmless) > 0;
      if (isMade && count(Verdict::Proved) + others == 0)
        return true;
    }
    return false;
  }
  bool isAnyCrashed() const {
    return llvm::any_of(
        counts_, [](const auto &each) { return each[static_cast<size_t>(Verdict::Crashed)] > 0; });
  }

private:
  std::array<std::array<int, kVerdicts>, kFaultCount> counts_ = {};
};

struct Words {
  std::string targets = "a3", stdPath;
  int sites = 2;
  bool list = false;
  std::vector<const char *> files;
};

void runFile(const char *file, const Machine &machine, const Words &words, Counts &counts) {
  SourceManager sources;
  DiagnosticSink sink;
  CheckOptions check;
  check.stdPath = words.stdPath;
  std::string problem;
  std::optional<FileId> id = sources.load(file, &problem);
  if (!id)
    return;
  std::unique_ptr<CheckedProgram> program = checkFile(sources, *id, check, sink);
  Settings settings{*program, sources, machine};
  for (const CallableDecl *decl : program->modules.front()->callables) {
    bool isEntry = decl->kind == DeclKind::Kernel || decl->kind == DeclKind::Program;
    if (!isEntry || decl->hasErrors || !entryProblem(*decl).empty())
      continue;
    for (const BoundEntry &bound : bindEntries(*program, *decl, {}, problem)) {
      if (verdictApart(settings, bound, nullptr, 0) != Verdict::Harmless)
        continue; // right as it is, or there is nothing to compare with
      for (size_t i = 0; i < kFaultCount; ++i)
        for (int site = 0; site < words.sites; ++site) {
          Verdict verdict = verdictApart(settings, bound, &kFaults[i], site);
          if (verdict == Verdict::None)
            break;
          counts.add(i, verdict);
          constexpr const char *names[] = {"",       "harmless", "prover",
                                           "stages", "refused",  "crashed"};
          if (words.list || verdict == Verdict::Crashed)
            std::printf("%-9s %s, place %d: %s, %s %s\n", names[static_cast<size_t>(verdict)],
                        kFaults[i].name, site, file, decl->name.c_str(), machine.name.c_str());
        }
    }
  }
}

} // namespace

static int run(int argc, char **argv) {
  Words words;
  for (int i = 1; i < argc; ++i) {
    auto is = [&](const char *word) { return std::strcmp(argv[i], word) == 0 && i + 1 < argc; };
    if (is("--target"))
      words.targets = argv[++i];
    else if (is("--sites"))
      words.sites = ptl::toolNumber<int>("--sites", argv[++i]);
    else if (is("--std"))
      words.stdPath = argv[++i];
    else if (std::strcmp(argv[i], "--list") == 0)
      words.list = true;
    else
      words.files.push_back(argv[i]);
  }
  Counts counts;
  for (const char *file : words.files)
    for (llvm::StringRef rest = words.targets; !rest.empty();) {
      auto [target, others] = rest.split(',');
      rest = others;
      if (std::optional<Machine> machine = findMachine(target.str()))
        runFile(file, *machine, words, counts);
    }
  counts.print();
  return counts.isAnyUnseen() || counts.isAnyCrashed();
}

} // namespace ptl

int main(int argc, char **argv) { return ptl::run(argc, argv); }
