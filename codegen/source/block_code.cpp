#include "codegen/source/block_code.h"

using namespace mlir;

namespace ptl::source {

BlockCode::BlockCode(BodyKind &kind, func::FuncOp function, SharedByCores &byCores,
                     const GivenArguments &arguments, Unwritable unwritable)
    : BodyCode(kind, ArrayUse::Whole, std::move(unwritable)), function_(function),
      byCores_(byCores), arguments_(arguments) {
  // Names before what is computed from them.
  for (BlockArgument argument : function.getArguments())
    if (GivenArgument given = this->given(argument.getArgNumber());
        argument.getType().isIndex() && !given.name.empty())
      positions_.knowLength(given.name, argument);
  for (BlockArgument argument : function.getArguments())
    if (GivenArgument given = this->given(argument.getArgNumber()); !given.meaning.empty())
      positions_.knowMeaning(argument, given.meaning);
}

void BlockCode::startPrinting() {
  startAgain();
  positions_.forgetAbbreviations();
  for (SharedText &one : shared_.all)
    one.name.clear();
}

} // namespace ptl::source
