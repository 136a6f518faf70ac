// The options of a compilation, independent of a command line or an editor's request.
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
  bool keepsStages = false; ///< for chips: `ChipResult` has the IR after each pass
  bool timePasses = false;  ///< print MLIR's times
  /// Called with the first internal error, to write a reproducer. Returns a note that names the
  /// reproducer, or says why there is none. Null: none is written.
  std::function<std::string(const SourceManager &sources, const Fault &fault)> keepFault;
  std::string dumpFolder;             ///< numbered files of every phase; empty: none
  std::optional<Machine> legalizeFor; ///< lower to the instructions of this machine only, for tests
  cpu::Processor processor = cpu::Processor::host();
  bool ranges = false;    ///< locations carry source ranges
  bool triesHelps = true; ///< if something does not fit a chip, other values are tried
  /// report statements that are executed in parts, with values that avoid it
  bool reportsParts = false;
  /// How the program was checked, so that edits of numbers in its text can be tried; null: they are
  /// not.
  std::shared_ptr<const CheckOptions> recheck;
  bool manyLevels = false; ///< `CompiledExecutor::useLevel` is going to be called
  /// With `manyLevels`: the cache that successive compilations share; may be null.
  std::shared_ptr<cpu::FunctionObjects> functionObjects;
  /// The cache of native code that persists between processes; may be null. Not used if more than
  /// the code is requested (times, dumps, checks of passes).
  std::shared_ptr<const DiskCache> cache;
  /// What code depends on besides the sources and these options: the options of the check.
  std::string cacheSalt;
  std::optional<Machine> chip; ///< compile for this chip's block level, not for the CPU
  /// Called before each step (`build`, the name of a pass, `vectorise`, `llvm` …), to report
  /// progress.
  std::function<void(const std::string &step)> onStep;
  /// Called with the result of each pass on the way to a chip: one module, or those of all kernels.
  /// It may modify them; tests use it to inject errors.
  std::function<void(llvm::StringRef pass, llvm::ArrayRef<mlir::ModuleOp> made)> afterPass;
};

} // namespace ptl
