// From LLVM IR to machine code: optimisation, a JIT for this process, and files ahead of time.
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

/// The processor that code is made for. The default is this one.
struct Processor {
  std::string triple, name, features;
  VectorUnit vectors;

  static Processor host();
  /// By LLVM name (`x86-64-v3`, `znver4` …) on this machine's architecture, and features that it has
  /// (`+avx512vnni`) or lacks (`-avx512bf16`) beside those of its name. Precondition: `problemOf` is
  /// empty.
  static Processor named(const std::string &name);
  /// Why such a text names no processor; empty if it does.
  static std::string problemOf(const std::string &name);
  /// The features of LLVM that code for this processor may use and this machine does not have.
  std::vector<std::string> lackingHere() const;
};

/// How much effort the code generator makes for good machine code.
enum class CodeQuality : uint8_t {
  Quick, ///< instruction by instruction, registers block by block: a fourth of the time
  Full,
};

/// The quality for a level: at `-O0` code is wanted soon.
inline CodeQuality qualityAt(int level) {
  return level == 0 ? CodeQuality::Quick : CodeQuality::Full;
}

llvm::Expected<std::unique_ptr<llvm::TargetMachine>>
makeTargetMachine(const Processor &processor, CodeQuality quality = CodeQuality::Full);

/// Gets the name of each pass before it runs. If it returns false, passes that can be skipped are
/// skipped, because the result is not wanted any more.
using OnPass = std::function<bool(llvm::StringRef pass)>;

/// Optimises already vectorised code: `level` 0 … 3, where 3 has all of LLVM's function passes. The
/// result for a function depends on the function and on the signatures of its callees, not on the
/// rest of the module; so does its machine code.
void optimise(llvm::Module &module, llvm::TargetMachine &machine, int level,
              const OnPass &onPass = {});

enum class OutputKind : uint8_t { LlvmText, Assembly, Object };

/// The module as text or object code, in memory.
llvm::Expected<std::string> emitOutput(llvm::Module &module, llvm::TargetMachine &machine,
                                       OutputKind kind);

/// Links objects on disk to a shared library at `output`; `arguments` are options of a linker.
llvm::Error linkSharedLibrary(const std::vector<std::string> &objects,
                              const std::vector<std::string> &arguments, const std::string &output);

class LazyCalls;

/// Native code living in this process.
class JitCode {
public:
  using Symbols = std::vector<std::pair<std::string, void *>>;
  JitCode(JitCode &&) noexcept;
  JitCode &operator=(JitCode &&) noexcept;
  ~JitCode();

  /// Object code that modules may call.
  using Objects = std::vector<std::shared_ptr<const std::string>>;
  /// Compiles an optimised module. Calls resolve to `symbols` first, then to `objects` and to this
  /// process.
  static llvm::Expected<JitCode> create(std::unique_ptr<llvm::LLVMContext> context,
                                        std::unique_ptr<llvm::Module> module,
                                        const Processor &processor, const Symbols &symbols,
                                        const Objects &objects = {},
                                        CodeQuality quality = CodeQuality::Full);

  struct LazyCode;
  /// A function that gets its code when it is first called. Its arguments and results are numbers and addresses. Threads may call it
  /// at once; `code` is asked for once. Functions of one name are the same.
  struct LazyFunction {
    std::string name;
    std::function<llvm::Expected<LazyCode>()> code;
  };
  /// Object code that defines a function, and those that it calls in turn.
  struct LazyCode {
    std::string object;
    std::vector<LazyFunction> functions;
  };
  /// Links object code that `emitOutput` gave to a module, here or in another process, with the functions that it calls. A function
  /// whose code cannot be had when it is called ends the process.
  static llvm::Expected<JitCode> fromObject(std::string object, const Symbols &symbols,
                                            std::vector<LazyFunction> functions = {});

  /// The address of a symbol, nullptr if there is none.
  void *lookup(const std::string &symbol) const;

private:
  explicit JitCode(std::unique_ptr<llvm::orc::LLJIT> jit, std::unique_ptr<LazyCalls> calls = {});
  std::unique_ptr<llvm::orc::LLJIT> jit_;
  std::unique_ptr<LazyCalls> calls_; ///< has names of `jit_`, so it goes first
};

} // namespace ptl::cpu
