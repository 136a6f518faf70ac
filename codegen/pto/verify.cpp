#include "codegen/pto/verify.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

namespace ptl::pto {

namespace {

/// A file that goes away with the object.
class ScratchFile {
public:
  explicit ScratchFile(llvm::StringRef extension) {
    if (!llvm::sys::fs::createTemporaryFile("ptlc", extension, path_))
      remover_.setFile(path_);
  }
  llvm::StringRef path() const { return path_; }
  bool write(llvm::StringRef text) const {
    std::error_code error;
    llvm::raw_fd_ostream out(path_, error);
    out << text;
    return !error;
  }
  std::string read() const {
    auto buffer = llvm::MemoryBuffer::getFile(path_);
    return buffer ? (*buffer)->getBuffer().str() : std::string();
  }

private:
  llvm::SmallString<64> path_;
  llvm::FileRemover remover_;
};

struct ToolRun {
  int status = -1;
  std::string problem, errors;
};

/// `file:line:column: kind: message` or `loc("file":line:column): kind: message`.
struct ToolMessage {
  std::string file, kind, message;
  unsigned line = 0, column = 0;
};

} // namespace

static ToolRun runTool(llvm::StringRef program, llvm::ArrayRef<std::string> arguments) {
  ToolRun run;
  ScratchFile errors("txt");
  std::vector<llvm::StringRef> words{program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  // Input and output are empty; only the errors are kept.
  std::optional<llvm::StringRef> redirects[] = {llvm::StringRef(""), llvm::StringRef(""),
                                                errors.path()};
  run.status =
      // Five minutes are far beyond what a kernel takes, so the tool hangs.
      llvm::sys::ExecuteAndWait(program, words, std::nullopt, redirects, /*SecondsToWait=*/300,
                                /*MemoryLimit=*/0, &run.problem);
  run.errors = errors.read();
  return run;
}

static std::optional<ToolMessage> parseMessage(llvm::StringRef line) {
  ToolMessage message;
  llvm::StringRef place, rest;
  if (line.consume_front("loc(")) {
    std::tie(place, rest) = line.split("): ");
    // The location keeps its quotes at the end, which are dropped below.
    place = place.ltrim("\"");
  } else {
    for (llvm::StringRef kind : {": error: ", ": fatal error: ", ": warning: ", ": note: "})
      if (size_t at = line.find(kind); at != llvm::StringRef::npos) {
        place = line.take_front(at);
        rest = line.drop_front(at + 2);
        break;
      }
  }
  // The path may hold colons, so line and column are taken from the end.
  auto [front, column] = place.rsplit(':');
  auto [file, number] = front.rsplit(':');
  if (rest.empty() || number.getAsInteger(10, message.line) ||
      column.getAsInteger(10, message.column))
    return std::nullopt;
  auto [kind, text] = rest.split(": ");
  message.file = file.rtrim("\"").str();
  message.kind = kind.str();
  message.message = text.str();
  return message;
}

/// Where a message points to in the source: directly, or through the text it is about.
static bool locate(const ToolMessage &message, const Emitted &text, llvm::StringRef path,
                   Finding &finding) {
  // A message about the text itself leads to the source through the map of lines.
  if (message.file == path) {
    finding.line = message.line;
    if (const SourcePlace *place = text.lines.at(message.line))
      finding.place = *place;
    return true;
  }
  if (!llvm::StringRef(message.file).ends_with(".ptl"))
    return false;
  finding.place = SourcePlace{message.file, message.line, message.column};
  // PTOAS takes over the locations that the text names, so the message may point to the source
  // itself.
  return true;
}

static std::vector<Finding> readMessages(const std::string &errors, const Emitted &text,
                                         llvm::StringRef path) {
  std::vector<Finding> findings;
  bool open = false; // an error whose place is in a header: the notes after it lead to the text
  for (llvm::StringRef rest = errors; !rest.empty();) {
    auto [line, after] = rest.split('\n');
    rest = after;
    std::optional<ToolMessage> message = parseMessage(line);
    if (!message)
      continue;
    if (message->kind == "note") {
      // The first note that leads to the text gives the error its place.
      if (open && !findings.empty())
        open = !locate(*message, text, path, findings.back());
      continue;
    }
    if (message->kind != "error" && message->kind != "fatal error")
      continue;
    Finding finding;
    finding.message = message->message;
    open = !locate(*message, text, path, finding);
    findings.push_back(std::move(finding));
  }
  return findings;
}

static Verification judge(const ToolRun &run, const Emitted &text, llvm::StringRef path,
                          llvm::StringRef tool) {
  Verification result;
  // LLVM reports -1 for a program that did not start and -2 for one that crashed.
  result.ran = run.status >= 0 || run.status == -2;
  result.accepted = run.status == 0;
  if (!result.ran) {
    result.problem =
        "`" + tool.str() + "` cannot be started" + (run.problem.empty() ? "" : ": " + run.problem);
    return result;
  }
  if (result.accepted)
    return result;
  result.findings = readMessages(run.errors, text, path);
  // A tool that fails without a readable message still must not pass.
  if (result.findings.empty()) {
    Finding finding;
    finding.message = run.status == -2
                          ? "`" + tool.str() + "` crashed"
                          : "`" + tool.str() + "` failed: " +
                                llvm::StringRef(run.errors).rtrim().rsplit('\n').second.str();
    result.findings.push_back(std::move(finding));
  }
  return result;
}

static std::string findCompiler() {
  for (const char *name : {"clang++-19", "clang++", "clang++-18", "clang++-17"})
    if (auto path = llvm::sys::findProgramByName(name))
      return *path;
  return {};
}

Verification verifyCpp(const Emitted &text, const std::string &folder,
                       const std::string &compiler) {
  std::string program = compiler.empty() ? findCompiler() : compiler;
  Verification failure;
  if (program.empty()) {
    failure.problem = "`clang++` is not on the PATH";
    return failure;
  }
  std::string include = folder;
  // The folder may be that of the library or of its headers.
  for (const char *inner : {"", "/include"})
    if (llvm::sys::fs::exists(folder + inner + "/pto/pto-inst.hpp"))
      include = folder + inner;
  if (!llvm::sys::fs::exists(include + "/pto/pto-inst.hpp")) {
    failure.problem = "`" + folder + "` has no `pto/pto-inst.hpp`";
    return failure;
  }
  ScratchFile source("cpp");
  if (!source.write(text.text)) {
    failure.problem = "`" + source.path().str() + "` cannot be written";
    return failure;
  }
  // The simulation is what a compiler for this machine can check.
  std::vector<std::string> arguments{"-fsyntax-only",
                                     "-std=c++20",
                                     "-w",
                                     "-fno-color-diagnostics",
                                     "-fno-caret-diagnostics",
                                     "-ferror-limit=20",
                                     "-include",
                                     "stdint.h",
                                     "-include",
                                     "stddef.h",
                                     "-D__CPU_SIM",
                                     "-I" + include,
                                     source.path().str()};
  return judge(runTool(program, arguments), text, source.path(), program);
}

Verification verifyPto(const Emitted &text, const std::string &path, const std::string &arch) {
  Verification failure;
  ScratchFile source("pto"), output("cpp");
  if (!source.write(text.text)) {
    failure.problem = "`" + source.path().str() + "` cannot be written";
    return failure;
  }
  if (!llvm::sys::fs::can_execute(path)) {
    failure.problem = "`" + path + "` is not a program";
    return failure;
  }
  std::vector<std::string> arguments{"--pto-arch=" + arch, "--pto-level=level3",
                                     source.path().str(), "-o", output.path().str()};
  return judge(runTool(path, arguments), text, source.path(), path);
}

} // namespace ptl::pto
