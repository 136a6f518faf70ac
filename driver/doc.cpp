#include "driver/commands.h"
#include "frontend/base/markup.h"
#include "frontend/parse/parse.h"
#include "frontend/syntax/signature.h"

#include <algorithm>

namespace ptl {

namespace {

/// One declaration of a module's reference.
struct Entry {
  std::string name;
  std::string signature; ///< source text without the body
  std::string doc;       ///< Markdown
};

bool isDocumented(const Tree &tree, NodeId id) {
  switch (tree.kind(id)) {
  case NodeKind::FnDecl:
  case NodeKind::KernelDecl:
  case NodeKind::ProgramDecl:
  case NodeKind::StructDecl:
  case NodeKind::TypeDecl:
  case NodeKind::ConstDecl:
    return true;
  default:
    return false;
  }
}

Entry entryOf(const Tree &tree, NodeId id) {
  // Every documented kind has its name in the first slot.
  return {std::string(tree.text(tree.child(id, 0))), signatureText(tree, id), tree.docComment(id)};
}

std::vector<Entry> entriesOf(const Tree &tree) {
  std::vector<NodeId> ids;
  for (NodeId id : tree.children(tree.root()))
    if (id != kNoNode && isDocumented(tree, id))
      ids.push_back(id);
  // A file that exports nothing is read for itself: show everything.
  bool exports =
      std::any_of(ids.begin(), ids.end(), [&](NodeId id) { return tree.has(id, NodeFlag::Pub); });
  std::vector<Entry> entries;
  for (NodeId id : ids)
    if (!exports || tree.has(id, NodeFlag::Pub))
      entries.push_back(entryOf(tree, id));
  return entries;
}

std::string markdown(const std::string &title, const std::vector<Entry> &entries) {
  std::string out = "# " + title + "\n";
  for (const Entry &entry : entries) {
    out += "\n## `" + entry.name + "`\n\n```ptl-fragment\n" + entry.signature + "\n```\n";
    if (!entry.doc.empty())
      out += "\n" + entry.doc + "\n";
  }
  return out;
}

std::string html(const std::string &title, const std::vector<Entry> &entries) {
  std::string name = escapedMarkup(title);
  std::string out = "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>" +
                    name + "</title>\n<h1>" + name + "</h1>\n";
  for (const Entry &entry : entries) {
    out += "<h2 id=\"" + escapedMarkup(entry.name) + "\">" + escapedMarkup(entry.name) +
           "</h2>\n<pre>" + escapedMarkup(entry.signature) + "</pre>\n";
    if (!entry.doc.empty())
      out += "<p>" + escapedMarkup(entry.doc) + "</p>\n";
  }
  return out + "</html>\n";
}

} // namespace

ExitCode runDoc(const Options &options) {
  if (options.positional().size() != 1)
    return usageError("give one file: `ptlc doc FILE`");
  Session session(options);
  std::optional<FileId> id = session.load(options.positional().front());
  if (!id)
    return session.finish();
  const SourceFile &file = session.sources().file(*id);
  Tree tree = parse(file, session.sink());
  std::string title = file.path().substr(file.path().rfind('/') + 1);
  title = title.substr(0, title.find('.'));
  std::vector<Entry> entries = entriesOf(tree);
  std::string output(options.value(OptionId::Output));
  session.write(output.empty() ? "-" : output,
                options.has(OptionId::Html) ? html(title, entries) : markdown(title, entries));
  return session.finish();
}

} // namespace ptl
