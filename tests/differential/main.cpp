// Calls every fn, kernel and program of the given files on both executors with random shapes and
// compares; or makes random programs and does the same with them.
//   ptl_differential [--samples N] [--seed S] [--random N] [--legalize MACHINE] [--target CHIP]
//   [--cpu PROCESSOR] [--matrices] [--stages] [--report FILE] [--refused LIST] [--records FILE] [--machine FILE] [--std FOLDER]
//   FILE...
// With --cpu the native code is that of another processor (`x86-64-v3`); where this one cannot run it,
// nothing is done, and the exit code is 77. With --matrices products go by registers of matrices, whose instructions functions stand
// for, if the processor has vectors of 512 bits. With --legalize the native code uses only operations that the machine has instructions for.
// On a chip, what has one element type as a parameter is called with every type that the chip has;
// --machine describes a chip of one's own. With --stages the program is also run after every pass
// of the chip's pipeline, and the first that changes a result is named. LIST names what a chip
// refuses, one a line: chips, callable, part of the error. With it everything else has to compile,
// and what it names has to be refused. With --records (the list of op records of the build) it is
// an error if an operation on tiles has no callable `op_` and its name. With --report FILE each
// callable gets a line there: its name, `right`, `refused`, `wrong` or `untried`, and why, with
// tabs between. Markdown files are searched for ```ptl blocks (the pages of the built-ins).
#include "codegen/cpu/test_matrix_registers.h"
#include "common/tool_number.h"
#include "compile/call/compiled_handler.h"
#include "frontend/sema/check.h"
#include "machines/costs.h"
#include "tests/differential/compare.h"
#include "tests/differential/random_program.h"
#include "tests/differential/sampler.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

namespace ptl::differential {

/// A line of the list of refusals.
struct Refusal {
  std::string callable, error;
  bool isSeen = false;
};

struct Settings {
  int samples = 6;
  uint64_t seed = 1;
  int randomPrograms = 0;
  std::string stdPath, legalizeFor, target, records;
  std::string report; ///< a file that gets a line for each callable
  std::vector<std::string> files;
  std::optional<Machine> own;              ///< the chip, where it is none of ours
  std::optional<cpu::Processor> processor; ///< whose native code is run, where it is not this one's
  bool emulatesMatrices = false;           ///< products go by registers of matrices, in software
  bool runsStages = false;
  bool listsRefusals = false;
  std::vector<Refusal> refusals; ///< those of the target
};

struct Totals {
  int calls = 0, callables = 0, failures = 0;
  int notCompiled = 0; ///< callables that the chip cannot have yet
  std::set<std::string> names;
};

/// Both executors on one program.
class Comparison {
public:
  Comparison(const CheckedProgram &program, const SourceManager &sources, Settings &settings,
             Totals &totals)
      : program_(program), sources_(sources), settings_(settings), totals_(totals),
        cpu_(program, sources, compilerOptions(settings), sink_),
        handler_(compiledHandler(cpu_, sources)) {
    if (!settings.target.empty())
      costs_ = findCosts(settings.target);
    machine_ = settings.own ? &*settings.own : knownMachine(settings.target);
    if (costs_ && (!machine_ || !costs_->known()))
      costs_.reset();
  }

  void run(const CallableDecl &decl);

private:
  void run(const CallableDecl &decl, const std::vector<ElemKind> &elems);
  static CompilerOptions compilerOptions(const Settings &settings) {
    CompilerOptions options;
    if (!settings.legalizeFor.empty())
      options.legalizeFor = findMachine(settings.legalizeFor);
    if (!settings.target.empty())
      options.chip = settings.own ? settings.own : findMachine(settings.target);
    if (settings.processor)
      options.processor = *settings.processor;
    options.keepsStages = settings.runsStages;
    return options;
  }
  std::string differenceAt(const Sampler &sampler, const Sample &sample, bool *ran);
  void report(const Sampler &sampler, const CallableDecl &decl, Sample sample, std::string text);
  void note(const char *status, const std::string &why = "") const;

  const CheckedProgram &program_;
  const SourceManager &sources_;
  bool isListed(const std::string &callable, const std::string &error);

