#include "lsp/worker/print_ir.h"

#include "ir/dialect/source_range.h"

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

StageText printModule(ModuleOp module, std::vector<Operation *> *ops) {
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
    if (ops) {
      ops->resize(std::max(ops->size(), line + 1));
      (*ops)[line] = op;
    }
    for (mlir::Type type : op->getOperandTypes())
      facts.operands.push_back(names.of(type));
    for (mlir::Type type : op->getResultTypes())
      facts.results.push_back(names.of(type));
    result.map.set(line, result.map.intern(ir::rangesOf(op->getLoc())));
  });
  return result;
}

void numberPlaces(func::FuncOp function, const FunctionKey &key) {
  StringAttr file = StringAttr::get(function.getContext(), "ptl");
  function.walk([&](Operation *op) {
    op->setLoc(FileLineColLoc::get(file, key.numbers.lookup(op->getLoc()), 0));
  });
}

void addDebugScopes(ModuleOp module) {
  MLIRContext *context = module.getContext();
  StringAttr file = StringAttr::get(context, "ptl");
  auto source = LLVM::DIFileAttr::get(context, "ptl", "");
  auto unit = LLVM::DICompileUnitAttr::get(DistinctAttr::create(UnitAttr::get(context)),
                                           llvm::dwarf::DW_LANG_C, source, file, true,
                                           LLVM::DIEmissionKind::LineTablesOnly);
  auto type = LLVM::DISubroutineTypeAttr::get(context, {});
  Location none = FileLineColLoc::get(file, 0, 0);
  for (auto function : module.getOps<LLVM::LLVMFuncOp>()) {
    if (function.isExternal())
      continue;
    auto program = LLVM::DISubprogramAttr::get(
        DistinctAttr::create(UnitAttr::get(context)), unit, source, function.getName(),
        function.getName(), source, 0, 0,
        LLVM::DISubprogramFlags::Definition | LLVM::DISubprogramFlags::Optimized, type);
    function->setLoc(FusedLoc::get(context, {none}, program));
  }
}

// ---- LLVM IR ------------------------------------------------------------------------------------

namespace {

/// Notes on which line each instruction stands.
class InstructionLines : public llvm::AssemblyAnnotationWriter {
public:
  void emitInstructionAnnot(const llvm::Instruction *instruction,
                            llvm::formatted_raw_ostream &out) override {
    unsigned line = out.getLine();
    if (lines.size() <= line)
      lines.resize(line + 1);
    lines[line] = instruction;
  }
  std::vector<const llvm::Instruction *> lines;
};

class TypeTexts {
public:
  const std::string &of(const llvm::Type *type) {
    std::string &text = texts_[type];
    if (text.empty()) {
      llvm::raw_string_ostream out(text);
      type->print(out);
    }
    return text;
  }

private:
  llvm::DenseMap<const llvm::Type *, std::string> texts_;
};

LineFacts factsOf(const llvm::Instruction &instruction, TypeTexts &types) {
  LineFacts facts;
  facts.op = instruction.getOpcodeName();
  for (const llvm::Use &operand : instruction.operands())
    facts.operands.push_back(types.of(operand->getType()));
  if (!instruction.getType()->isVoidTy())
    facts.results.push_back(types.of(instruction.getType()));
  return facts;
}

void addNames(const llvm::Value *value, std::set<std::string> &names) {
  if (auto *global = llvm::dyn_cast<llvm::GlobalValue>(value))
    names.insert(global->getName().str());
  else if (auto *constant = llvm::dyn_cast<llvm::ConstantExpr>(value))
    for (const llvm::Use &operand : constant->operands())
      addNames(operand, names);
}

/// The parts of a printed module.
struct PrintedModule {
  struct Item {
    std::string name;
    size_t begin, end; ///< lines
  };
  std::vector<std::string_view> lines;
  std::string header;
  std::map<std::string, std::string> data, declarations;
  std::vector<Item> functions;
  std::map<unsigned, std::string> attributes;

  PrintedModule(const llvm::Module &module, std::string_view text);
};

PrintedModule::PrintedModule(const llvm::Module &module, std::string_view text)
    : lines(linesOf(text)) {
  // Functions and globals are printed in their order.
  auto function = module.begin();
  auto global = module.global_begin();
  for (size_t i = 0; i < lines.size(); ++i) {
    llvm::StringRef line = lines[i];
    if (line.starts_with("define ")) {
      size_t begin = i;
      while (lines[i] != "}")
        ++i;
      functions.push_back({(function++)->getName().str(), begin, i + 1});
    } else if (line.starts_with("declare ")) {
      declarations[(function++)->getName().str()] = line.str() + "\n";
    } else if (line.starts_with("@")) {
      data[(global++)->getName().str()] = line.str() + "\n";
    } else if (line.consume_front("attributes #")) {
      unsigned number = 0;
      line.consumeInteger(10, number);
      attributes[number] = line.drop_front(std::min<size_t>(3, line.size())).str();
    } else if (functions.empty() && data.empty() && declarations.empty() && !line.empty() &&
               !line.starts_with("; Function")) {
      header += line.str() + "\n";
    }
  }
}

} // namespace

Needs needsOf(const llvm::Module &module) {
  Needs needs;
  for (const llvm::Function &function : module) {
    std::set<std::string> &names = needs[function.getName().str()];
    for (const llvm::BasicBlock &block : function)
      for (const llvm::Instruction &instruction : block)
        for (const llvm::Use &operand : instruction.operands())
          addNames(operand, names);
  }
  return needs;
}

FunctionCodes printFunctions(llvm::Module &module) {
  llvm::DenseMap<const llvm::Instruction *, unsigned> numbers;
  for (const llvm::Function &function : module)
    for (const llvm::BasicBlock &block : function)
      for (const llvm::Instruction &instruction : block)
        if (const llvm::DebugLoc &place = instruction.getDebugLoc())
          numbers[&instruction] = place.getLine();
  llvm::StripDebugInfo(module);
  // The list of everything that this processor can do says nothing about the function.
  for (llvm::Function &function : module)
    function.removeFnAttr("target-features");
  std::string text;
  InstructionLines instructions;
  {
    llvm::raw_string_ostream stream(text);
    llvm::formatted_raw_ostream out(stream);
    module.print(out, &instructions);
  }
  PrintedModule printed(module, text);
  instructions.lines.resize(printed.lines.size());
  Needs needs = needsOf(module);
  TypeTexts types;
  FunctionCodes codes;
  using Need = FunctionCode::Need;
  for (const PrintedModule::Item &item : printed.functions) {
    FunctionCode &code = codes[item.name];
    code.attributes = printed.attributes;
    code.needs.push_back({Need::Kind::Header, "", printed.header});
    for (const std::string &name : needs[item.name])
      if (auto found = printed.data.find(name); found != printed.data.end())
        code.needs.push_back({Need::Kind::Data, name, found->second});
      else if (auto found = printed.declarations.find(name); found != printed.declarations.end())
        code.needs.push_back({Need::Kind::Declaration, name, found->second});
    for (size_t line = item.begin; line < item.end; ++line) {
      const llvm::Instruction *instruction = instructions.lines[line];
      code.addLine(printed.lines[line], numbers.lookup(instruction),
                   instruction ? factsOf(*instruction, types) : LineFacts());
    }
  }
  return codes;
}

} // namespace ptl::worker
