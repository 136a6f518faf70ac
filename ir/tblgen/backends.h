// What ptl-tblgen makes of the records. Each backend writes one file.
#pragma once

#include "ir/tblgen/op_record.h"

namespace llvm {
class RecordKeeper;
class raw_ostream;
} // namespace llvm

namespace ptl::tblgen {

/// `PTL_OP(Name)` per record, for enumerations.
void emitOpIds(const std::vector<Op> &ops, llvm::raw_ostream &os);
/// The constant data behind `ir/ops/op_table.h`.
void emitOpTable(const std::vector<Op> &ops, llvm::raw_ostream &os);
/// `PTL_ATTRIBUTE(Helper, accessor, carriers, type, words)` per discardable attribute of the dialect.
void emitAttributes(const llvm::RecordKeeper &records, llvm::raw_ostream &os);
/// The Markdown page of a group; for an empty `group` the page that lists all.
void emitDocs(const std::vector<Op> &ops, const std::string &group, llvm::raw_ostream &os);
/// JSON word lists for editors: `{"groups": {…}, "operators": […], "elementTypes": […]}`.
void emitWords(const std::vector<Op> &ops, llvm::raw_ostream &os);
/// One line per record: mnemonic, name, class and the support of each target, separated by tabs.
/// Coverage tests compare it with what the lowerings, the reference functions and the goldens hold.
void emitCoverage(const std::vector<Op> &ops, llvm::raw_ostream &os);

} // namespace ptl::tblgen