  Settings &settings_;
  Totals &totals_;
  DiagnosticSink sink_;
  CompiledExecutor cpu_;
  reference::CallHandler handler_;
  const Machine *machine_ = nullptr;  ///< of a chip
  std::string name_;                  ///< of what is being compared, with its element types
  std::optional<MachineCosts> costs_; ///< where its file has them
};

/// Empty when the executors agree, or when the sample is no legal call (`ran` is false then).
std::string Comparison::differenceAt(const Sampler &sampler, const Sample &sample, bool *ran) {
  *ran = false;
  std::optional<reference::CallRequest> request = sampler.request(sample);
  if (!request)
    return "";
  reference::RunOptions options;
  for (size_t i = 0; i < sample.dims.size(); ++i)
    options.dims[request->callee->dims[i].local
                     ? request->callee->dims[i].local->name
                     : program_.dims->symbol(request->callee->dims[i].symbol).name] =
        sample.dims[i];
  for (size_t i = 0; i < sample.elems.size(); ++i)
    options.elems[request->callee->typeParams[i]->name] = sample.elems[i];
  options.print = [](const std::string &) {};
  reference::RunResult expected =
      reference::runEntry(program_, sources_, *request->callee, request->args, options);
  if (expected.status == reference::RunStatus::Where ||
      expected.status == reference::RunStatus::Arguments)
    return "";
  *ran = true;
  // On a chip, pipes run in another order each time.
  cpu_.simulation.options.schedule = static_cast<rt::sim::Schedule>(sample.seed % 4);
  cpu_.simulation.options.seed = sample.seed;
  cpu_.simulation.options.stretched = sample.seed % 3 == 0;
  cpu_.simulation.groups = 1 + static_cast<int64_t>(sample.seed % 3);
  // Half of the samples run in virtual time, where tasks of programs overlap.
  std::optional<rt::sim::Timer> timer;
  if (costs_ && sample.seed % 2 == 0) {
    rt::sim::TimeOptions how;
    how.values = true;
    how.record = false;
    how.seed = sample.seed;
    timer.emplace(*machine_, *costs_, how);
  }
  cpu_.simulation.timer = timer ? &*timer : nullptr;
  std::optional<reference::RunResult> actual = handler_(*request);
  if (!actual)
    return "the native executor does not take the call";
  return difference(*request, expected, *actual);
}

static std::string describe(const CallableDecl &decl, const DimContext &dims,
                            const Sample &sample) {
  std::string text = decl.name + "[";
  for (int64_t extent : sample.prefix)
    text += std::to_string(extent) + ", ";
  if (decl.hasPrefix)
    text += "..; ";
  for (size_t i = 0; i < sample.dims.size(); ++i)
    text += dims.symbol(decl.dims[i].symbol).name + " = " + std::to_string(sample.dims[i]) + ", ";
  for (size_t i = 0; i < sample.elems.size(); ++i)
    text += decl.typeParams[i]->name + " = " + std::string(elemName(sample.elems[i])) + ", ";
  return text + "seed " + std::to_string(sample.seed) + "]";
}

void Comparison::report(const Sampler &sampler, const CallableDecl &decl, Sample sample,
                        std::string text) {
  for (bool smaller = true; smaller;) {
    smaller = false;
    for (const Sample &next : Sampler::smaller(sample)) {
      bool ran = false;
      std::string again = differenceAt(sampler, next, &ran);
      if (again.empty())
        continue;
      sample = next;
      text = again;
      smaller = true;
      break;
    }
  }
  ++totals_.failures;
  std::printf("%s: %s\n", describe(decl, *program_.dims, sample).c_str(), text.c_str());
  for (const Diagnostic &diagnostic : sink_.all())
    std::printf("  %s\n", diagnostic.message.c_str());
}

void Comparison::note(const char *status, const std::string &why) const {
  if (!settings_.report.empty())
    std::ofstream(settings_.report, std::ios::app)
        << name_ << '\t' << status << '\t' << why << '\n';
}

static bool accepts(ElemConstraint constraint, ElemKind kind) {
  if (kind == ElemKind::Bool || kind == ElemKind::Int)
    return false;
  if (isHeldOnly(kind) || kind == ElemKind::I4) // which no array of a call has
    return false;
  return constraint == ElemConstraint::Float     ? isFloat(kind)
         : constraint == ElemConstraint::Integer ? !isFloat(kind)
                                                 : constraint != ElemConstraint::Bool;
}

/// The element types of a chip that the callable's parameter takes, each alone; else one entry that
/// leaves them to chance.
static std::vector<std::vector<ElemKind>> typesFor(const CallableDecl &decl,
                                                   const Settings &settings) {
  std::optional<Machine> machine = findMachine(settings.target);
  std::vector<std::vector<ElemKind>> all;
  if (machine && decl.typeParams.size() == 1)
    for (const ElemInfo &info : elemInfos)
      if (machine->hasType(info.name) && accepts(decl.typeParams.front()->constraint, info.kind))
        all.push_back({info.kind});
  if (all.empty())
    all.emplace_back();
  return all;
}

/// Whether a callable has values of a short float that a machine lacks: what its operations would become there is open.
static bool hasTypesBeyond(const CallableDecl &decl, const Machine &machine) {
  for (const Local *local : decl.locals) {
    const Type *type = local->type;
    bool isValue = type && (type->isArray() || type->isScalar()) && !type->elem.param;
    if (isValue && isFloat(type->elem.kind) && elemBits(type->elem.kind) <= 8 &&
        !machine.hasType(elemName(type->elem.kind)))
      return true;
  }
  return false;
}

void Comparison::run(const CallableDecl &decl) {
  if (!whyNotSampled(decl).empty())
    return;
  if (!settings_.legalizeFor.empty())
    if (std::optional<Machine> machine = findMachine(settings_.legalizeFor);
        machine && hasTypesBeyond(decl, *machine))
      return;
  for (const std::vector<ElemKind> &elems : typesFor(decl, settings_))
    run(decl, elems);
}

void Comparison::run(const CallableDecl &decl, const std::vector<ElemKind> &elems) {
  ++totals_.callables;
  name_ = decl.name;
  for (ElemKind elem : elems)
    name_ += "[" + std::string(elemName(elem)) + "]";
  Sampler sampler(decl, settings_.seed * 1000003 + std::hash<std::string>()(decl.name));
  int done = 0;
  std::string lacking; // the error of calls with types that the chip does not have
  for (int attempt = 0; done < settings_.samples && attempt < 60 * settings_.samples; ++attempt) {
    Sample sample = sampler.draw(elems);
    bool ran = false;
    std::string text = differenceAt(sampler, sample, &ran);
    if (!ran)
      continue;
    // Types that the chip lacks are no calls of it.
    if (!settings_.target.empty() && !text.empty() && !sink_.all().empty() &&
        sink_.all().back().id == DiagId::ElementTypeNotOnTarget) {
      // Where all of its calls have such types, the callable is listed.
      lacking = sink_.all().back().message;
      if (settings_.listsRefusals && isListed(decl.name, lacking))
        return;
      continue;
    }
    if (!settings_.target.empty() && text.find("cannot be compiled") != text.npos) {
      ++totals_.notCompiled;
      std::string error = sink_.all().empty() ? "" : sink_.all().back().message;
      note("refused", error);
      if (settings_.listsRefusals && isListed(decl.name, error))
        return;
      if (settings_.listsRefusals)
        ++totals_.failures;
      std::printf("%s is not compiled for %s: %s\n", name_.c_str(), settings_.target.c_str(),
                  error.c_str());
      return;
    }
    for (const Diagnostic &diagnostic : sink_.all())
      if (diagnostic.id == DiagId::CannotBeProved) { // the prover decides all that is compiled
        ++totals_.failures;
        std::printf("%s on %s %s\n", name_.c_str(), settings_.target.c_str(),
                    diagnostic.message.c_str());
        return;
      }
    ++done;
    ++totals_.calls;
    if (!text.empty()) {
      note("wrong", text);
      return report(sampler, decl, sample, text);
    }
  }
  note(done ? "right" : lacking.empty() ? "untried" : "refused", done ? "" : lacking);
  if (done == 0) {
    ++totals_.failures;
    std::printf("%s: no legal call was found\n", decl.name.c_str());
  }
}

bool Comparison::isListed(const std::string &callable, const std::string &error) {
  for (Refusal &refusal : settings_.refusals)
    if (refusal.callable == callable && error.find(refusal.error) != error.npos) {
      refusal.isSeen = true;
      return true;
    }
  return false;
}

static bool isCallable(const CallableDecl &decl) {
  return decl.kind == DeclKind::Fn || decl.kind == DeclKind::Kernel ||
         decl.kind == DeclKind::Program;
}

static void compareText(const std::string &path, const std::string &text, Settings &settings,
                        Totals &totals) {
  SourceManager sources;
  DiagnosticSink sink;
  CheckOptions options;
  options.stdPath = settings.stdPath;
  FileId file = sources.add(path, text);
  std::unique_ptr<CheckedProgram> program = checkFile(sources, file, options, sink);
  if (sink.hasErrors()) {
    ++totals.failures;
    for (const Diagnostic &diagnostic : sink.all())
      if (diagnostic.severity == Severity::Error)
        std::printf("%s:%u: %s\n", path.c_str(),
                    sources.file(diagnostic.span.file).lineColumn(diagnostic.span.begin).line,
                    diagnostic.message.c_str());
    return;
  }
  Comparison comparison(*program, sources, settings, totals);
  for (const CallableDecl *decl : program->modules.front()->callables)
    totals.names.insert(decl->name);
  for (const CallableDecl *decl : program->modules.front()->callables)
    if (isCallable(*decl))
      comparison.run(*decl);
}

/// The ```ptl blocks of a page.
static std::vector<std::string> blocksOf(const std::string &page) {
  std::vector<std::string> blocks;
  for (size_t at = 0; (at = page.find("```ptl\n", at)) != page.npos;) {
    size_t begin = at + 7, end = page.find("```", begin);
    blocks.push_back(page.substr(begin, end - begin));
    at = end == page.npos ? end : end + 3;
  }
  return blocks;
}

static void compareFile(const std::string &path, Settings &settings, Totals &totals) {
  SourceManager files;
  std::string error;
  std::optional<FileId> id = files.load(path, &error);
  if (!id) {
    ++totals.failures;
    std::printf("%s: %s\n", path.c_str(), error.c_str());
    return;
  }
  std::string text(files.file(*id).text());
  if (!path.ends_with(".md"))
    return compareText(path, text, settings, totals);
  for (const std::string &block : blocksOf(text))
    compareText(path, block, settings, totals);
}

static void compareRandom(Settings &settings, Totals &totals) {
  constexpr int kPerFile = 25;
  for (int made = 0; made < settings.randomPrograms; made += kPerFile) {
    std::string text;
    for (int i = made; i < std::min(made + kPerFile, settings.randomPrograms); ++i)
      text += randomCallable("random_" + std::to_string(i),
                             settings.seed * 7919 + static_cast<uint64_t>(i)) +
              "\n";
    int failures = totals.failures;
    compareText("random.ptl", text, settings, totals);
    if (totals.failures != failures)
      std::printf("of these programs:\n%s\n", text.c_str());
  }
}

/// Lines of `chips callable part of the error`; what begins with `#` is a remark.
static void readRefusals(const std::string &path, Settings &settings) {
  std::ifstream in(path);
  settings.listsRefusals = true;
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    Refusal refusal;
    std::string chips;
    words >> chips >> refusal.callable >> std::ws;
    std::getline(words, refusal.error);
    bool concerns = ("," + chips + ",").find("," + settings.target + ",") != std::string::npos;
    if (!chips.empty() && chips[0] != '#' && concerns)
      settings.refusals.push_back(refusal);
  }
}

