#include "compile/report/coverage_report.h"

#include "common/canonical_path.h"

#include <set>

namespace ptl {

using nlohmann::json;
using namespace reference;

static json pointJson(const SourceFile &file, uint32_t offset) {
  LineColumn at = file.lineColumn(offset);
  return {{"line", at.line}, {"column", at.column}};
}

/// Heads of loops are followed by spaces, which are no part of what is shown.
static json rangeJson(const SourceManager &sources, Span span) {
  const SourceFile &file = sources.file(span.file);
  size_t length = sources.text(span).find_last_not_of(" \t\r\n") + 1;
  return {{"begin", pointJson(file, span.begin)},
          {"end", pointJson(file, span.begin + static_cast<uint32_t>(length))}};
}

static const char *kindOf(const CallableDecl &decl) {
  return decl.kind == DeclKind::Fn ? "fn" : decl.kind == DeclKind::Program ? "program" : "kernel";
}

static json extentsJson(const CallableDecl &decl, const Coverage::Extents &extents,
                        uint64_t count) {
  json dims = json::object();
  for (size_t i = 0; i < decl.dims.size(); ++i)
    dims[decl.dims[i].name] = extents[i];
  json tried = {{"dims", std::move(dims)}, {"count", count}};
  if (decl.hasPrefix)
    tried["leading"] = Coverage::Extents(
        extents.begin() + static_cast<std::ptrdiff_t>(decl.dims.size()), extents.end());
  return tried;
}

static json entryJson(const SourceManager &sources, const CoveredEntry &entry) {
  json made = {{"name", entry.decl->name},
               {"kind", kindOf(*entry.decl)},
               {"at", rangeJson(sources, entry.decl->nameSpan)},
               {"count", entry.count},
               {"extents", json::array()},
               {"statements", json::array()},
               {"branches", json::array()}};
  if (!entry.skipped.empty())
    made["skipped"] = entry.skipped;
  for (const auto &[extents, count] : entry.extents)
    made["extents"].push_back(extentsJson(*entry.decl, extents, count));
  for (const CoveredStatement &statement : entry.statements) {
    json at = rangeJson(sources, statement.span);
    at["count"] = statement.count;
    made["statements"].push_back(std::move(at));
  }
  for (const CoveredBranch &branch : entry.branches) {
    json at = rangeJson(sources, branch.span);
    at["arms"] = json::array();
    for (const auto &[arm, count] : branch.arms)
      at["arms"].push_back({{"name", armName(arm)}, {"count", count}});
    made["branches"].push_back(std::move(at));
  }
  return made;
}

static void addCount(json &to, const json &from) {
  to["count"] = to["count"].get<uint64_t>() + from["count"].get<uint64_t>();
}

/// The counts of another program that the same text is part of.
static void addEntry(json &to, const json &from) {
  addCount(to, from);
  for (size_t i = 0; i < from["statements"].size(); ++i)
    addCount(to["statements"][i], from["statements"][i]);
  for (size_t i = 0; i < from["branches"].size(); ++i)
    for (size_t k = 0; k < from["branches"][i]["arms"].size(); ++k)
      addCount(to["branches"][i]["arms"][k], from["branches"][i]["arms"][k]);
  for (const json &tried : from["extents"]) {
    bool isKnown = false;
    for (json &known : to["extents"])
      if (known["dims"] == tried["dims"] &&
          known.value("leading", json()) == tried.value("leading", json())) {
        addCount(known, tried);
        isKnown = true;
      }
    if (!isKnown)
      to["extents"].push_back(tried);
  }
}

void CoverageReport::add(const SourceManager &sources, const CheckedProgram &program,
                         const Coverage &coverage, const std::string &library) {
  std::string within = library.empty() ? "" : canonicalPath(library) + "/";
  for (const auto &module : program.modules) {
    std::string path = canonicalPath(sources.file(module->file).path());
    bool isLibrary = !within.empty() && path.compare(0, within.size(), within) == 0;
    if (isLibrary && module != program.modules[0])
      continue;
    json file = {{"file", path}, {"entries", json::array()}};
    for (const CoveredEntry &entry : coverageOf(*module, coverage))
      file["entries"].push_back(entryJson(sources, entry));
    bool isKnown = false;
    for (json &known : files_)
      if (known["file"] == path && known["entries"].size() == file["entries"].size()) {
        for (size_t i = 0; i < file["entries"].size(); ++i)
          addEntry(known["entries"][i], file["entries"][i]);
        isKnown = true;
      }
    if (!isKnown)
      files_.push_back(std::move(file));
  }
}

// ---- Sums --------------------------------------------------------------------------------------

namespace {
struct Sum {
  size_t reached = 0, all = 0;

