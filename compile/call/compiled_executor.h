// Runs entries of a program as native code, or on a simulated chip if the options name one. Code is
// compiled at the first call with new static values, element types or ranks.
#pragma once

#include "compile/call/find_change.h"
#include "compile/call/work.h"
#include "compile/native_code.h"
#include "compile/simulate/chip_runner.h"
#include "runtime/library.h"
#include "runtime/npy/owned_array.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace ptl {

/// How one call ended.
struct CallResult {
  rt::Failure failure;  ///< why it stopped; empty if it succeeded
  bool compiled = true; ///< false: the entry could not be compiled; the reason has been reported
  std::vector<rt::OwnedArray> outputs;
};

class CompiledExecutor {
public:
  CompiledExecutor(const CheckedProgram &program, const SourceManager &sources,
                   CompilerOptions options, DiagnosticSink &sink);

  /// The entry as callers see it. Precondition: `entryProblem(decl)` is empty.
  const rt::Entry &describe(const CallableDecl &decl);

  /// Calls an entry. The outputs are allocated, unless `again` passes those of an earlier call.
  /// `inputs.arrays` are the array parameters only. `elems`, if not empty, has the element types of
  /// the type parameters, for those that no array determines.
  CallResult call(const CallableDecl &decl, const rt::CallArguments &inputs,
                  const std::map<std::string, int64_t> &tunables = {},
                  const std::vector<ElemKind> &elems = {}, std::vector<rt::OwnedArray> again = {});

  /// The amount of computation of such a call, by the records of the operations; nothing if it
  /// depends on data. `outputs` are those of a call that succeeded.
  std::optional<Work> work(const CallableDecl &decl, const rt::CallArguments &inputs,
                           const std::map<std::string, int64_t> &tunables,
                           const std::vector<ElemKind> &elems,
                           const std::vector<rt::OwnedArray> &outputs);

  /// Makes later calls run code of that optimisation level. Everything before LLVM's passes is done
  /// once for all levels. Precondition: `CompilerOptions::manyLevels`, and no chip.
  void useLevel(int level) { useLevel(level, cpu::qualityAt(level)); }
  void useLevel(int level, cpu::CodeQuality quality);

  /// True if an error was the compiler's own.
  bool hadInternalError() const { return context_.log().hadInternalError(); }

  /// The settings of the simulated chip.
  ChipRun simulation;

private:
  rt::Failure bind(const rt::Entry &entry, const rt::CallArguments &inputs,
                   const std::vector<ElemKind> &elems, rt::Binding &binding);
  ir::EntryBinding wanted(const CallableDecl &decl, const rt::Entry &entry,
                          const rt::Binding &binding,
                          const std::map<std::string, int64_t> &tunables) const;
  rt::Failure allocate(const rt::Entry &entry, const rt::CallArguments &inputs,
                       const rt::Binding &binding, std::vector<rt::OwnedArray> &outputs);

  struct Variant {
    std::optional<cpu::JitCode> code;
    PtlLibrary opened;                    ///< the code in the form that callers load
    std::optional<Translated> translated; ///< for code of another level
    std::string manifest;
    std::unique_ptr<ChipRunner> chip;
    std::unique_ptr<StageRecord> stages; ///< if stages are also executed
  };

  bool compileForCpu(const ir::EntryBinding &concrete, Variant &variant);
  bool load(Variant &variant);
  bool compileForChip(const ir::EntryBinding &concrete, Variant &variant);
  /// Returns nothing if a pass has changed the program's meaning, which is reported.
  std::optional<rt::Failure> runOnChip(const Variant &variant, const rt::CallArguments &inputs,
                                       const rt::Binding &binding,
                                       const std::vector<const PtlArray *> &arrays);
  bool stagesAgree(const Variant &variant, const StageCall &call);
  const Variant *variantFor(const CallableDecl &decl, const rt::Entry &entry,
                            const rt::Binding &binding,
                            const std::map<std::string, int64_t> &tunables);

  const CheckedProgram &program_;
  const SourceManager &sources_;
  const CompileContext context_;
  int level_;
  cpu::CodeQuality quality_;
  std::map<const CallableDecl *, std::unique_ptr<rt::Manifest>> described_;
  std::map<std::pair<const CallableDecl *, std::string>, std::unique_ptr<Variant>> variants_;
};

} // namespace ptl
