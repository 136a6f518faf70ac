#include "codegen/source/tile_source.h"

#include "codegen/source/entry.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace ptl::source {

std::string Entry::header(const char *kind, const std::function<std::string(Type)> &typeText,
                          const std::map<std::string, std::string> &initial) {
  std::vector<std::string> params, results;
  for (BlockArgument argument : function.getArguments()) {
    if (std::string name = attribute(argument, "ptl.name"); !name.empty()) {
      bool isInout = isa<ir::RefType>(argument.getType());
      params.push_back(name + ": " + (isInout ? "inout " : "") + typeText(argument.getType()));
      if (auto strides = facts.strides.find(name); strides != facts.strides.end())
        params.back() += " strides " + strides->second;
    }
    if (std::string name = attribute(argument, "ptl.output"); !name.empty()) {
      auto value = initial.find(name);
      results.push_back(name + ": " + typeText(argument.getType()) +
                        (value == initial.end() ? "" : " = " + value->second));
    }
  }
  std::string text = docLines(facts.doc) + (facts.isPub ? "pub " : "") + kind + " " + facts.name;
  if (!dims.empty())
    text += "[" + llvm::join(dims, ", ") + "]";
  text += "(" + llvm::join(params, ", ") + ")";
  if (!results.empty())
    text += " -> (" + llvm::join(results, ", ") + ")";
  text += "\n";
  if (!facts.wheres.empty())
    text += "where " + llvm::join(facts.wheres, ", ") + "\n";
  return text;
}

namespace {

// ---- A kernel stays a kernel --------------------------------------------------------------------

class KernelEntry : public TileBody {
public:
  KernelEntry(Entry &entry, Unwritable unwritable)
      : TileBody(true, std::move(unwritable)), entry_(entry) {}

  std::string print() {
    run();
    startAgain();
    initial_.clear();
    run();
    return entry_.header(
               "kernel", [&](Type type) { return typeText(type); }, initial_) +
           "{\n" + out_ + "}\n";
  }

private:
  void run() {
    for (BlockArgument argument : entry_.function.getArguments())
      for (const char *kind : {"ptl.name", "ptl.output", "ptl.dim"})
        if (std::string name = entry_.attribute(argument, kind); !name.empty()) {
          names_.reserve(name);
          if (ir::rankOf(argument.getType()) > 0)
            knowGlobal(argument, name);
          else
            know(argument, name);
        }
    block(entry_.function.getBody().front());
  }

  /// An output that is filled before the grids has an initial value.
  bool special(Operation *op) override {
    if (entry_.isRequirement(op))
      return true;
    auto store = dyn_cast<ir::StoreOp>(op);
    if (!store || store->getParentOp() != entry_.function)
      return false;
    initial_[known_[store.getRef()].text] = operandOf(store, store.getValue()).text;
    return true;
  }

  Entry &entry_;
  std::map<std::string, std::string> initial_;
};

} // namespace

SourceResult printTiles(func::FuncOp function, const EntryFacts &facts) {
  SourceResult result{"", "", function.getLoc()};
  Unwritable unwritable = [&](Operation *op, const std::string &why) {
    if (!result.problem.empty())
      return;
    result.problem = why;
    result.at = op->getLoc();
  };
  Entry entry(function, facts);
  auto kind = function->getAttrOfType<StringAttr>("ptl.kind");
  result.text = kind && kind.getValue() == "kernel" ? KernelEntry(entry, unwritable).print()
                                                    : ProgramEntry(entry, unwritable).print();
  if (!result.problem.empty())
    result.text.clear();
  return result;
}

} // namespace ptl::source
