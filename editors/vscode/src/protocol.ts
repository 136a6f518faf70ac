// The requests of `ptl-lsp` beyond the language server protocol.

import {
  Hover,
  NotificationType,
  Position,
  RequestType,
  RequestType0,
  TextDocumentIdentifier,
} from "vscode-languageclient";

import type { MapEntry } from "./line_map";

export interface PreviewParams {
  textDocument: TextDocumentIdentifier;
  /** The entry is the declaration here when it is not named. */
  position?: Position;
  entry?: string;
  stage: string;
  /** Beside those of the setting `ptl.preview.bindings`, and stronger. */
  bindings?: Record<string, number | string | boolean>;
}

export interface PreviewResult {
  /** `ptl-ir:/FILE.ENTRY.STAGE.ext?uri=…&entry=…&stage=…` */
  uri: string;
  version: number;
  entry: string;
  stage: string;
  languageId: string;
  text: string;
  map: MapEntry[];
  folds: { start: number; end: number }[];
  /** The source has errors now; this is the last good result. */
  stale: boolean;
  /** Why there is no text, or why it is stale. */
  diagnostics?: { message: string; code?: string; severity?: string }[];
  error?: { code: string; message: string };
  /** What the reader should know, such as the bindings that were chosen. */
  note?: string;
}

export interface Stage {
  /** `tile`, or `block@a3`: of a chip. */
  id: string;
  /** The chip, if there is one. */
  target?: string;
  title: string;
  languageId: string;
  summary: string;
}

export interface ServerStatus {
  health: "ok" | "warning" | "error";
  message?: string;
}

export interface Dimension {
  name: string;
  static: boolean;
  /** What was chosen. */
  value?: number;
}

export interface SizesResult {
  entry: string;
  dims: Dimension[];
  /** The lengths of the calls in its file, and whose they are. */
  calls: { caller: string; sizes: Record<string, number> }[];
}

export interface TimelineParams {
  textDocument: TextDocumentIdentifier;
  position?: Position;
  entry?: string;
  target?: string;
  form: "page";
}

export interface TimelineResult {
  version: number;
  entry: string;
  target: string;
  /** Only the first rounds of its loops were run. */
  part: boolean;
  /** The swimlane. */
  page: string;
}

interface Uri {
  uri: string;
}

export const previewRequest = new RequestType<PreviewParams, PreviewResult | null, void>("ptl/preview");
export const stagesRequest = new RequestType0<Stage[], void>("ptl/stages");
export const virtualDocumentRequest = new RequestType<Uri, PreviewResult | null, void>("ptl/virtualDocument");
export const previewHoverRequest = new RequestType<Uri & { position: Position }, Hover | null, void>(
  "ptl/previewHover",
);
export const timelineRequest = new RequestType<TimelineParams, TimelineResult, void>("ptl/timeline");
export const statusRequest = new RequestType0<object, void>("ptl/status");

export const virtualDocumentChanged = new NotificationType<Uri>("ptl/virtualDocumentChanged");
export const virtualDocumentOpened = new NotificationType<Uri>("ptl/virtualDocumentOpened");
export const virtualDocumentClosed = new NotificationType<Uri>("ptl/virtualDocumentClosed");
export const serverStatus = new NotificationType<ServerStatus>("ptl/serverStatus");

export const hoverIrRequest = new RequestType<
  { textDocument: TextDocumentIdentifier; position: Position },
  Hover | null,
  void
>("ptl/hoverIr");

export const targetsRequest = new RequestType<object, { chips: string[]; chosen: string[] }, void>("ptl/targets");

export const sizesRequest = new RequestType<
  { textDocument: TextDocumentIdentifier; entry?: string; position?: Position },
  SizesResult,
  void
>("ptl/sizes");
