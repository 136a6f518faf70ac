import * as vscode from "vscode";

import { Choices } from "./choices";
import { Commands } from "./commands";
import { useProgramsOf } from "./config";
import { registerDebugger } from "./debug";
import { HoverIr } from "./hover_ir";
import { LinkedHighlight } from "./linked_highlight";
import { PictureView } from "./picture_view";
import { Previews } from "./previews";
import { Server } from "./server";
import { taskProvider } from "./tasks";
import { TestView } from "./test_view";
import { TimelineView } from "./timeline_view";

const needRestart = ["ptl.server.path", "ptl.server.arguments", "ptl.server.environment"];

export function activate(context: vscode.ExtensionContext): void {
  useProgramsOf(context.extensionPath);
  const server = new Server();
  const previews = new Previews(server);
  const pictures = new PictureView(previews);
  const timelines = new TimelineView(server);
  context.subscriptions.push(
    server,
    previews,
    pictures,
    timelines,
    new LinkedHighlight(previews),
    new HoverIr(server).register(),
    new TestView(),
    ...registerDebugger(),
    ...new Commands(server, previews, pictures, timelines, new Choices(server)).register(),
    vscode.tasks.registerTaskProvider("ptlc", taskProvider),
    vscode.workspace.onDidChangeConfiguration((event) => {
      // The running server is told of the change first.
      if (needRestart.some((key) => event.affectsConfiguration(key))) setTimeout(() => void server.restart(), 200);
    }),
    vscode.workspace.onDidGrantWorkspaceTrust(() => void server.restart()),
  );
  void server.restart();
}
