#include "codegen/source/tile_stores.h"

#include "codegen/source/op_kinds.h"
#include "codegen/source/tile_boxes.h"
#include "codegen/source/tile_expressions.h"
#include "codegen/source/tile_kernels.h"
#include "codegen/source/tile_literals.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace ptl::source {

/// States that the positions of a store differ, where the reader of the text cannot know it.
static void printUnique(BodyCode &code, Operation *store, Value index) {
  if (!index || !mustStateUnique(store, index))
    return;
  std::string name = valueText(code, index).text;
  code.line("assert(unique(" + name + "), " + source::quoted("positions in `" + name + "` differ") +
            ")");
}

void printStore(BodyCode &code, ir::StoreOp store) {
  Value stored = store.getValue();
  std::string target;
  bool isWhole =
      !store.getIndex() && isWholeBox(code, store.getRef(), store.getOffsets(), store.getLengths(),
                                      store.getSteps(), store.getDropped());
  // Outside of kernels a whole array is assigned by its name; in a kernel it is stored by indexing.
  if (isWhole && !code.indexesArrays())
    target = baseText(code, store.getRef());
  else
    target = boxText(code, store.getRef(), store.getOffsets(), store.getLengths(), store.getSteps(),
                     store.getDropped(), store.getIndex(),
                     static_cast<int64_t>(store.getIndexAxis().value_or(0)));
  std::string text = storedText(code, store, stored).text;
  if (!store.getAtomic()) {
    printUnique(code, store, store.getIndex());
    return code.line(target + " = " + text);
  }
  std::string kind = store.getAtomic() == "add" ? "+=" : store.getAtomic()->str() + "=";
  code.line("atomic " + target + " " + kind + " " + text);
}

Expression storedText(BodyCode &code, ir::StoreOp store, Value stored) {
  // A literal takes the element type of the array, unless it is converted.
  if (Operation *op = stored.getDefiningOp(); op && isConstantLike(op))
    return literalText(op->getAttr("value"), stored.getType(),
                       stored.getType() != ir::elementTypeOf(store.getRef().getType()));
  return valueText(code, stored);
}

/// Whether nothing asks for what a variable was before a box of it is replaced.
static bool isInPlace(const BodyCode &code, ir::InsertOp insert) {
  Value dest = insert.getDest();
  // The other arm of a branch may keep it.
  Operation *branch = code.branchAssigning(dest);
  bool isBesideInsert = dest.getParentBlock() == insert->getBlock();
  return code.isVariable(dest) && (isBesideInsert || (branch && insert->getParentOp() == branch)) &&
         llvm::all_of(dest.getUsers(), [&](Operation *user) {
           bool isKept = isa<scf::YieldOp>(user) && user->getParentOp() == branch &&
                         user->getBlock() != insert->getBlock();
           return user == insert || isa<ir::DimOp>(user) || (branch && isKept);
         });
}

void printInsert(BodyCode &code, ir::InsertOp insert) {
  Value dest = insert.getDest();
  printUnique(code, insert, insert.getIndex());
  // The variable is changed in place, so both values go by its name.
  if (isInPlace(code, insert)) {
    code.knowVariable(insert.getResult(), code.known(dest).text);
  } else {
    // A copy is changed, because the old value is used further on.
    code.var(insert.getResult(), valueText(code, dest), wantedName(code, dest));
  }
  // The target is written with the name of the new array.
  std::optional<Expression> before = code.exchangeKnown(dest, code.known(insert.getResult()));
  std::string target = boxText(code, dest, insert.getOffsets(), insert.getLengths(),
                               insert.getSteps(), insert.getDropped(), insert.getIndex(),
                               static_cast<int64_t>(insert.getIndexAxis().value_or(0)));
  code.line(target + " = " + valueText(code, insert.getValue()).text);
  code.exchangeKnown(dest, before);
}

} // namespace ptl::source
