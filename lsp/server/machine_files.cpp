#include "lsp/server/machine_files.h"

#include <filesystem>
#include <fstream>
#include <iterator>

namespace ptl::lsp {

namespace fs = std::filesystem;

/// Where a machine file of the settings lies: relative paths are below the first folder.
static std::string placeOf(const std::string &path, const std::vector<std::string> &folders) {
  bool isRelative = fs::path(path).is_relative() && !folders.empty();
  return (isRelative ? fs::path(folders.front()) / path : fs::path(path)).lexically_normal();
}

bool isMachineFile(const Session &session, const std::string &path) {
  for (const std::string &file : session.settings.machines)
    if (placeOf(file, session.folders) == path)
      return true;
  return false;
}

void readMachines(Server &server, CheckOptions &options) {
  const Session &session = server.session;
  std::vector<MachineFile> files;
  std::vector<std::string> problems;
  for (const std::string &file : session.settings.machines) {
    std::string path = placeOf(file, session.folders);
    server.watcher.watchFolderOf(path);
    std::ifstream in(path, std::ios::binary);
    if (in)
      files.push_back({path, std::string(std::istreambuf_iterator<char>(in), {})});
    else
      problems.push_back("cannot read `" + path + "`");
  }
  auto machines = std::make_shared<MachineSet>(std::move(files));
  for (const MachineSet::Invalid &file : machines->invalid())
    problems.push_back("`" + file.path + "` is not a machine: " + file.reason);
  enum { Warning = 2 };
  for (const std::string &problem : problems)
    server.notify("window/showMessage", {{"type", int(Warning)}, {"message", problem}});
  options.machines = std::move(machines);
}

void machineFilesChanged(Server &server) {
  ide::Workspace &workspace = server.session.workspace;
  CheckOptions options = workspace.options();
  readMachines(server, options);
  workspace.setOptions(std::move(options));
  server.feasibility.settingsChanged();
  server.publisher.allChanged();
}

} // namespace ptl::lsp
