#include "lsp/worker/print_ir.h"

#include "ir/build/source_range.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/Builders.h"
#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/IR/AssemblyAnnotationWriter.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/Support/FormattedStream.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace mlir;

namespace ptl::worker {

namespace {

/// Types as text, each printed once.
class TypeNames {
public:
  const std::string &of(mlir::Type type) {
    std::string &text = names_[type];
    if (text.empty()) {
      llvm::raw_string_ostream out(text);
      type.print(out);
    }
    return text;
  }

private:
  llvm::DenseMap<mlir::Type, std::string> names_;
};

} // namespace

StageText printModule(ModuleOp module) {
  StageText result;
  AsmState::LocationMap lines;
  OpPrintingFlags flags;
  // The addresses of grid bodies are LLVM's while the bodies are functions of MLIR.
  flags.assumeVerified();
  AsmState state(module, flags, &lines);
  {
    llvm::raw_string_ostream out(result.text);
    module->print(out, state);
    out << '\n';
  }
  TypeNames names;
  module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    auto found = lines.find(op);
    if (found == lines.end() || isa<ModuleOp>(op))
      return;
    size_t line = found->second.first - 1;
    if (result.facts.size() <= line)
      result.facts.resize(line + 1);
    LineFacts &facts = result.facts[line];
    if (!facts.op.empty())
      return;
    facts.op = op->getName().getStringRef().str();
    for (mlir::Type type : op->getOperandTypes())
      facts.operands.push_back(names.of(type));
    for (mlir::Type type : op->getResultTypes())
      facts.results.push_back(names.of(type));
    result.map.set(line, result.map.intern(ir::rangesOf(op->getLoc())));
  });
  return result;
}

LineNumbers numberLines(ModuleOp module) {
  LineNumbers numbers;
  MLIRContext *context = module.getContext();
  llvm::DenseMap<Location, unsigned> known;
  StringAttr file = StringAttr::get(context, "ptl");
  auto numbered = [&](Location location) -> Location {
    auto [at, isNew] = known.try_emplace(location, 0);
    if (isNew) {
      std::vector<Span> spans = ir::rangesOf(location);
      if (!spans.empty()) {
        numbers.origins.push_back(std::move(spans));
        at->second = static_cast<unsigned>(numbers.origins.size());
      }
    }
    return FileLineColLoc::get(file, at->second, 0);
  };
  module.walk([&](Operation *op) {
    if (!isa<ModuleOp>(op))
      op->setLoc(numbered(op->getLoc()));
  });
  auto source = LLVM::DIFileAttr::get(context, "ptl", "");
  auto unit = LLVM::DICompileUnitAttr::get(DistinctAttr::create(UnitAttr::get(context)),
                                           llvm::dwarf::DW_LANG_C, source, file, true,
                                           LLVM::DIEmissionKind::LineTablesOnly);
  auto type = LLVM::DISubroutineTypeAttr::get(context, {});
  for (auto function : module.getOps<LLVM::LLVMFuncOp>()) {
    if (function.isExternal())
      continue;
    auto program = LLVM::DISubprogramAttr::get(
        DistinctAttr::create(UnitAttr::get(context)), unit, source, function.getName(),
        function.getName(), source, 0, 0,
        LLVM::DISubprogramFlags::Definition | LLVM::DISubprogramFlags::Optimized, type);
    function->setLoc(FusedLoc::get(context, {function->getLoc()}, program));
  }
  return numbers;
}

namespace {

/// Notes on which line each instruction stands.
class InstructionLines : public llvm::AssemblyAnnotationWriter {
public:
  void emitInstructionAnnot(const llvm::Instruction *instruction,
                            llvm::formatted_raw_ostream &out) override {
    lines[instruction] = out.getLine();
  }
  llvm::DenseMap<const llvm::Instruction *, unsigned> lines;
};

std::string typeText(const llvm::Type *type) {
  std::string text;
  llvm::raw_string_ostream out(text);
  type->print(out);
  return text;
}

} // namespace

StageText printLlvm(const llvm::Module &module, const LineNumbers &numbers) {
  StageText result;
  std::unique_ptr<llvm::Module> copy = llvm::CloneModule(module);
  llvm::DenseMap<const llvm::Instruction *, unsigned> ids;
  for (const llvm::Function &function : *copy)
    for (const llvm::BasicBlock &block : function)
      for (const llvm::Instruction &instruction : block)
        if (const llvm::DebugLoc &place = instruction.getDebugLoc())
          ids[&instruction] = place.getLine();
  llvm::StripDebugInfo(*copy);
  // The list of everything that this processor can do says nothing about the function.
  for (llvm::Function &function : *copy)
    function.removeFnAttr("target-features");
  InstructionLines lines;
  {
    llvm::raw_string_ostream text(result.text);
    llvm::formatted_raw_ostream out(text);
    copy->print(out, &lines);
  }
  llvm::DenseMap<unsigned, uint32_t> interned;
  llvm::DenseMap<const llvm::Type *, std::string> types;
  auto nameOf = [&](const llvm::Type *type) -> const std::string & {
    std::string &name = types[type];
    if (name.empty())
      name = typeText(type);
    return name;
  };
  for (const auto &[instruction, line] : lines.lines) {
    if (result.facts.size() <= line)
      result.facts.resize(line + 1);
    LineFacts &facts = result.facts[line];
    facts.op = instruction->getOpcodeName();
    for (const llvm::Use &operand : instruction->operands())
      facts.operands.push_back(nameOf(operand->getType()));
    if (!instruction->getType()->isVoidTy())
      facts.results.push_back(nameOf(instruction->getType()));
    unsigned id = ids.lookup(instruction);
    const std::vector<Span> *spans = numbers.find(id);
    if (!spans)
      continue;
    auto [origin, isNew] = interned.try_emplace(id, 0);
    if (isNew)
      origin->second = result.map.intern(*spans);
    result.map.set(line, origin->second);
  }
  return result;
}

} // namespace ptl::worker
