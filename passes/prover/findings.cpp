#include "passes/prover/findings.h"

#include "ir/dialect/attributes.h"
#include "ir/dialect/cross_core.h"

#include "ir/dialect/file_location.h"
#include "ir/dialect/instruction_op.h"

#include "mlir/IR/Location.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace ptl::prove {

Finding *Findings::add(DiagId id, Operation *primary, std::vector<std::string> arguments,
                       Operation *secondary) {
  // One finding for each pair of operations is enough; it recurs in each iteration.
  if (!seen_.insert({id, primary, secondary}).second)
    return nullptr;
  result_.findings.push_back({id, std::move(arguments), primary->getLoc(), {}, {}, {}, primary});
  return &result_.findings.back();
}

Finding *Findings::undecided(Operation *primary, std::string what) {
  if (!seen_.insert({DiagId::CannotBeProved, primary, nullptr}).second)
    return nullptr;
  result_.undecided.push_back(
      {DiagId::CannotBeProved, {std::move(what)}, primary->getLoc(), {}, {}, {}, primary});
  return &result_.undecided.back();
}

std::string mnemonic(Operation *op) { return op->getName().stripDialect().str(); }

std::string spelling(Operation *op) {
  auto event = attrs::event.of(op);
  if (!event)
    // Events of manual kernels go by the names that the author has given them.
    return mnemonic(op);
  bool isWait = isa<pto::WaitFlagOp, pto::WaitFlagDynOp, pto::SyncWaitOp>(op);
  return (isWait ? "wait(" : "signal(") + event.str() + ")";
}

std::string spelledEvent(Operation *op) {
  auto event = attrs::event.of(op);
  return event ? event.str() : mnemonic(op);
}

std::string nameOf(Operation *maker) {
  // Values without a name in the source are shown as MLIR prints them.
  if (auto name = dyn_cast<NameLoc>(maker->getLoc()))
    return name.getName().str();
  if (maker->getNumResults() != 1)
    return mnemonic(maker);
  std::string text;
  llvm::raw_string_ostream stream(text);
  maker->getResult(0).printAsOperand(stream, OpPrintingFlags().useLocalScope());
  return text;
}

std::string placeText(Location location) {
  FileLineColLoc file = fileOf(location);
  if (!file)
    return "";
  return (file.getFilename().getValue() + ":" + llvm::Twine(file.getLine())).str();
}

std::string withPlace(Operation *op) {
  std::string place = placeText(op->getLoc());
  return "`" + spelling(op) + "`" + (place.empty() ? "" : " (" + place + ")");
}

std::string pipeText(unsigned pipe) {
  return pto::stringifyPipeKind(pto::pipeKind(static_cast<Pipe>(pipe))).str();
}

std::string Finding::code() const { return diagInfo(id).code; }

std::string Finding::message() const {
  DiagnosticSink sink;
  sink.report(id, {}, arguments);
  return sink.all().front().message;
}

static void printPlace(llvm::raw_ostream &stream, Location location) {
  if (FileLineColLoc file = fileOf(location))
    stream << file.getFilename().getValue() << ':' << file.getLine() << ':' << file.getColumn()
           << ": ";
}

std::string toText(const ProofResult &result) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  // What could not be decided is only a warning.
  for (const auto *list : {&result.findings, &result.undecided})
    for (const Finding &finding : *list) {
      printPlace(stream, finding.location);
      stream << (list == &result.findings ? "error[" : "warning[") << finding.code()
             << "]: " << finding.message() << "\n";
      for (const Related &related : finding.related) {
        stream << "  ";
        printPlace(stream, related.location);
        stream << related.note << "\n";
      }
      for (const std::string &note : finding.notes)
        stream << "  note: " << note << "\n";
      if (!finding.fix.empty())
        stream << "  help: " << finding.fix << "\n";
    }
  return text;
}

void report(const ProofResult &result, DiagnosticSink &sink,
            const std::function<Span(Location)> &spanOf) {
  for (const auto *list : {&result.findings, &result.undecided})
    for (const Finding &finding : *list) {
      auto builder = sink.report(finding.id, spanOf(finding.location), finding.arguments);
      for (const Related &related : finding.related)
        builder.label(spanOf(related.location), related.note);
      for (const std::string &note : finding.notes)
        builder.note(note);
      if (!finding.fix.empty())
        builder.help(finding.fix);
    }
}

} // namespace ptl::prove
