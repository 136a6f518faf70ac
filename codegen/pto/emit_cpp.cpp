// Files of C++: aliases, functions, launch code.
#include "codegen/pto/emit_cpp.h"

#include "codegen/pto/emit_cpp_events.h"
#include "codegen/pto/emit_cpp_function.h"
#include "codegen/pto/emit_cpp_host.h"
#include "codegen/pto/format_cpp.h"
#include "codegen/pto/windows.h"
#include "ir/dialect/attributes.h"
#include "ir/dialect/cross_core.h"

using namespace mlir;

namespace ptl::pto {

static std::vector<TileBufType> tilesOf(ModuleOp module) {
  llvm::SetVector<TileBufType> tiles;
  module.walk([&](Operation *op) {
    // A window is declared with a wider type than its result has.
    if (auto window = dyn_cast<SubsetOp>(op)) {
      tiles.insert(windowType(window));
      return;
    }
    for (Type type : op->getResultTypes())
      if (auto tile = dyn_cast<TileBufType>(type))
        tiles.insert(tile);
  });
  return {tiles.begin(), tiles.end()};
}

namespace {

/// A parameter of the kernel in the code that starts it.
struct HostArgument {
  std::string type, name; ///< on the device, `__gm__ float *`
  bool isPointer;
  int64_t groupBytes; ///< of global memory for each core group; 0: the caller's

  std::string onDevice() const { return type + name; }
  std::string onHost() const { return isPointer ? "void *" + name : onDevice(); }
  std::string plain() const { return name; }
  std::string passed() const { return isPointer ? "(" + type + ")" + name : name; }
};

/// Names of the code that starts a kernel. Functions have theirs, and parameters those of the
/// source where they can.
struct LaunchNames {
  NameTable all{NameTable::Style::Cpp};
  std::vector<HostArgument> arguments;
  std::string stream, blocks, ffts, length, block, core, cores, context;

  std::string list(std::string (HostArgument::*form)() const, const std::string &before) const {
    std::string text = before;
    for (const HostArgument &argument : arguments)
      text += (text.empty() ? "" : ", ") + (argument.*form)();
    return text;
  }
};

class CppKernel {
public:
  CppKernel(ModuleOp kernel, const Machine &machine) : machine_(machine), types_(tilesOf(kernel)) {
    // Names are chosen for all functions first, because the launch code needs those of their
    // parameters.
    for (auto function : kernel.getOps<func::FuncOp>()) {
      functions_.push_back(function);
      codes_.push_back(std::make_unique<CppCode>(function, machine, types_, helpers_, findings_));
    }
    if (functions_.empty())
      return;
    auto name = attrs::kernel.of(functions_.front());
    name_ = name ? name.str() : functions_.front().getSymName().str();
  }

  const std::string &name() const { return name_; }
  bool mixed() const { return functions_.size() > 1; }
  bool signalsCores() const {
    return llvm::any_of(functions_, [](func::FuncOp function) { return hasCoreEvents(function); });
  }
  /// Whether kernels get the address of the hub that holds the flags between cores, which queues
  /// use, too.
  bool needsFlagsBase() const { return mixed() && !machine_.exchange.throughBuffer; }
  bool traps() const {
    return llvm::any_of(functions_, [](func::FuncOp function) {
      return function.walk([](TrapOp) { return WalkResult::interrupt(); }).wasInterrupted();
    });
  }
  std::vector<Finding> &findings() { return findings_; }

  void emit(TextLines &text) {
    // Functions are printed before everything that stands above them, because only that finds the
    // helpers and types that they use.
    TextLines code = functions();
    text.add("namespace ptl_" + name_ + " {");
    text.blank();
    text.add("using namespace pto;");
    text.blank();
    for (const std::string &definition : types_.definitions())
      text.add(definition);
    text.blank();
    addCppHelpers(text, helpers_, "AICORE ");
    if (helpers_.used.contains("coreEvents"))
      addCoreEvents(text, machine_, firstRunsAlone());
    text.append(std::move(code));
    addLaunch(text);
    text.blank();
    text.add("} // namespace ptl_" + name_);
  }

