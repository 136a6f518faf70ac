#include "compile/native_code.h"
#include "codegen/cpu/lower_module.h"

#include "codegen/cpu/to_llvm.h"
#include "compile/kept_code.h"
#include "runtime/called_symbols.h"

#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/Support/raw_ostream.h"

namespace ptl {

static std::string textOf(llvm::Module &module) {
  std::string text;
  llvm::raw_string_ostream out(text);
  module.print(out, nullptr);
  return text;
}

std::optional<VectorModule> vectorise(const CompileContext &context, const TileModule &tiles,
                                      cpu::DeferredFunctions *deferred) {
  context.step("vectorise");
  mlir::ModuleOp module = tiles.module.get();
  mlir::OwningOpRef<mlir::ModuleOp> made =
      runStage(context, "vectorise", module, [&](std::string &) {
        return cpu::lowerToBlocks(module, context.options().processor, deferred);
      });
  if (!made)
    return std::nullopt;
  return VectorModule{std::move(made)};
}

std::optional<cpu::LlvmModule>
translateToLlvm(const CompileContext &context, VectorModule vectors,
                const std::function<void(mlir::ModuleOp)> &onLowered) {
  context.step("translate");
  mlir::ModuleOp module = *vectors.module;
  return runStage(context, "translate", module,
                  [&](std::string &why) -> std::optional<cpu::LlvmModule> {
                    auto code = cpu::blocksToLlvm(module, onLowered);
                    if (code)
                      return std::move(*code);
                    why += llvm::toString(code.takeError());
                    return std::nullopt;
                  });
}

static std::optional<cpu::LlvmModule> optimise(const CompileContext &context, cpu::LlvmModule code,
                                               int level) {
  context.step("optimise");
  return runStage(context, "optimise", {}, [&](std::string &why) -> std::optional<cpu::LlvmModule> {
    auto machine = cpu::makeTargetMachine(context.options().processor);
    if (!machine) {
      why += llvm::toString(machine.takeError());
      return std::nullopt;
    }
    cpu::optimise(*code.module, **machine, level);
    return std::move(code);
  });
}

std::optional<cpu::LlvmModule> lowerToLlvm(const CompileContext &context, TensorModule tensor) {
  std::optional<TileModule> tiles = tileModule(context, std::move(tensor));
  std::optional<VectorModule> vectors;
  if (tiles)
    vectors = vectorise(context, *tiles);
  if (!vectors)
    return std::nullopt;
  if (context.log().dumps())
    context.log().dump("vector.mlir", textOf(*vectors->module));
  std::optional<cpu::LlvmModule> code = translateToLlvm(context, std::move(*vectors));
  if (code)
    code = optimise(context, std::move(*code), context.options().level);
  if (code && context.log().dumps())
    context.log().dump("llvm.ll", textOf(*code->module));
  return code;
}

static std::optional<cpu::JitCode> load(const CompileContext &context, cpu::LlvmModule code,
                                        const cpu::JitCode::Objects &objects,
                                        cpu::CodeQuality quality) {
  context.step("native code");
  return runStage(context, "native code", {}, [&](std::string &why) -> std::optional<cpu::JitCode> {
    auto loaded =
        cpu::JitCode::create(std::move(code.context), std::move(code.module),
                             context.options().processor, rt::calledSymbols(), objects, quality);
    if (loaded)
      return std::move(*loaded);
    why += llvm::toString(loaded.takeError());
    return std::nullopt;
  });
}

/// Links the code of an entry; nothing if it cannot be linked or does not have the symbol.
static std::optional<cpu::JitCode> linkEntry(EntryCompiler &compiler, EntryCode code,
                                             const std::string &symbol) {
  auto linked = cpu::JitCode::fromObject(std::move(code.object), rt::calledSymbols(),
                                         compiler.lazyFunctions(code.functions));
  if (!linked) {
    llvm::consumeError(linked.takeError());
    return std::nullopt;
  }
  return linked->lookup(symbol) ? std::optional(std::move(*linked)) : std::nullopt;
}

/// LLVM IR of an entry before optimisation, without the functions that go to `deferred`, if that is not null. Nothing after an error.
static std::optional<cpu::LlvmModule> translated(const CompileContext &context,
                                                 const ir::EntryBinding &binding,
                                                 const std::string &symbol,
                                                 cpu::DeferredFunctions *deferred) {
  std::optional<VectorModule> vectors = vectoriseEntry(context, binding, symbol, deferred);
  return vectors ? translateToLlvm(context, std::move(*vectors)) : std::nullopt;
}

/// The entry's own code, and what makes the functions of its products. Nothing after an error.
static std::optional<EntryCode> entryCode(const CompileContext &context, EntryCompiler &compiler,
                                          const ir::EntryBinding &binding,
                                          const std::string &symbol) {
  EntryCode result;
  std::optional<cpu::LlvmModule> code = translated(context, binding, symbol, &result.functions);
  if (!code)
    return std::nullopt;
  std::optional<std::string> object =
      runStage(context, "native code", {}, [&](std::string &why) -> std::optional<std::string> {
        llvm::Expected<std::string> made = compiler.objectOf(*code->module);
        if (made)
          return std::move(*made);
        why += llvm::toString(made.takeError());
        return std::nullopt;
      });
  if (!object)
    return std::nullopt;
  result.object = std::move(*object);
  return result;
}

/// The whole code at once, with what else the options want of its compilation.
static std::optional<cpu::JitCode> compileWhole(const CompileContext &context,
                                                const ir::EntryBinding &binding,
                                                const std::string &symbol) {
  std::optional<BuiltEntry> built = buildEntry(context, binding, symbol);
  std::optional<cpu::LlvmModule> code;
  if (built)
    code = lowerToLlvm(context, std::move(built->tensor));
  if (!code)
    return std::nullopt;
  return load(context, std::move(*code), {}, cpu::qualityAt(context.options().level));
}

std::optional<cpu::JitCode> compileEntry(const CompileContext &context,
                                         const ir::EntryBinding &binding,
                                         const std::string &symbol) {
  if (!wantsCodeAlone(context.options()))
    return compileWhole(context, binding, symbol);
  std::shared_ptr<EntryCompiler> compiler = EntryCompiler::create(context);
  KeptCode kept(context, binding, symbol);
  // Code of the cache that cannot be linked is made anew, as if it were not there.
  if (std::optional<EntryCode> code = kept.find())
    if (std::optional<cpu::JitCode> linked = linkEntry(*compiler, std::move(*code), symbol))
      return linked;
  std::optional<EntryCode> code = entryCode(context, *compiler, binding, symbol);
  if (!code)
    return std::nullopt;
  std::optional<cpu::JitCode> linked = linkEntry(*compiler, *code, symbol);
  if (linked)
    kept.keep(*code);
  else
    context.log().reportFault("native code", "the code cannot be linked");
  return linked;
}

std::optional<VectorModule> vectoriseEntry(const CompileContext &context,
                                           const ir::EntryBinding &binding,
                                           const std::string &symbol,
                                           cpu::DeferredFunctions *deferred) {
  std::optional<BuiltEntry> built = buildEntry(context, binding, symbol);
  if (!built)
    return std::nullopt;
  std::optional<TileModule> tiles = tileModule(context, std::move(built->tensor));
  return tiles ? vectorise(context, *tiles, deferred) : std::nullopt;
}

std::optional<Translated> translateEntry(const CompileContext &context,
                                         const ir::EntryBinding &binding,
                                         const std::string &symbol) {
  std::optional<cpu::LlvmModule> code = translated(context, binding, symbol, nullptr);
  if (!code)
    return std::nullopt;
  Translated result;
  if (context.options().functionObjects)
    result.functions = cpu::takeFunctions(*code->module);
  llvm::raw_string_ostream out(result.bytes);
  llvm::WriteBitcodeToFile(*code->module, out);
  return result;
}

/// The code of functions that compilations share, compiled where it is not there yet. Nothing after
/// an error.
static std::optional<cpu::JitCode::Objects> sharedObjects(const CompileContext &context,
                                                          const cpu::SeparateFunctions &functions,
                                                          int level, cpu::CodeQuality quality) {
  const CompilerOptions &options = context.options();
  if (!options.functionObjects)
    return cpu::JitCode::Objects();
  context.step("shared code");
  auto shared = options.functionObjects->objects(functions, options.processor, level, quality);
  if (shared)
    return std::move(*shared);
  context.log().reportFault("native code", llvm::toString(shared.takeError()));
  return std::nullopt;
}

std::optional<cpu::JitCode> compileTranslated(const CompileContext &context,
                                              const Translated &translated, int level,
                                              cpu::CodeQuality quality) {
  auto llvmContext = std::make_unique<llvm::LLVMContext>();
  auto module =
      llvm::parseBitcodeFile(llvm::MemoryBufferRef(translated.bytes, "translated"), *llvmContext);
  if (!module) {
    context.log().reportFault("translate", llvm::toString(module.takeError()));
    return std::nullopt;
  }
  std::optional<cpu::LlvmModule> code =
      optimise(context, {std::move(llvmContext), std::move(*module)}, level);
  std::optional<cpu::JitCode::Objects> objects;
  if (code)
    objects = sharedObjects(context, translated.functions, level, quality);
  if (!objects)
    return std::nullopt;
  return load(context, std::move(*code), *objects, quality);
}

} // namespace ptl