/// Lines of the list: name, spelling, class, then where it is supported. Products and effects have
/// tests of their own, and `random` is not for kernels.
static void findMissing(const std::string &path, Totals &totals) {
  std::ifstream records(path);
  int count = 0;
  for (std::string line; std::getline(records, line); ++count) {
    std::string name, spelling, group;
    std::istringstream fields(line);
    std::getline(fields, name, '\t') && std::getline(fields, spelling, '\t') &&
        std::getline(fields, group, '\t');
    if (group == "Product" || group == "Effect" || name == "random")
      continue;
    std::string wanted = "op_" + name;
    auto found = totals.names.lower_bound(wanted);
    bool covered =
        found != totals.names.end() && (*found == wanted || found->starts_with(wanted + "_"));
    if (covered)
      continue;
    ++totals.failures;
    std::printf("no callable `%s` covers the operation `%s`\n", wanted.c_str(), name.c_str());
  }
  if (count == 0) {
    ++totals.failures;
    std::printf("`%s` has no records\n", path.c_str());
  }
}

static void readMachine(const std::string &path, Settings &settings) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  std::string error;
  settings.own = parseMachine(text.str(), &error);
  if (!settings.own) {
    std::printf("%s: %s\n", path.c_str(), error.c_str());
    std::exit(2);
  }
  settings.target = settings.own->name;
}

