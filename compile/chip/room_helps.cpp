#include "compile/chip/room_helps.h"

#include "compile/chip/chip_fixes.h"
#include "compile/chip/lower_kernels.h"
#include "compile/source_spans.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace ptl {

namespace {
/// Tries an entry with other numbers, each in a context of its own.
class Trials {
public:
  Trials(const CompileContext &context, const ir::EntryBinding &binding, bool mayCut)
      : program_(context.program()), sources_(context.sources()), options_(context.options()),
        binding_(binding), mayCut_(mayCut) {}

  /// What was tried and found to fit, each alone: values of tunables, else numbers of tiles in the
  /// text. `tried` receives those of which no value fits.
  std::vector<RoomHelp> helps(std::vector<std::string> &tried) const;

private:
  bool fits(const CheckedProgram &program, const SourceManager &sources,
            const ir::EntryBinding &binding) const;
  std::optional<RoomHelp> helpOf(const Tunable &tunable) const;
  std::optional<RoomHelp> helpOf(const TileNumber &number) const;

  const CheckedProgram &program_;
  const SourceManager &sources_;
  const CompilerOptions &options_;
  const ir::EntryBinding &binding_;
  bool mayCut_; ///< tiles may be done in parts
};
} // namespace

/// Whether an entry can be placed, with its tiles in parts if they may be; says nothing if not.
bool Trials::fits(const CheckedProgram &program, const SourceManager &sources,
                  const ir::EntryBinding &binding) const {
  // A trial says nothing to the user, keeps nothing and dumps nothing.
  DiagnosticSink quiet;
  CompilerOptions options = options_;
  options.keepFault = nullptr;
  options.dumpFolder.clear();
  options.keepsStages = false;
  CompileContext trial(program, sources, std::move(options), quiet);
  std::optional<BuiltEntry> built = buildEntry(trial, binding, "ptl_trial");
  std::optional<TileModule> tiles;
  if (built)
    tiles = tileModule(trial, std::move(built->tensor));
  if (!tiles)
    return false;
  // The trial must not give anything up to make room, or larger values would seem to fit.
  ChipSearch search(/*mayHalve=*/false, mayCut_);
  std::optional<LoweredKernels> lowered = lowerKernels(trial, *tiles, search, {}, nullptr);
  // `GoOn` means that the kernels fit as they are.
  return lowered && lowered->next == SearchStep::GoOn;
}

/// The largest value of a tunable alone, within its domain, that fits.
std::optional<RoomHelp> Trials::helpOf(const Tunable &tunable) const {
  const std::string &name = tunable.local->name;
  std::vector<int64_t> candidates = tunable.domain;
  // Values are tried from small to large by bisection, which relies on smaller tiles needing less.
  std::sort(candidates.begin(), candidates.end());
  if (candidates.empty()) { // no domain: any number; a schedule may have made it larger
    auto given = binding_.tunables.find(name);
    int64_t present = given == binding_.tunables.end() ? tunable.defaultValue : given->second;
    // No tile of more positions fits a chip.
    constexpr int64_t most = 1 << 16;
    candidates.resize(static_cast<size_t>(8 * std::clamp<int64_t>(present, 1, most / 8)));
    std::iota(candidates.begin(), candidates.end(), 1);
  }
  ir::EntryBinding binding = binding_;
  std::optional<int64_t> best = largestThatFits(candidates, [&](int64_t value) {
    binding.tunables[name] = value;
    return fits(program_, sources_, binding);
  });
  if (!best)
    return std::nullopt;
  return RoomHelp{&tunable, *best, name + " = " + std::to_string(*best),
                  tunableEdits(program_, binding_, tunable, *best), nullptr};
}

/// The same for a number of the text: halves of it.
std::optional<RoomHelp> Trials::helpOf(const TileNumber &number) const {
  std::vector<int64_t> candidates;
  // Halves keep a number a power of two if it is one.
  for (int64_t value = number.value / 2; value > 0; value /= 2)
    candidates.insert(candidates.begin(), value);
  const SourceFile &file = sources_.file(number.span.file);
  std::shared_ptr<TrialSource> found;
  auto tryWith = [&](int64_t value) {
    // The text is changed and checked again, since the number may stand in types.
    auto trial = std::make_shared<TrialSource>();
    std::string text(file.text());
    text.replace(number.span.begin, number.span.end - number.span.begin, std::to_string(value));
    DiagnosticSink quiet;
    FileId root = trial->sources.add(file.path(), std::move(text));
    trial->program = checkFile(trial->sources, root, *options_.recheck, quiet);
    // The declaration of the trial is another object than that of the program.
    for (const CallableDecl *decl : trial->program->modules.front()->callables)
      if (decl->kind == binding_.decl->kind && decl->name == binding_.decl->name)
        trial->decl = decl;
    // A change that breaks the program is no help.
    if (!trial->decl || quiet.errorCount() > 0)
      return false;
    ir::EntryBinding binding = binding_;
    binding.decl = trial->decl;
    if (!fits(*trial->program, trial->sources, binding))
      return false;
    found = std::move(trial);
    return true;
  };
  std::optional<int64_t> best = largestThatFits(candidates, tryWith);
  if (!best)
    return std::nullopt;
  return RoomHelp{nullptr,
                  *best,
                  number.before + std::to_string(*best) + ")",
                  {{number.span, std::to_string(*best)}},
                  std::move(found)};
}