  void add(const json &counted) {
    ++all;
    reached += counted["count"].get<uint64_t>() > 0;
  }
  json toJson() const { return {{"executed", reached}, {"all", all}}; }
  std::string text(const char *what) const {
    return std::to_string(reached) + " of " + std::to_string(all) + " " + what;
  }
};

struct Sums {
  Sum entries, statements, branches;

  explicit Sums(const json &file) {
    for (const json &entry : file["entries"]) {
      if (entry.contains("skipped"))
        continue;
      entries.add(entry);
      for (const json &statement : entry["statements"])
        statements.add(statement);
      for (const json &branch : entry["branches"])
        for (const json &arm : branch["arms"])
          branches.add(arm);
    }
  }
};
} // namespace

json CoverageReport::document() const {
  json files = files_;
  for (json &file : files) {
    Sums sums(file);
    file["entries_executed"] = sums.entries.toJson();
    file["statements_executed"] = sums.statements.toJson();
    file["branches_executed"] = sums.branches.toJson();
  }
  return {{"version", 1}, {"executor", "reference"}, {"files", std::move(files)}};
}

// ---- Text --------------------------------------------------------------------------------------

static std::string placeText(const std::string &path, const json &at) {
  return path + ":" + at["begin"]["line"].dump() + ":" + at["begin"]["column"].dump();
}

/// `R = 0, 1, 5 … 300 (12 values)`: the values of one dimension.
static std::string valuesText(const std::string &name, const json &extents) {
  constexpr size_t most = 8;
  std::set<int64_t> values;
  for (const json &tried : extents)
    values.insert(tried["dims"][name].get<int64_t>());
  std::string text = name + " = ";
  size_t shown = 0;
  for (int64_t value : values) {
    bool isLast = ++shown == values.size();
    if (shown < most || isLast)
      text += (shown == 1 ? "" : shown > most ? " … " : ", ") + std::to_string(value);
  }
  return values.size() > most ? text + " (" + std::to_string(values.size()) + " values)" : text;
}

static std::string entryText(const std::string &path, const json &entry) {
  std::string text = "  " + entry["name"].get<std::string>() + ": ";
  if (entry.contains("skipped"))
    return text + "not counted: " + entry["skipped"].get<std::string>() + "\n";
  uint64_t count = entry["count"].get<uint64_t>();
  if (count == 0)
    return text + "never called\n";
  text += std::to_string(count) + (count == 1 ? " call" : " calls");
  const json &extents = entry["extents"];
  if (!extents.empty())
    for (const auto &[name, value] : extents[0]["dims"].items())
      text += "; " + valuesText(name, extents);
  text += "\n";
  for (const json &statement : entry["statements"])
    if (statement["count"] == 0)
      text += "    " + placeText(path, statement) + ": not executed\n";
  for (const json &branch : entry["branches"])
    for (const json &arm : branch["arms"])
      if (arm["count"] == 0)
        text +=
            "    " + placeText(path, branch) + ": never `" + arm["name"].get<std::string>() + "`\n";
  return text;
}

std::string CoverageReport::text() const {
  std::string text;
  for (const json &file : files_) {
    std::string path = file["file"];
    std::error_code ignored;
    std::filesystem::path near = std::filesystem::proximate(path, ignored);
    if (!ignored && near.string().size() < path.size())
      path = near.string();
    Sums sums(file);
    text += "coverage of " + path + ": " + sums.statements.text("statements") + ", " +
            sums.branches.text("branches") + "\n";
    for (const json &entry : file["entries"])
      text += entryText(path, entry);
  }
  return text;
}

} // namespace ptl