  CppLaunch launch() {
    CppLaunch launch{name_, mixed() || isCube(functions_.front()), {}};
    for (BlockArgument argument : functions_.front().getArguments()) {
      unsigned index = argument.getArgNumber();
      auto bytes = attrs::bytes.of(functions_.front(), index);
      // A parameter with a number of bytes is a workspace of that size for each core group.
      launch.groupBytes.push_back(bytes ? bytes.getInt() : 0);
    }
    return launch;
  }

private:
  /// Tiles are not split between vector cores: all of them do the same, or the first does all.
  bool tilesCrossWhole() {
    return llvm::any_of(functions_,
                        [](func::FuncOp function) { return hasWholeTileQueues(function); });
  }
  /// Where flags are of one vector core each, the first does all, and the cube core waits for it
  /// alone.
  bool firstRunsAlone() { return tilesCrossWhole() && machine_.exchange.throughBuffer; }
  static const char *coreMacro(func::FuncOp function) {
    return isCube(function) ? "__DAV_CUBE__" : "__DAV_VEC__";
  }

  TextLines functions() {
    TextLines text;
    for (auto [function, code] : llvm::zip(functions_, codes_)) {
      auto place = placeOf(function);
      std::string parameters = parametersOf(*code);
      // A kernel of both kinds of cores is entered by a function of its own, which calls these two.
      text.add(std::string("extern \"C\" ") + (mixed() ? "" : "__global__ ") + "AICORE void " +
                   functionName(function.getSymName()) + "(" + parameters + ") {",
               place);
      // One file is compiled once for each kind of core, so each function stands under its macro.
      // The simulation needs all of them at once.
      text.add("#if defined(" + std::string(coreMacro(function)) + ") || defined(__CPU_SIM)");
      text.indent(2);
      if (!isCube(function)) {
        // The mask may be left over from another kernel; all lanes take part from here on.
        text.add("set_mask_norm();");
        text.add("set_vector_mask(-1, -1);");
        if (firstRunsAlone()) {
          text.add("if (get_subblockid() != 0)");
          text.add("  return;");
        }
      }
      text.dedent(2);
      text.append(emitBody(*code));
      text.add("#endif");
      text.add("}");
      text.blank();
    }
    return text;
  }

  LaunchNames launchNames() {
    LaunchNames names;
    // Functions keep their names, and everything else avoids them.
    for (func::FuncOp function : functions_)
      names.all.fresh(functionName(function.getSymName()));
    if (mixed())
      names.all.fresh(functionName(name_));
    for (BlockArgument argument : functions_.front().getArguments()) {
      unsigned index = argument.getArgNumber();
      auto pointer = dyn_cast<PtrType>(argument.getType());
      auto bytes = attrs::bytes.of(functions_.front(), index);
      names.arguments.push_back({pointer ? "__gm__ " + cppElement(pointer.getElementType()) + " *"
                                         : cppElement(argument.getType()) + " ",
                                 names.all.fresh(codes_.front()->names().of(argument)),
                                 static_cast<bool>(pointer), bytes ? bytes.getInt() : 0});
    }
    for (auto [name, wanted] : {std::pair{&names.stream, "stream"},
                                {&names.blocks, "blocks"},
                                {&names.ffts, "ffts"},
                                {&names.length, "length"},
                                {&names.block, "block"},
                                {&names.core, "core"},
                                {&names.cores, "cores"},
                                {&names.context, "context"}})
      *name = names.all.fresh(wanted);
    return names;
  }

  std::string launchSummary(const LaunchNames &names) {
    std::string text = "// Starts the kernel on `" + names.blocks + "` " +
                       std::string(mixed() ? "groups of a cube core and its vector cores"
                                   : isCube(functions_.front()) ? "cube cores"
                                                                : "vector cores") +
                       ".";
    for (const HostArgument &argument : names.arguments)
      if (argument.groupBytes)
        text += " `" + argument.name + "`: " + std::to_string(argument.groupBytes) +
                " bytes of global memory for each.";
    return text;
  }

