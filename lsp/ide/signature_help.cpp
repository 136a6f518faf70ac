#include "lsp/ide/signature_help.h"
#include "lsp/ide/describe_signature.h"

#include "lsp/ide/call_context.h"

#include <algorithm>

namespace ptl::ide {

/// The parameter that the argument at the place is for.
static int activeParam(const SignatureLabel &label, const CallContext &call, bool lastRepeats) {
  auto count = static_cast<int>(label.params.size());
  if (!call.name.empty()) {
    for (int i = 0; i < count; ++i)
      if (label.params[static_cast<size_t>(i)].name == call.name)
        return i;
    return -1;
  }
  auto position = static_cast<int>(call.positional);
  if (position < count && !label.params[static_cast<size_t>(position)].mustBeNamed)
    return position;
  while (lastRepeats && count > 1 && label.params[static_cast<size_t>(count - 1)].mustBeNamed)
    --count;
  return lastRepeats ? count - 1 : -1;
}

/// Whether the arguments so far may be those of a record.
static bool mayMean(const OpRecord &op, const CallContext &call) {
  size_t positional = 0;
  bool isVariadic = false;
  for (const OpParam &param : op.params) {
    positional += !param.keywordOnly;
    isVariadic |= param.variadic;
  }
  if (call.positional >= positional && call.name.empty() && !isVariadic && call.positional > 0)
    return false;
  return std::all_of(call.named.begin(), call.named.end(), [&](const std::string &name) {
    return std::any_of(op.params.begin(), op.params.end(),
                       [&](const OpParam &param) { return param.name == name; });
  });
}

static std::string summaryOf(const OpRecord &op) {
  std::string text(op.summary);
  return op.description.empty() ? text : text + "\n\n" + std::string(op.description);
}

std::optional<SignatureHelp> signatureHelpAt(Workspace &workspace, File &file, uint32_t offset) {
  offset = std::min(offset, file.document.size());
  size_t index = file.document.placeAt(offset);
  const Place &place = file.document.places()[index];
  auto call = callAround(*place.chunk->tree, offset - place.begin);
  if (!call)
    return std::nullopt;
  Callee callee = calleeOf(workspace, file, index, *call);
  SignatureHelp help;
  if (callee.symbol) {
    const Tree &tree = callee.symbol->tree();
    SignatureLabel label = signatureOf(tree, callee.symbol->declNode);
    int active = activeParam(label, *call, false);
    help.signatures.push_back({std::move(label), tree.docComment(callee.symbol->declNode), active});
  }
  std::optional<size_t> best;
  for (const OpRecord *op : callee.ops) {
    bool repeats = std::any_of(op->params.begin(), op->params.end(),
                               [](const OpParam &param) { return param.variadic; });
    // The first form that the arguments so far may mean is the one that is shown.
    if (!best && mayMean(*op, *call))
      best = help.signatures.size();
    for (SignatureLabel &label : signaturesOf(*op, callee.name)) {
      int active = activeParam(label, *call, repeats);
      help.signatures.push_back({std::move(label), summaryOf(*op), active});
    }
  }
  help.active = best.value_or(0);
  if (help.signatures.empty())
    return std::nullopt;
  return help;
}

} // namespace ptl::ide
