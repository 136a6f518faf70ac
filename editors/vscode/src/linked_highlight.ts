// What a source expression and the lines of a preview have in common lights up on both sides.

import * as vscode from "vscode";

import { config } from "./config";
import { runs } from "./line_map";
import { isPreview, Previews } from "./previews";

export class LinkedHighlight implements vscode.Disposable {
  private readonly linked = vscode.window.createTextEditorDecorationType({
    backgroundColor: new vscode.ThemeColor("ptl.linkedBackground"),
    overviewRulerColor: new vscode.ThemeColor("ptl.linkedBackground"),
    overviewRulerLane: vscode.OverviewRulerLane.Center,
  });
  private readonly linkedLine = vscode.window.createTextEditorDecorationType({
    backgroundColor: new vscode.ThemeColor("ptl.linkedBackground"),
    overviewRulerColor: new vscode.ThemeColor("ptl.linkedBackground"),
    overviewRulerLane: vscode.OverviewRulerLane.Center,
    isWholeLine: true,
  });
  private readonly stale = vscode.window.createTextEditorDecorationType({ opacity: "0.55", isWholeLine: true });
  private readonly note = vscode.languages.createLanguageStatusItem("ptl.preview", { scheme: "ptl-ir" });
  private readonly subscriptions: vscode.Disposable[];
  /** The editor that the user moved in last: its cursor decides what is lit. */
  private leader: vscode.TextEditor | undefined = vscode.window.activeTextEditor;

  constructor(private readonly previews: Previews) {
    this.note.name = "PTL preview";
    this.subscriptions = [
      this.linked,
      this.linkedLine,
      this.stale,
      this.note,
      vscode.window.onDidChangeTextEditorSelection(({ textEditor, kind }) => {
        // Without a kind it was an edit by a program, or the text was replaced.
        if (kind !== undefined || textEditor === vscode.window.activeTextEditor) this.follow(textEditor, true);
      }),
      vscode.window.onDidChangeVisibleTextEditors(() => this.redraw()),
      vscode.window.onDidChangeActiveTextEditor((editor) => editor && this.follow(editor, false)),
      vscode.workspace.onDidChangeTextDocument(({ document }) => isPreview(document) && this.redraw()),
      previews.onDidUpdate(() => this.redraw()),
    ];
  }

  dispose(): void {
    for (const subscription of this.subscriptions) subscription.dispose();
  }

  private redraw(): void {
    // The active editor leads; the last that did, while the active one is of another kind, such as the output.
    for (const editor of [this.leader, vscode.window.activeTextEditor])
      if (editor && vscode.window.visibleTextEditors.includes(editor)) this.follow(editor, false);
    for (const editor of vscode.window.visibleTextEditors) if (isPreview(editor.document)) this.showState(editor);
  }

  private follow(editor: vscode.TextEditor, moved: boolean): void {
    if (!["ptl", "mlir"].includes(editor.document.languageId) && !isPreview(editor.document)) return;
    this.leader = editor;
    const on = config().get<boolean>("preview.followCursor", true);
    const reveal = moved && config().get<boolean>("preview.reveal", true);
    for (const other of vscode.window.visibleTextEditors) {
      if (!on) light(other, this.linked, this.linkedLine, []);
      else if (isPreview(editor.document)) this.fromPreview(editor, other, reveal);
      else this.fromSource(editor, other, reveal);
    }
  }

  private fromSource(source: vscode.TextEditor, other: vscode.TextEditor, reveal: boolean): void {
    if (!isPreview(other.document)) {
      light(other, this.linked, this.linkedLine, []);
      return;
    }
    const map = this.previews.get(other.document.uri)?.map;
    const lines = map?.linesOf(source.document.uri.toString(), source.selection) ?? [];
    const ranges = runs(lines).map(({ first, last }) => new vscode.Range(first, 0, last, 0));
    light(other, this.linkedLine, this.linked, ranges);
    if (reveal) show(other, ranges);
  }

  private fromPreview(preview: vscode.TextEditor, other: vscode.TextEditor, reveal: boolean): void {
    const sources = this.previews.sources(preview.document.uri, preview.selection.active.line);
    if (other === preview) {
      const line = preview.selection.active.line;
      light(other, this.linkedLine, this.linked, sources.length > 0 ? [new vscode.Range(line, 0, line, 0)] : []);
    } else if (isPreview(other.document)) {
      // Two stages of one source meet in the ranges they share.
      const map = this.previews.get(other.document.uri)?.map;
      const lines = sources.flatMap(({ uri, range }) => map?.linesOf(uri.toString(), range) ?? []);
      const sorted = [...new Set(lines)].sort((a, b) => a - b);
      const ranges = runs(sorted).map(({ first, last }) => new vscode.Range(first, 0, last, 0));
      light(other, this.linkedLine, this.linked, ranges);
      if (reveal) show(other, ranges);
    } else {
      const here = other.document.uri.toString();
      const ranges = sources.filter(({ uri }) => uri.toString() === here).map(({ range }) => range);
      light(other, this.linked, this.linkedLine, ranges);
      if (reveal) show(other, ranges);
    }
  }

  private showState(editor: vscode.TextEditor): void {
    const result = this.previews.get(editor.document.uri)?.result;
    const all = new vscode.Range(0, 0, editor.document.lineCount, 0);
    editor.setDecorations(this.stale, result?.stale ? [all] : []);
    if (editor !== vscode.window.activeTextEditor && vscode.window.activeTextEditor?.document.uri.scheme === "ptl-ir")
      return;
    this.note.text = result?.stale ? "preview: the last that compiled" : `preview: ${result?.stage ?? ""}`;
    this.note.detail = result?.note;
    this.note.severity = result?.stale ? vscode.LanguageStatusSeverity.Warning : vscode.LanguageStatusSeverity.Information;
  }
}

function light(
  editor: vscode.TextEditor,
  on: vscode.TextEditorDecorationType,
  off: vscode.TextEditorDecorationType,
  ranges: vscode.Range[],
): void {
  editor.setDecorations(off, []);
  editor.setDecorations(on, ranges);
}

/** Scrolls only if nothing of it is to be seen. */
function show(editor: vscode.TextEditor, ranges: vscode.Range[]): void {
  const seen = ranges.some((range) => editor.visibleRanges.some((visible) => visible.intersection(range)));
  if (ranges.length > 0 && !seen) editor.revealRange(ranges[0], vscode.TextEditorRevealType.InCenter);
}
