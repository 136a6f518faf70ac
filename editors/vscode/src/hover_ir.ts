// What an expression became, as a second part of its hover: the editor shows the first part at once, and this when it is there.

import * as vscode from "vscode";

import * as protocol from "./protocol";
import { Server } from "./server";

export class HoverIr implements vscode.HoverProvider {
  constructor(private readonly server: Server) {}

  register(): vscode.Disposable {
    return vscode.languages.registerHoverProvider({ language: "ptl" }, this);
  }

  async provideHover(
    document: vscode.TextDocument,
    position: vscode.Position,
    token: vscode.CancellationToken,
  ): Promise<vscode.Hover | undefined> {
    const client = this.server.client;
    if (!client) return undefined;
    const asked = client.code2ProtocolConverter.asTextDocumentPositionParams(document, position);
    const found = await client.sendRequest(protocol.hoverIrRequest, asked, token).catch(() => null);
    return client.protocol2CodeConverter.asHover(found) ?? undefined;
  }
}
