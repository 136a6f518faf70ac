// How to compile, without a command line or a request of an editor.
#pragma once

#include "codegen/cpu/function_objects.h"
#include "codegen/cpu/native.h"
#include "compile/fault.h"
#include "frontend/base/disk_cache.h"
#include "frontend/sema/check.h"
#include "machines/machine.h"

#include "mlir/IR/BuiltinOps.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace ptl {

struct CompilerOptions {
  int level = 2;            ///< `-O`
  bool unchecked = false;   ///< no bounds checks
  bool verifyEach = false;  ///< run the verifier after every pass
  bool keepsStages = false; ///< of chips: `ChipResult` has the IR after each pass
  bool timePasses = false;  ///< print MLIR's times
  /// Called with the first internal error, to keep what shows it again; gives a note that says
  /// where, or why not. Null: nothing is kept.
  std::function<std::string(const SourceManager &sources, const Fault &fault)> keepFault;
  std::string dumpFolder;             ///< numbered files of every phase; empty: none
  std::optional<Machine> legalizeFor; ///< whose instructions are to suffice, for tests
  cpu::Processor processor = cpu::Processor::host();
  bool ranges = false;       ///< locations carry source ranges
  bool triesHelps = true;    ///< what does not fit a chip is tried with other values
  bool reportsParts = false; ///< reports what is done in parts, with values that avoid it
  /// How the program was checked, to try other numbers in its text; null: these are not tried.
  std::shared_ptr<const CheckOptions> recheck;
  bool manyLevels = false; ///< `CompiledExecutor::useLevel` is going to be called
  /// Where `manyLevels`: what compilations one after the other share. Null: nothing.
  std::shared_ptr<cpu::FunctionObjects> functionObjects;
  /// Where native code is kept from process to process; null: nowhere. Not used where more than the
  /// code is wanted (times, dumps, checks of passes).
  std::shared_ptr<const DiskCache> cache;
  /// What code depends on beside the sources and these options: how the sources were checked.
  std::string cacheSalt;
  std::optional<Machine> chip; ///< compile for this chip's block level, not for the CPU
  /// Called before each step (`build`, the name of a pass, `vectorise`, `llvm` …), for those who
  /// watch.
  std::function<void(const std::string &step)> onStep;
  /// Called with what a pass on the way to a chip has made, one module or those of all kernels,
  /// which it may change: the tests make passes wrong with it.
  std::function<void(llvm::StringRef pass, llvm::ArrayRef<mlir::ModuleOp> made)> afterPass;
};

} // namespace ptl
