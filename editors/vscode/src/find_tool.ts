// Where the server and the compiler are.

import * as path from "node:path";

export interface Places {
  /** The setting; empty if none. */
  setting: string;
  /** Folder of the workspace, for `${workspaceFolder}` and relative paths. */
  workspace?: string;
  home?: string;
  /** The environment variable PATH. */
  searchPath: string;
  /** Folders that are looked into before PATH. */
  beside?: string[];
  isExecutable(file: string): boolean;
}

export type Found = { path: string } | { problem: string };

/** The program `name`: what the setting says, else the first of `beside` and PATH. */
export function findTool(name: string, settingKey: string, places: Places): Found {
  if (places.setting) {
    const file = expand(places.setting, places);
    if (places.isExecutable(file)) return { path: file };
    return { problem: `\`${settingKey}\` names \`${file}\`, which is not a program that can be run` };
  }
  const folders = [...(places.beside ?? []), ...places.searchPath.split(path.delimiter)];
  for (const folder of folders) {
    const file = path.join(folder, name);
    if (folder && places.isExecutable(file)) return { path: file };
  }
  const installs = "install the extension's package for this platform (`./dev vsix` makes it) or PTL itself";
  return { problem: `\`${name}\` did not come with the extension and is not on the PATH: ${installs}, or set \`${settingKey}\`` };
}

function expand(setting: string, places: Places): string {
  let file = setting;
  if (places.workspace) file = file.replaceAll("${workspaceFolder}", places.workspace);
  if (places.home && (file === "~" || file.startsWith("~/"))) file = places.home + file.slice(1);
  return places.workspace ? path.resolve(places.workspace, file) : file;
}
