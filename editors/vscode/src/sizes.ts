// Lengths as text and as the setting `ptl.sizes`. No editor in here.

export type Sizes = Record<string, number>;

/** `R = 768, C = 2048` */
export function sizesText(sizes: Sizes): string {
  return Object.entries(sizes)
    .map(([name, value]) => `${name} = ${value}`)
    .join(", ");
}

/** The lengths of a text, or what is wrong with it. */
export function readSizes(text: string, names: string[]): Sizes | string {
  const sizes: Sizes = {};
  for (const part of text.split(/[,;]/).map((each) => each.trim())) {
    if (part === "") continue;
    const found = /^([A-Za-z_]\w*|\.\.)\s*[=:]\s*(\d+)$/.exec(part);
    if (!found?.[1] || !found[2]) return `\`${part}\` is no \`NAME = LENGTH\``;
    if (!names.includes(found[1])) return `there is no dimension \`${found[1]}\`; there are ${names.join(", ")}`;
    const value = Number(found[2]);
    if (!Number.isSafeInteger(value)) return `${found[2]} is too large`;
    sizes[found[1]] = value;
  }
  return sizes;
}

/** The setting with other lengths of one entry; those of others stay. */
export function withSizes(
  before: Record<string, unknown>,
  entry: string,
  dims: { name: string }[],
  sizes: Sizes,
): Record<string, unknown> {
  const after: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(before)) {
    const isOwn = name === entry || dims.some((dim) => name === `${entry}.${dim.name}`);
    if (!isOwn) after[name] = value;
  }
  for (const [name, value] of Object.entries(sizes)) after[`${entry}.${name}`] = value;
  return after;
}
