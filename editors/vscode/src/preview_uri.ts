// The names of previews: `ptl-ir:/FILE.ENTRY.STAGE.ext?uri=SOURCE&entry=ENTRY&stage=STAGE`.
// An editor keeps a URI decoded and writes it encoded in its own way, so the form that the server reads is made here.

export const previewScheme = "ptl-ir";

export interface PreviewName {
  /** FILE.ENTRY.STAGE.ext, shown as the title. */
  title: string;
  uri: string;
  entry: string;
  stage: string;
  /** Further parts of the query, kept in their order. */
  rest: [string, string][];
}

export function formatPreviewUri(name: PreviewName): string {
  const query = [["uri", name.uri], ["entry", name.entry], ["stage", name.stage], ...name.rest];
  return `${previewScheme}:/${encodeURIComponent(name.title)}?${query
    .map(([key, value]) => `${key}=${encodeURIComponent(value)}`)
    .join("&")}`;
}

/** From the path and query of a URI, both decoded once or not at all. Undefined if a part is missing. */
export function parsePreviewName(path: string, query: string): PreviewName | undefined {
  const parts = new Map<string, string>();
  for (const part of query.split("&")) {
    const equals = part.indexOf("=");
    if (equals > 0) parts.set(part.slice(0, equals), part.slice(equals + 1));
  }
  // A source URI has a colon behind its scheme; encoded there is none.
  const encoded = parts.has("uri") && !parts.get("uri")!.includes(":");
  const take = (key: string): string | undefined => {
    const value = parts.get(key);
    parts.delete(key);
    return value === undefined ? undefined : encoded ? decode(value) : value;
  };
  const uri = take("uri");
  const entry = take("entry");
  const stage = take("stage");
  if (uri === undefined || entry === undefined || stage === undefined) return undefined;
  const rest = [...parts.keys()].map((key): [string, string] => [key, take(key)!]);
  return { title: decode(path.replace(/^\//, "")), uri, entry, stage, rest };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // It was not encoded.
  }
}
