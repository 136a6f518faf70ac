#include "frontend/parse/parse.h"

#include "frontend/lex/lexer.h"
#include "frontend/parse/parser.h"

namespace ptl {

Tree Parser::run() {
  parseModule();
  if (!tree_.tooHigh().empty())
    errorAt(tree_.span(tree_.tooHigh().front()), DiagId::NestingTooDeep,
            {std::to_string(kMaxTreeHeight)})
        .help("cut the expression apart with `let`");
  for (NodeId high : tree_.tooHigh())
    tree_.addErrorToken(tree_.node(high).firstToken);
  warnOperandComments();
  return std::move(tree_);
}

Tree parse(const SourceFile &file, DiagnosticSink &sink) {
  TokenList tokens = lex(file, sink);
  Parser parser(file, std::move(tokens), sink);
  return parser.run();
}

} // namespace ptl
