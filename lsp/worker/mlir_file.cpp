// A dumped `.mlir` of ours as an editor sees it: what each line is and which source it came from.

#include "lsp/worker/mlir_file.h"

#include "codegen/cpu/to_llvm.h"
#include "ir/dialect/ptl_dialect.h"
#include "ir/dialect/source_range.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/AsmParser/AsmParserState.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace ptl::worker {

namespace {

std::string textOfType(mlir::Type type) {
  std::string text;
  llvm::raw_string_ostream out(text);
  type.print(out);
  return text;
}

template <typename Range> Json typesJson(Range types) {
  Json list = Json::array();
  for (mlir::Type type : types)
    list.push_back(textOfType(type));
  return list;
}

/// `[{path, line, col}]`, counted from 0; the innermost first.
Json sourcesJson(Location location) {
  Json list = Json::array();
  location->walk([&](Location inner) {
    auto at = dyn_cast<FileLineColLoc>(inner);
    if (!at || at.getLine() == 0)
      return WalkResult::advance();
    Json place = {{"path", at.getFilename().str()},
                  {"line", at.getLine() - 1},
                  {"col", at.getColumn() ? at.getColumn() - 1 : 0}};
    if (std::find(list.begin(), list.end(), place) == list.end())
      list.push_back(std::move(place));
    return WalkResult::advance();
  });
  return list;
}

struct Places {
  const llvm::SourceMgr &sources;
  unsigned buffer;

  /// Line and column, counted from 0.
  std::pair<unsigned, unsigned> of(llvm::SMLoc at) const {
    auto [line, column] = sources.getLineAndColumn(at, buffer);
    return {line - 1, column - 1};
  }
};

Json opJson(const AsmParserState::OperationDefinition &definition, const Places &places) {
  auto [line, column] = places.of(definition.loc.Start);
  auto [endLine, endColumn] =
      places.of(definition.scopeLoc.isValid() ? definition.scopeLoc.End : definition.loc.End);
  Operation *op = definition.op;
  return {{"line", line},
          {"col", column},
          {"endLine", endLine},
          {"endCol", endColumn},
          {"name", op->getName().getStringRef().str()},
          {"operands", typesJson(op->getOperandTypes())},
          {"results", typesJson(op->getResultTypes())},
          {"sources", sourcesJson(op->getLoc())}};
}

} // namespace

Json describeMlir(const std::string &text) {
  DialectRegistry registry;
  cpu::registerCpuDialects(registry);
  registry.insert<ir::PtlDialect>();
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.allowUnregisteredDialects();
  llvm::SourceMgr sources;
  unsigned buffer =
      sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(text, "input"), {});
  Places places{sources, buffer};
  Json problems = Json::array();
  ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &diagnostic) {
    Json problem = {
        {"severity", diagnostic.getSeverity() == DiagnosticSeverity::Error ? "error" : "warning"},
        {"message", diagnostic.str()}};
    if (auto at = dyn_cast<FileLineColLoc>(diagnostic.getLocation())) {
      problem["line"] = at.getLine() ? at.getLine() - 1 : 0;
      problem["col"] = at.getColumn() ? at.getColumn() - 1 : 0;
    }
    problems.push_back(std::move(problem));
    return success();
  });
  // An error in a part of the IR must not remove the sources of the rest, so nothing is verified.
  ParserConfig config(&context, /*verifyAfterParse=*/false);
  mlir::Block block;
  AsmParserState state;
  bool isParsed = succeeded(parseAsmSourceFile(sources, &block, config, &state));
  Json ops = Json::array();
  if (isParsed)
    for (const AsmParserState::OperationDefinition &definition : state.getOpDefs())
      ops.push_back(opJson(definition, places));
  return {{"ok", isParsed}, {"ops", std::move(ops)}, {"diagnostics", std::move(problems)}};
}

} // namespace ptl::worker
