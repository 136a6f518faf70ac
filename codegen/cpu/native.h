// From LLVM IR to machine code: optimisation, a JIT for this process, and object files ahead of
// time.
#pragma once

#include "codegen/cpu/vector_unit.h"

#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"
#include "llvm/Target/TargetMachine.h"

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace llvm::orc {
class LLJIT;
}

namespace ptl::cpu {

/// The processor that code is generated for; by default the one this process runs on.
struct Processor {
  std::string triple, name, features;
  VectorUnit vectors;

  static Processor host();
  /// A processor by its LLVM name (`x86-64-v3`, `znver4` …) of this machine's architecture, with
  /// features that it has in addition (`+avx512vnni`) or lacks (`-avx512bf16`). Precondition:
  /// `problemOf(name)` is empty.
  static Processor named(const std::string &name);
  /// Why the text names no processor; empty if it names one.
  static std::string problemOf(const std::string &name);
  /// The LLVM features that code for this processor may use and that this machine lacks.
  std::vector<std::string> lackingHere() const;
};

/// How much effort the code generator spends on good machine code.
enum class CodeQuality : uint8_t {
  Quick, ///< fast instruction selection and register allocation: a fourth of the time
  Full,
};

/// The quality for an optimisation level: at `-O0` short compile times matter.
inline CodeQuality qualityAt(int level) {
  return level == 0 ? CodeQuality::Quick : CodeQuality::Full;
}

llvm::Expected<std::unique_ptr<llvm::TargetMachine>>
makeTargetMachine(const Processor &processor, CodeQuality quality = CodeQuality::Full);

/// Called with the name of each pass before it runs. If it returns false, the compilation has been
/// abandoned, and passes that can be skipped are skipped.
using OnPass = std::function<bool(llvm::StringRef pass)>;

/// Optimises code that is already vectorised: `level` 0 … 3, where 3 runs all of LLVM's function
/// passes. The result for a function depends only on that function and on the signatures of its
/// callees, not on the rest of the module; so does its machine code. The cache of
/// function_objects.h relies on that.
void optimise(llvm::Module &module, llvm::TargetMachine &machine, int level,
              const OnPass &onPass = {});

enum class OutputKind : uint8_t { LlvmText, Assembly, Object };

/// The module as assembly text or object code, in memory.
llvm::Expected<std::string> emitOutput(llvm::Module &module, llvm::TargetMachine &machine,
                                       OutputKind kind);

class LazyCalls;

/// Native code that lives in this process.
class JitCode {
public:
  using Symbols = std::vector<std::pair<std::string, void *>>;
  JitCode(JitCode &&) noexcept;
  JitCode &operator=(JitCode &&) noexcept;
  ~JitCode();

  /// Object code that modules may call.
  using Objects = std::vector<std::shared_ptr<const std::string>>;
  /// Compiles an optimised module. Calls resolve to `symbols` first, then to `objects`, then to
  /// symbols of this process.
  static llvm::Expected<JitCode> create(std::unique_ptr<llvm::LLVMContext> context,
                                        std::unique_ptr<llvm::Module> module,
                                        const Processor &processor, const Symbols &symbols,
                                        const Objects &objects = {},
                                        CodeQuality quality = CodeQuality::Full);

  struct LazyCode;
  /// A function that is compiled at its first call. Its arguments and results are numbers and
  /// addresses. The first call may happen on several threads at once; `code` is called once.
  /// Functions of the same name are the same function.
  struct LazyFunction {
    std::string name;
    std::function<llvm::Expected<LazyCode>()> code;
  };
  /// Object code that defines a function, and the functions that it calls in turn.
  struct LazyCode {
    std::string object;
    std::vector<LazyFunction> functions;
  };
  /// Links object code that `emitOutput` gave for a module, in this process or another, with the
  /// functions that it calls. If the code of a lazy function cannot be obtained when it is called,
  /// the process is aborted.
  static llvm::Expected<JitCode> fromObject(std::string object, const Symbols &symbols,
                                            std::vector<LazyFunction> functions = {});

  /// The address of a symbol; null if there is none.
  void *lookup(const std::string &symbol) const;

private:
  explicit JitCode(std::unique_ptr<llvm::orc::LLJIT> jit, std::unique_ptr<LazyCalls> calls = {});
  std::unique_ptr<llvm::orc::LLJIT> jit_;
  std::unique_ptr<LazyCalls> calls_; ///< holds names that `jit_` owns, so it is destroyed first
};

} // namespace ptl::cpu