static void readProcessor(const std::string &name, Settings &settings) {
  std::string problem = cpu::Processor::problemOf(name);
  if (!problem.empty()) {
    std::printf("--cpu %s: %s\n", name.c_str(), problem.c_str());
    std::exit(2);
  }
  settings.processor = cpu::Processor::named(name);
  std::vector<std::string> lacking = settings.processor->lackingHere();
  if (!lacking.empty()) {
    std::printf("%s: this processor lacks %s\n", name.c_str(), lacking.front().c_str());
    std::exit(77);
  }
}

static Settings parse(int argc, char **argv) {
  Settings settings;
  std::string refused;
  for (int i = 1; i < argc; ++i) {
    auto value = [&] { return i + 1 < argc ? argv[++i] : ""; };
    if (!std::strcmp(argv[i], "--samples"))
      settings.samples = toolNumber<int>("--samples", value());
    else if (!std::strcmp(argv[i], "--seed"))
      settings.seed = toolNumber<uint64_t>("--seed", value());
    else if (!std::strcmp(argv[i], "--random"))
      settings.randomPrograms = toolNumber<int>("--random", value());
    else if (!std::strcmp(argv[i], "--legalize"))
      settings.legalizeFor = value();
    else if (!std::strcmp(argv[i], "--target"))
      settings.target = value();
    else if (!std::strcmp(argv[i], "--cpu"))
      readProcessor(value(), settings);
    else if (!std::strcmp(argv[i], "--matrices"))
      settings.emulatesMatrices = true;
    else if (!std::strcmp(argv[i], "--machine"))
      readMachine(value(), settings);
    else if (!std::strcmp(argv[i], "--stages"))
      settings.runsStages = true;
    else if (!std::strcmp(argv[i], "--refused"))
      refused = value();
    else if (!std::strcmp(argv[i], "--report"))
      settings.report = value();
    else if (!std::strcmp(argv[i], "--records"))
      settings.records = value();
    else if (!std::strcmp(argv[i], "--std"))
      settings.stdPath = value();
    else
      settings.files.push_back(argv[i]);
  }
  if (!refused.empty())
    readRefusals(refused, settings);
  if (settings.emulatesMatrices) {
    if (!settings.processor)
      settings.processor = cpu::Processor::host();
    settings.processor->vectors.matrices = {true, true, true, true};
  }
  return settings;
}

} // namespace ptl::differential

int main(int argc, char **argv) {
  using namespace ptl::differential;
  Settings settings = parse(argc, argv);
  Totals totals;
  for (const std::string &file : settings.files)
    compareFile(file, settings, totals);
  compareRandom(settings, totals);
  for (const Refusal &refusal : settings.refusals)
    if (!refusal.isSeen) {
      ++totals.failures;
      std::printf("%s is listed as refused for %s (%s), and is not\n", refusal.callable.c_str(),
                  settings.target.c_str(), refusal.error.c_str());
    }
  if (!settings.records.empty())
    findMissing(settings.records, totals);
  std::printf("%d calls of %d callables, %d differ", totals.calls, totals.callables,
              totals.failures);
  if (settings.emulatesMatrices) {
    int64_t products = ptl::cpu::testing::MatrixRegisters::products;
    std::printf(", %lld products of registers", static_cast<long long>(products));
    totals.failures += products == 0;
  }
  if (totals.notCompiled)
    std::printf(", %d not compiled for the chip", totals.notCompiled);
  std::printf("\n");
  return totals.failures == 0 && totals.calls > 0 ? 0 : 1;
}
