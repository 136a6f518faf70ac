#include "frontend/parse/parse.h"

#include "frontend/lex/lexer.h"
#include "frontend/parse/parser.h"

namespace ptl {

Tree Parser::run() {
  parseModule();
  if (auto high = tree_.tooHigh())
    errorAt(tree_.span(*high), DiagId::NestingTooDeep, {std::to_string(kMaxTreeHeight)})
        .help("cut the expression apart with `let`");
  warnOperandComments();
  return std::move(tree_);
}

Tree parse(const SourceFile &file, DiagnosticSink &sink) {
  TokenList tokens = lex(file, sink);
  Parser parser(file, std::move(tokens), sink);
  return parser.run();
}

} // namespace ptl
