#include "codegen/source/tile_folds.h"

#include "codegen/source/op_kinds.h"
#include "codegen/source/tile_expressions.h"
#include "codegen/source/tile_statements.h"
#include "ir/dialect/fold.h"
#include "passes/analysis/source_place.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace ptl::source {

static size_t arraysOf(ir::FoldOp fold) { return fold.getNumOperands() / 2; }

bool givesTuple(Operation *op) {
  auto fold = dyn_cast<ir::FoldOp>(op);
  return fold && arraysOf(fold) > 1;
}

/// One text alone, or several as a tuple.
static std::string tupleOf(llvm::ArrayRef<std::string> texts) {
  return texts.size() == 1 ? texts.front() : "(" + llvm::join(texts, ", ") + ")";
}

/// What ends the body, whose location has the name of the function.
static ir::FoldYieldOp endOf(ir::FoldOp fold) {
  return cast<ir::FoldYieldOp>(fold.getBody().front().getTerminator());
}

/// A declaration without the words in front of its parameters: they are the name.
static std::string withoutName(ir::FoldOp fold, const Unwritable &unwritable) {
  BodyKind kind;
  BodyCode code(kind, ArrayUse::Whole, unwritable);
  std::vector<std::string> parameters, types, results;
  auto run = [&] {
    parameters.clear();
    for (BlockArgument argument : fold.getBody().getArguments()) {
      size_t number = argument.getArgNumber() % arraysOf(fold);
      std::string name = std::string(1, static_cast<char>('a' + number % 26)) +
                         (argument.getArgNumber() < arraysOf(fold) ? "" : "_next");
      code.know(argument, name = code.names().fresh(name));
      parameters.push_back(name + ": " + elementText(ir::elementTypeOf(argument.getType())) +
                           "[..]");
    }
    printBlock(code, fold.getBody().front());
    results.clear();
    for (Value value : endOf(fold).getValues())
      results.push_back(valueText(code, value).text);
  };
  // The first run only counts what is used more than once.
  run();
  code.startAgain();
  run();
  for (Value value : endOf(fold).getValues())
    types.push_back(elementText(ir::elementTypeOf(value.getType())) + "[..]");
  return "(" + llvm::join(parameters, ", ") + ") -> " + tupleOf(types) +
         "\nwhere associative\n{\n" + code.takeText() + "return " + tupleOf(results) + "\n}\n";
}

std::string declareFolds(func::FuncOp function, const std::string &entry, Unwritable unwritable) {
  std::map<std::string, std::string> names;
  std::string declarations;
  function.walk([&](ir::FoldOp fold) {
    std::string rest = withoutName(fold, unwritable);
    auto [found, isNew] = names.try_emplace(rest, entry + "_step");
    if (isNew) {
      if (names.size() > 1)
        found->second += "_" + std::to_string(names.size());
      declarations += "fn " + found->second + rest + "\n";
    }
    ir::FoldYieldOp end = endOf(fold);
    end->setLoc(NameLoc::get(StringAttr::get(fold.getContext(), found->second), fold.getLoc()));
  });
  return declarations;
}

llvm::SmallVector<std::string> foldNames(func::FuncOp function) {
  llvm::SmallVector<std::string> names;
  function.walk([&](ir::FoldOp fold) { names.push_back(block::nameOf(endOf(fold)->getLoc())); });
  return names;
}

std::string foldText(BodyCode &code, Operation *op) {
  auto fold = cast<ir::FoldOp>(op);
  std::vector<std::string> arguments = {block::nameOf(endOf(fold)->getLoc())}, starts;
  for (Value array : fold.getOperands().take_front(arraysOf(fold)))
    arguments.push_back(valueText(code, array).text);
  for (Value start : fold.getOperands().drop_front(arraysOf(fold)))
    starts.push_back(valueText(code, start).text);
  return (fold.getLast() ? "reduce(" : "scan(") + llvm::join(arguments, ", ") +
         ", start: " + tupleOf(starts) + ", axis: " + std::to_string(fold.getAxis()) + ")";
}

void printTupleFold(BodyCode &code, Operation *op) {
  auto fold = cast<ir::FoldOp>(op);
  std::string text = foldText(code, fold);
  std::vector<std::string> names(arraysOf(fold));
  for (auto [result, of] : llvm::zip(fold.getResults(), fold.getWanted()))
    if (!result.use_empty()) {
      std::string &name = names[static_cast<size_t>(of)];
      code.know(result, name = code.names().fresh(wantedName(code, result)));
    }
  for (std::string &name : names)
    if (name.empty()) // the checker warns of parts that nobody reads, unless they are marked
      name = code.names().fresh("_unread");
  code.line("let " + tupleOf(names) + " = " + text);
}

} // namespace ptl::source
