#include "ir/tblgen/op_record.h"

#include "ir/tblgen/record_fields.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/TableGen/Error.h"

#include <cctype>

using namespace llvm;

namespace ptl::tblgen {
namespace {

/// Drops the empty lines around a `[{ … }]` text.
std::string trimmed(const std::string &text) { return StringRef(text).trim().str(); }

/// `Ptl_ReduceMaxOp` and `Ptl_LoadRecord` become `ReduceMax` and `Load`.
std::string enumerator(const Record &record) {
  StringRef name = record.getName();
  name.consume_front("Ptl_");
  if (!name.consume_back("Op") && !name.consume_back("Record"))
    PrintFatalError(&record, "the name of a record ends in `Op` or `Record`");
  return name.str();
}

Param readParam(const Record &record) {
  return {str(record, "name"),
          str(record, "kind"),
          str(record, "doc"),
          record.getValueAsBit("optional"),
          record.getValueAsBit("keyword"),
          record.getValueAsBit("variadic"),
          str(record, "default"),
          strings(record, "values")};
}

Support readSupport(const Record &record, StringRef target) {
  auto [word, detail] = record.getValueAsString(target).split(' ');
  std::string kind = StringSwitch<std::string>(word)
                         .Case("native", "Native")
                         .Case("emulated", "Emulated")
                         .Case("none", "None")
                         .Default("");
  if (kind.empty())
    PrintFatalError(&record, "support of " + target + " starts with native, emulated or none");
  if (kind == "None" && detail.empty())
    PrintFatalError(&record, "missing support of " + target + " needs a reason");
  return {kind, detail.str()};
}

Lowering readLowering(const Record &record) {
  const Record &forms = *record.getValueAsDef("forms");
  return {str(record, "combiner"),
          str(record, "identity"),
          str(record, "onNumbers"),
          str(record, "swapped"),
          {str(forms, "tiles"), str(forms, "scalar"), str(forms, "column"), str(forms, "row"),
           str(forms, "alongRows"), str(forms, "alongColumns")},
          forms.getValueAsBit("onBits"),
          record.getValueAsInt("cpuCost"),
          str(record, "hostCpp")};
}

void checkOp(const Record &record, const Op &op) {
  if (op.summary.empty() || op.description.empty() || op.example.empty())
    PrintFatalError(&record, "a record needs summary, description and example");
  if (op.signatures.empty())
    PrintFatalError(&record, "a record needs a signature");
  size_t values = 0;
  for (const Param &param : op.params) {
    values += param.kind == "Value";
    if (param.doc.empty())
      PrintFatalError(&record, "parameter `" + param.name + "` needs a line of documentation");
  }
  for (const ParsedSignature &signature : op.signatures)
    if (signature.operands.size() != values)
      PrintFatalError(&record, "signature `" + signature.text +
                                   "` does not have one operand per value parameter");
}

Op readOp(const Record &record) {
  Op op;
  op.id = enumerator(record);
  op.name = str(record, "name");
  op.aliases = strings(record, "aliases");
  op.mnemonic = str(record, "opName");
  op.group = str(record, "group");
  op.summary = str(record, "summary");
  op.description = trimmed(str(record, "description"));
  for (const Record *param : record.getValueAsListOfDefs("params"))
    op.params.push_back(readParam(*param));
  for (const std::string &text : strings(record, "signatures")) {
    std::string error;
    op.signatures.push_back(parseSignature(text, error));
    if (!error.empty())
      PrintFatalError(&record, error);
  }
  op.example = str(record, "example");
  op.opClass = str(record, "opClass");
  op.effect = str(record, "effect");
  op.core = str(record, "core");
  op.pipe = str(record, "pipe");
  op.flops = str(record, "flops");
  op.bytes = str(record, "bytes");
  for (const char *target : targetNames)
    op.support.push_back(readSupport(record, target));
  bool isWord = isalpha(static_cast<unsigned char>(op.name[0]));
  op.isOperator = !isWord || op.name == "and" || op.name == "or" || op.name == "not";
  op.customCheck = record.getValueAsBit("customCheck");
  op.axisFlow = str(record, "axisFlow");
  op.linearity = str(record, "linearity");
  op.lowering = readLowering(record);
  checkOp(record, op);
  return op;
}

} // namespace

std::vector<Op> readOps(const RecordKeeper &records) {
  std::vector<Op> ops;
  for (const Record *record : recordsOf(records, "Ptl_Record"))
    ops.push_back(readOp(*record));
  return ops;
}

} // namespace ptl::tblgen
