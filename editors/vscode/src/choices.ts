// Which chips the files of a workspace are for, and for which lengths times are told: chosen from lists, kept in settings.

import * as vscode from "vscode";

import { config } from "./config";
import * as protocol from "./protocol";
import { readSizes, sizesText, withSizes } from "./sizes";
import { Server } from "./server";

export class Choices {
  constructor(private readonly server: Server) {}

  /** Asks which chips kernels are to run on. */
  async chooseTargets(): Promise<void> {
    const client = this.server.client;
    if (!client) throw new Error("the PTL server does not run");
    const { chips, chosen } = await client.sendRequest(protocol.targetsRequest, {});
    const items = [
      ...chips.map((chip) => ({ label: chip, description: "chip", picked: chosen.includes(chip) })),
      { label: "cpu", description: "this processor", picked: chosen.includes("cpu") },
    ];
    const picked = await vscode.window.showQuickPick(items, {
      canPickMany: true,
      placeHolder: "Choose chips: the editor then shows for each kernel whether it fits, and its predicted time",
    });
    if (picked) await update("targets", picked.map((item) => item.label));
  }

  /** Asks for which lengths the times of an entry are told. */
  async chooseSizes(source: vscode.Uri, of: { entry?: string; position?: vscode.Position }): Promise<void> {
    const client = this.server.client;
    if (!client) throw new Error("the PTL server does not run");
    const known = await client.sendRequest(protocol.sizesRequest, {
      textDocument: { uri: source.toString() },
      entry: of.entry,
      position: of.position && client.code2ProtocolConverter.asPosition(of.position),
    });
    const { entry } = known;
    const other = { label: "$(edit) Other lengths…", description: "", sizes: undefined };
    const usual = { label: "$(discard) As without a choice", description: "from a bench, otherwise assumed", sizes: {} };
    const calls = known.calls.map((call) => ({ label: sizesText(call.sizes), description: call.caller, sizes: call.sizes }));
    const picked = await vscode.window.showQuickPick([...calls, other, usual], {
      placeHolder: `Choose the lengths for \`${entry}\``,
    });
    if (!picked) return;
    const sizes = picked === other ? await this.askSizes(entry, known.dims) : picked.sizes;
    if (!sizes) return;
    const before = config(source).get<Record<string, unknown>>("sizes", {});
    await update("sizes", withSizes(before, entry, known.dims, sizes));
  }

  private async askSizes(entry: string, dims: protocol.Dimension[]): Promise<Record<string, number> | undefined> {
    const names = dims.map((dim) => dim.name);
    const text = await vscode.window.showInputBox({
      prompt: `Lengths of \`${entry}\`: ${names.join(", ")}`,
      value: sizesText(Object.fromEntries(dims.map((dim) => [dim.name, dim.value ?? 1024]))),
      validateInput: (value) => {
        const read = readSizes(value, names);
        return typeof read === "string" ? read : undefined;
      },
    });
    const read = text === undefined ? undefined : readSizes(text, names);
    return typeof read === "object" ? read : undefined;
  }
}

/** In the workspace if there is one. */
async function update(key: string, value: unknown): Promise<void> {
  const where = vscode.workspace.workspaceFolders ? vscode.ConfigurationTarget.Workspace : vscode.ConfigurationTarget.Global;
  await config().update(key, value, where);
}
