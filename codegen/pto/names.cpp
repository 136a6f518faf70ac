#include "codegen/pto/names.h"

#include "ir/dialect/attributes.h"
#include "ir/dialect/instruction_op.h"
#include "ir/dialect/ptl_dialect.h"
#include "ir/dialect/source_name.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/StringExtras.h"

#include "clang/Basic/Builtins.h"
#include "clang/Basic/IdentifierTable.h"
#include "clang/Basic/LangOptions.h"

using namespace mlir;

namespace ptl::pto {

std::string reasonOf(Operation *op) {
  auto why = attrs::why.of(op);
  Operation *before = op->getPrevNode();
  return why && !(before && attrs::why.of(before) == why) ? why.str() : std::string();
}

std::string commentText(llvm::StringRef text) {
  std::string comment;
  for (char c : text)
    comment += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  // A backslash at the end of a line would make the next line a part of the comment.
  return llvm::StringRef(comment).rtrim().ends_with("\\") ? comment + "." : comment;
}

/// A word for the purpose of a number without a name, from the first use that shows one.
static std::string purpose(Value value) {
  for (OpOperand &use : value.getUses()) {
    Operation *user = use.getOwner();
    auto is = [&](Value operand) { return operand == value; };
    if (isa<SetFlagDynOp, WaitFlagDynOp>(user))
      return "event";
    if (auto slot = dyn_cast<MultiTileGetOp>(user))
      return is(slot.getSlot()) ? "turn" : is(slot.getValidRow()) ? "rows" : "cols";
    if (auto tile = dyn_cast<AllocTileOp>(user))
      return is(tile.getValidRow()) ? "rows" : is(tile.getValidCol()) ? "cols" : "addr";
    if (auto part = dyn_cast<PartitionViewOp>(user); part && part.getOffsets().size() >= 2) {
      size_t last = part.getOffsets().size() - 1;
      if (is(part.getOffsets()[last]) || is(part.getSizes()[last]))
        return is(part.getOffsets()[last]) ? "col" : "cols";
      if (is(part.getOffsets()[last - 1]) || is(part.getSizes()[last - 1]))
        return is(part.getOffsets()[last - 1]) ? "row" : "rows";
    }
    if (auto loop = dyn_cast<scf::ForOp>(user); loop && is(loop.getUpperBound()))
      return "end";
  }
  return {};
}

static std::string tileName(TileBufType type) {
  switch (type.getPlace()) {
  case ir::Place::Left:
  case ir::Place::Right:
  case ir::Place::Acc:
  case ir::Place::Bias:
    return ir::placeName(type.getPlace()).str();
  default:
    return "tile";
  }
}

namespace {
/// Words that C++ does not leave to names.
struct CppWords {
  llvm::StringSet<> keywords, functions; ///< for no name at all; for no function
};
} // namespace

static CppWords readCppWords() {
  clang::LangOptions options;
  options.CPlusPlus = options.CPlusPlus11 = options.CPlusPlus14 = options.CPlusPlus17 =
      options.CPlusPlus20 = true;
  options.Bool = options.WChar = options.Char8 = options.CXXOperatorNames = true;
  clang::IdentifierTable table(options);
  clang::Builtin::Context().initializeBuiltins(table, options);
  CppWords words;
  for (const auto &entry : table)
    if (entry.second->getTokenID() != clang::tok::identifier)
      words.keywords.insert(entry.first());
    else if (entry.second->getBuiltinID())
      words.functions.insert(entry.first());
#define USED(NAME) words.keywords.insert(NAME);
#define LIBRARY(NAME) words.functions.insert(NAME);
#include "codegen/pto/cpp_names.def"
  for (const InstructionInfo &info : instructions)
    // Instructions are functions of the library, which a variable of that name would hide.
    words.keywords.insert(info.cppName);
  return words;
}

static const CppWords &cppWords() {
  static const CppWords words = readCppWords();
  return words;
}

std::string functionName(llvm::StringRef symbol) {
  bool isFree = !cppWords().keywords.contains(symbol) && !cppWords().functions.contains(symbol);
  return symbol.str() + (isFree ? "" : "_kernel");
}

std::string NameTable::fresh(llvm::StringRef wanted) {
  std::string name;
  for (char c : wanted)
    name += llvm::isAlnum(c) || (style_ == Style::Pto && c == '.') ? c : '_';
  // Names of digits alone are those of MLIR.
  bool isNumber = style_ == Style::Pto && llvm::all_of(name, llvm::isDigit);
  if (name.empty() || (llvm::isDigit(name[0]) && !isNumber))
    name = "v" + name;
  // MLIR marks its names with a sign, so only in C++ can a name be taken for a word of the
  // language.
  if (style_ == Style::Cpp && cppWords().keywords.contains(name))
    name += '_';
  std::string result = name;
  // The number of the last attempt is kept, so that a name that occurs often is not tried from 1
  // each time.
  for (unsigned &count = counts_[name]; !taken_.insert(result).second;)
    result = name + '_' + std::to_string(++count);
  return result;
}

void NameTable::keepForTiles(Operation *function) {
  function->walk([&](Operation *op) {
    if (op->getNumResults() == 1 &&
        isa<TileBufType, MultiTileBufType, ir::RefType, ir::ArrayType>(op->getResult(0).getType()))
      tileNames_.insert(sourceName(op->getResult(0)));
  });
}

const std::string &NameTable::of(Value value) {
  std::string &name = names_[value];
  if (name.empty()) {
    std::string source = sourceName(value);
    Block *block = value.getParentBlock();
    bool isParameter = isa_and_nonnull<func::FuncOp>(block->getParentOp()) &&
                       block->isEntryBlock() && isa<BlockArgument>(value);
    // A number that belongs to a tile has the tile's name in its location, and the tile needs it
    // more.
    bool taken = value.getType().isIntOrIndex() && !isParameter && tileNames_.contains(source);
    if (!source.empty() && !taken)
      name = fresh(source);
    else if (auto tile = dyn_cast<TileBufType>(value.getType()))
      name = fresh(tileName(tile));
    else if (isa<ir::RefType, ir::ArrayType>(value.getType()))
      name = fresh("t");
    else if (std::string use = purpose(value); !use.empty())
      name = fresh(use);
    else if (style_ == Style::Pto)
      name = fresh(std::to_string(counts_["#"]++));
    else
      name = fresh("n" + std::to_string(counts_["#"]++));
  }
  return name;
}

} // namespace ptl::pto