  /// The kernel of both kinds of cores.
  void addMixedKernel(TextLines &text, const LaunchNames &names) {
    // In the simulation threads call the two functions themselves.
    text.add("#ifndef __CPU_SIM");
    text.add("// Compiled once for each kind of core.");
    text.add("extern \"C\" __global__ AICORE void " + functionName(name_) + "(" +
             names.list(&HostArgument::onDevice,
                        needsFlagsBase() ? "__gm__ uint64_t *" + names.ffts : "") +
             ") {");
    if (needsFlagsBase())
      text.add("  set_ffts_base_addr((uint64_t)" + names.ffts + ");");
    for (func::FuncOp function : functions_) {
      text.add("#ifdef " + std::string(coreMacro(function)));
      text.add("  " + functionName(function.getSymName()) + "(" +
               names.list(&HostArgument::plain, "") + ");");
      text.add("#endif");
    }
    text.add("}");
    text.add("#endif");
    text.blank();
  }

  void addLaunch(TextLines &text) {
    if (functions_.empty())
      return;
    LaunchNames names = launchNames();
    if (mixed())
      addMixedKernel(text, names);
    text.add(launchSummary(names));
    text.add(
        "extern \"C\" void launch_" + name_ + "(" +
        names.list(&HostArgument::onHost, "void *" + names.stream + ", uint32_t " + names.blocks) +
        ") {");
    text.add("#ifdef __CPU_SIM");
    addSimulation(text, names);
    text.add("#else");
    // The flags between cores lie at an address that only the runtime knows.
    if (needsFlagsBase()) {
      text.add("  uint64_t " + names.ffts + " = 0;");
      text.add("  uint32_t " + names.length + " = 0;");
      text.add("  rtGetC2cCtrlAddr(&" + names.ffts + ", &" + names.length + ");");
    }
    const std::string kernel = mixed() ? name_ : functions_.front().getSymName().str();
    text.add("  " + functionName(kernel) + "<<<" + names.blocks + ", nullptr, " + names.stream +
             ">>>(" +
             names.list(&HostArgument::passed,
                        needsFlagsBase() ? "(__gm__ uint64_t *)" + names.ffts : "") +
             ");");
    text.add("#endif");
    text.add("}");
  }

  /// The core groups one after the other; the cores of one are threads that share its queues.
  void addSimulation(TextLines &text, const LaunchNames &names) {
    // The simulation has no address of flags to pass.
    const std::string passed = names.list(&HostArgument::passed, "");
    auto context = [&](const std::string &core, int64_t cores) {
      return "cpu_sim::ScopedExecutionContext " + names.context + "(" + names.block + ", " + core +
             ", " + std::to_string(cores) + ");";
    };
    text.add("  (void)" + names.stream + ";");
    text.add("  cpu_sim::EnsureRuntimeInitialized();");
    text.add("  cpu_sim::runtime_config().num_cores = " + names.blocks + ";");
    if (machine_.tools.ptoas == "a5")
      // The simulation of this architecture needs its memory set up.
      text.add("  NPU_MEMORY_INIT(NPUArch::A5);");
    text.add("  for (uint32_t " + names.block + " = 0; " + names.block + " < " + names.blocks +
             "; ++" + names.block + ") {");
    // A kernel of one kind of core runs in this thread.
    if (!mixed()) {
      text.add("    " + context("0", 1));
      text.add("    " + functionName(functions_.front().getSymName()) + "(" + passed + ");");
      text.add("  }");
      return;
    }
    // Where tiles are not dealt to the vector cores, one of them does everything.
    int64_t vectors = tilesCrossWhole()                 ? 1
                      : machine_.exchange.vectorPerCube ? machine_.exchange.vectorPerCube
                                                        : 2;
    // Queues are static in the simulation, so a group must not see what is left of the one before.
    for (const std::string &pipe : types_.pipes())
      text.add("    " + pipe + "::reset_for_cpu_sim();");
    std::string all = std::to_string(vectors + 1);
    text.add("    std::thread " + names.cores + "[" + all + "];");
    text.add("    for (uint32_t " + names.core + " = 0; " + names.core + " < " + all + "; ++" +
             names.core + ")");
    text.add("      " + names.cores + "[" + names.core + "] = std::thread([=] {");
    std::string cube, vector;
    for (func::FuncOp function : functions_)
      (isCube(function) ? cube : vector) = functionName(function.getSymName());
    // The last thread is the cube core; the others are the vector cores in order.
    text.add("        if (" + names.core + " == " + std::to_string(vectors) + ") {");
    text.add("          " + context("0", vectors));
    text.add("          " + cube + "(" + passed + ");");
    text.add("        } else {");
    text.add("          " + context(names.core, vectors));
    text.add("          " + vector + "(" + passed + ");");
    text.add("        }");
    text.add("      });");
    text.add("    for (std::thread &" + names.core + " : " + names.cores + ")");
    text.add("      " + names.core + ".join();");
    text.add("  }");
  }