std::vector<RoomHelp> Trials::helps(std::vector<std::string> &tried) const {
  std::vector<RoomHelp> helps;
  if (!options_.triesHelps)
    return helps;
  auto add = [&](std::optional<RoomHelp> help, const std::string &what) {
    if (help)
      helps.push_back(std::move(*help));
    else
      tried.push_back(what);
  };
  // Tunables come first, since a schedule changes them without touching the text.
  for (const Tunable &tunable : binding_.decl->tunables)
    if (!tunable.isBool)
      add(helpOf(tunable), "`" + tunable.local->name + "` has any other value");
  // Numbers in the text are tried only where no tunable helps.
  if (!helps.empty() || !options_.recheck || binding_.decl->kind != DeclKind::Kernel)
    return helps;
  constexpr size_t most = 4; // of the numbers: each is tried several times
  std::vector<TileNumber> numbers = tileNumbers(program_, *binding_.decl);
  for (size_t i = 0; i < std::min(numbers.size(), most); ++i)
    if (numbers[i].value > 1)
      add(helpOf(numbers[i]),
          "`" + numbers[i].before + std::to_string(numbers[i].value) + ")` has a smaller number");
  return helps;
}

ChipProgram withWhatAvoidsParts(const CompileContext &context, const ir::EntryBinding &binding,
                                ChipProgram program) {
  std::vector<LedgerKernel> &kernels = program.ledger.kernels;
  // Nothing was done in parts, so there is nothing to avoid.
  bool any = !program.statements.empty() ||
             std::any_of(kernels.begin(), kernels.end(),
                         [](const LedgerKernel &kernel) { return kernel.parts.has_value(); });
  if (!any || !context.options().reportsParts)
    return program;
  std::vector<std::string> unused;
  std::vector<RoomHelp> helps = Trials(context, binding, /*mayCut=*/false).helps(unused);
  if (helps.empty())
    return program;
  program.avoid = helps.front();
  for (LedgerKernel &kernel : kernels)
    if (kernel.parts)
      kernel.parts->avoid = helps.front().text;
  for (StatementParts &each : program.statements)
    each.avoid = helps.front().text;
  return program;
}

static void addHelp(DiagnosticBuilder &builder, const RoomHelp &help) {
  std::string title = "`" + help.text + "` needs no parts; `--cost` predicts which takes less time";
  if (help.edits.empty())
    builder.help(title);
  else
    builder.fix(FixId::SmallerTile, title, help.edits);
}

void warnOfParts(const CompileContext &context, const ChipProgram &program) {
  const CompilerOptions &options = context.options();
  const SourceManager &sources = context.sources();
  if (!options.reportsParts)
    return;
  std::map<std::string, std::vector<const StatementParts *>> byKernel;
  // Tiles that the compiler chose itself are no matter of the author's.
  for (const StatementParts &each : program.statements)
    if (!each.tilesAreChosen)
      byKernel[each.kernel].push_back(&each);
  for (auto &[kernel, all] : byKernel) {
    // The statement with the most parts is reported, and the others are labels.
    std::stable_sort(all.begin(), all.end(),
                     [](const auto *a, const auto *b) { return a->parts > b->parts; });
    const StatementParts &first = *all.front();
    DiagnosticBuilder builder = context.sink().report(
        DiagId::DoneInParts, spanAt(sources, first.place),
        {first.isFold ? "fold" : "store", std::to_string(first.parts), first.memory});
    builder.note(tileText(first) + "; as a whole, the tiles of the kernel need " +
                 bytesText(first.needed) + " of `" + first.memory + "`, and `" +
                 options.chip->name + "` has " + bytesText(first.usable));
    for (size_t i = 1; i < all.size(); ++i)
      builder.label(spanAt(sources, all[i]->place), partsTitle(*all[i]) + ", too");
    if (program.avoid)
      addHelp(builder, *program.avoid);
    else if (options.triesHelps)
      builder.help(
          "make the tiles of the grid smaller, or process them in a loop over smaller tiles");
  }
}

Overflow refuse(const CompileContext &context, const ir::EntryBinding &binding, Overflow found) {
  std::vector<Fix> fixes;
  for (const RoomHelp &help : Trials(context, binding, /*mayCut=*/true).helps(found.tried))
    fixes.emplace_back(FixId::SmallerTile, "`" + help.text + "` is the largest that fits",
                       help.edits);
  const SourceManager &sources = context.sources();
  reportOverflow(context.sink(), spanAt(sources, found.at), found, fixes,
                 pipelineEdits(context.program(), sources, found));
  return found;
}

} // namespace ptl
