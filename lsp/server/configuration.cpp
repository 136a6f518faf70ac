#include "lsp/server/configuration.h"

#include "lsp/server/capabilities.h"
#include "lsp/server/machine_files.h"
#include "lsp/server/notifications.h"

namespace ptl::lsp {

static std::string pathOf(const json &folder) {
  return Session::pathOfUri(folder.at("uri").get<std::string>());
}

void setFolders(Session &session, const json &params) {
  json folders = params.value("workspaceFolders", json());
  if (folders.is_array())
    for (const json &folder : folders)
      session.folders.push_back(pathOf(folder));
  else if (json root = params.value("rootUri", json()); root.is_string())
    session.folders.push_back(Session::pathOfUri(root.get<std::string>()));
}

void didChangeWorkspaceFolders(Server &server, const json &params) {
  const json &event = params.at("event");
  std::vector<std::string> &folders = server.session.folders;
  for (const json &folder : event.value("removed", json::array()))
    std::erase(folders, pathOf(folder));
  for (const json &folder : event.value("added", json::array()))
    folders.push_back(pathOf(folder));
}

void setSettings(Server &server, const json &given) {
  if (!given.is_object())
    return;
  Session &session = server.session;
  auto nested = given.find("ptl");
  const json &settings = nested != given.end() && nested->is_object() ? *nested : given;
  // The options are changed in a copy, because setting them resolves all imports again.
  CheckOptions options = session.workspace.options();
  Settings before = session.settings;
  enum { Warning = 2 };
  for (const std::string &problem : applySettings(settings, session.settings, options))
    server.notify("window/showMessage", {{"type", int(Warning)}, {"message", problem}});
  bool changed = options.importPaths != session.workspace.options().importPaths ||
                 options.stdPath != session.workspace.options().stdPath ||
                 options.defines != session.workspace.options().defines;
  if (before.machines != session.settings.machines) {
    readMachines(server, options);
    changed = true;
  }
  if (changed)
    session.workspace.setOptions(std::move(options));
  if (changed || before.targets != session.settings.targets ||
      before.bindings != session.settings.bindings || before.sizes != session.settings.sizes)
    server.feasibility.settingsChanged();
  server.publisher.allChanged();
}

static void askSettings(Server &server) {
  server.request("workspace/configuration", {{"items", {{{"section", "ptl"}}}}},
                 {[&server](const json &values) {
                    if (values.is_array() && !values.empty())
                      setSettings(server, values[0]);
                  },
                  reportProblem});
}

void didChangeConfiguration(Server &server, const json &params) {
  // A client that can be asked sends nothing of use with the notification.
  if (server.session.client.configuration)
    askSettings(server);
  else
    setSettings(server, params.value("settings", json()));
}

void initialized(Server &server, const json &) {
  if (server.session.client.configuration)
    askSettings(server);
  if (!server.session.client.dynamicWatching)
    return;
  json watchers = {{{"globPattern", "**/*.ptl"}}};
  server.request("client/registerCapability",
                 {{"registrations",
                   {{{"id", "watch"},
                     {"method", "workspace/didChangeWatchedFiles"},
                     {"registerOptions", {{"watchers", watchers}}}}}}});
}

} // namespace ptl::lsp