  const Machine &machine_;
  CppTypes types_;
  CppHelpers helpers_;
  std::vector<Finding> findings_;
  std::vector<func::FuncOp> functions_;
  std::vector<std::unique_ptr<CppCode>> codes_;
  std::string name_;
};

} // namespace

static void addHeader(TextLines &text, const std::string &name, const char *starts,
                      const Machine &machine) {
  text.add("// `" + name + "` for " + machine.name +
           ", on the PTO-ISA library: for devices, and for its CPU simulation");
  text.add(std::string("// (-D__CPU_SIM). `") + starts + name + "` starts it.");
}

/// The features beside the library that the files of a program use.
struct CppUses {
  bool host, threads, coreEvents, traps, flagsBase;
};

static void addIncludes(TextLines &text, CppUses uses) {
  // What stands in the simulation or on the device alone is included under its macro.
  auto [hasHost, threads, coreEvents, traps, flagsBase] = uses;
  if (hasHost)
    for (const char *header :
         {"algorithm", "cstdint", "cstdio", "exception", "stdexcept", "string", "vector"})
      text.add(std::string("#include <") + header + ">");
  else
    text.add("#include <cstdint>");
  text.blank();
  text.add("#include <pto/pto-inst.hpp>");
  if (hasHost || threads || traps) {
    text.add("#ifdef __CPU_SIM");
    if (coreEvents)
      text.add("#include <condition_variable>");
    if (hasHost || traps)
      text.add("#include <cstdlib>");
    if (hasHost)
      text.add("#include <cstring>");
    if (coreEvents)
      text.add("#include <mutex>");
    if (threads)
      text.add("#include <thread>");
    if (traps)
      // The device has `trap`, the simulation does not.
      text.add("inline void trap() { std::abort(); }");
    if (hasHost || flagsBase)
      text.add("#else");
    if (hasHost)
      text.add("#include <acl/acl.h>");
    if (flagsBase)
      text.add("extern \"C\" int rtGetC2cCtrlAddr(uint64_t *address, uint32_t *length);");
    text.add("#endif");
  }
  text.blank();
}

Emitted emitCpp(ModuleOp kernel, const Machine &machine, const CppOptions &options) {
  return emitCpp(llvm::ArrayRef(kernel), func::FuncOp(), machine, options);
}

Emitted emitCpp(llvm::ArrayRef<ModuleOp> modules, func::FuncOp host, const Machine &machine,
                const CppOptions &options) {
  std::vector<std::unique_ptr<CppKernel>> kernels;
  std::vector<CppLaunch> launches;
  for (ModuleOp module : modules) {
    kernels.push_back(std::make_unique<CppKernel>(module, machine));
    launches.push_back(kernels.back()->launch());
  }
  auto any = [&](bool (CppKernel::*is)() const) {
    return llvm::any_of(kernels, [&](const auto &kernel) { return ((*kernel).*is)(); });
  };
  // A single launch that passes on the arguments needs no host code; its `launch_` function is the
  // entry.
  bool hasHost = host && needsHost(host);
  TextLines text;
  std::vector<Finding> findings;
  if (hasHost)
    addHeader(text, hostName(host), "run_", machine);
  else if (!kernels.empty())
    addHeader(text, kernels.front()->name(), "launch_", machine);
  addIncludes(text, {hasHost, any(&CppKernel::mixed), any(&CppKernel::signalsCores),
                     any(&CppKernel::traps), any(&CppKernel::needsFlagsBase)});
  for (auto &kernel : kernels) {
    if (kernel != kernels.front())
      text.blank();
    kernel->emit(text);
    findings.insert(findings.end(), kernel->findings().begin(), kernel->findings().end());
  }
  if (hasHost) {
    text.blank();
    emitHost(text, host, machine, launches, findings);
  }
  Emitted emitted = text.finish(std::move(findings));
  // Line directives count lines, so they come after everything that moves lines.
  if (options.formatted)
    formatCpp(emitted);
  if (options.lineDirectives)
    addLineDirectives(emitted, options.fileName);
  return emitted;
}

} // namespace ptl::pto
