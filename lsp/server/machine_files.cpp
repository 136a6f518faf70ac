// The machine files that `ptl.machines` names: read when the setting changes and when they do.
#include "lsp/server/server.h"

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

bool Server::isMachineFile(const std::string &path) const {
  for (const std::string &file : session.settings.machines)
    if (placeOf(file, session.folders) == path)
      return true;
  return false;
}

void Server::readMachines(CheckOptions &options) {
  std::vector<MachineFile> files;
  std::vector<std::string> problems;
  for (const std::string &file : session.settings.machines) {
    std::string path = placeOf(file, session.folders);
    watcher_.watchFolderOf(path);
    std::ifstream in(path, std::ios::binary);
    if (in)
      files.push_back({path, std::string(std::istreambuf_iterator<char>(in), {})});
    else
      problems.push_back("cannot read `" + path + "`");
  }
  auto machines = std::make_shared<MachineSet>(std::move(files));
  for (const MachineSet::Invalid &file : machines->invalid())
    problems.push_back("`" + file.path + "` is no machine: " + file.reason);
  enum { Warning = 2 };
  for (const std::string &problem : problems)
    notify("window/showMessage", {{"type", int(Warning)}, {"message", problem}});
  options.machines = std::move(machines);
}

void Server::machineFilesChanged() {
  CheckOptions options = session.workspace.options();
  readMachines(options);
  session.workspace.setOptions(std::move(options));
  feasibility.settingsChanged();
  refresh();
}

void Server::fileChanged(const std::string &path) {
  if (isMachineFile(path))
    machineFilesChanged();
  else if (path.ends_with(".ptl"))
    readAgain({path}, false);
}

} // namespace ptl::lsp
