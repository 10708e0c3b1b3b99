/** The content of an XML element: a text, other elements by name, or nothing. A list stands for several elements with one name. */
export type XmlContent = string | number | boolean | undefined | XmlElements;

/** The children of an XML element. */
export interface XmlElements {
  [name: string]: XmlContent | readonly XmlContent[];
}

/**
 * Creates an XML document.
 *
 * @example
 * ```ts
 * toXml("Error", { Code: "NoSuchKey" }); // '<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>NoSuchKey</Code></Error>'
 * ```
 */
export function toXml(root: string, content: XmlElements, { namespace }: { namespace?: string } = {}): string {
  const attributes = namespace === undefined ? "" : ` xmlns="${namespace}"`;
  return `<?xml version="1.0" encoding="UTF-8"?>\n<${root}${attributes}>${childrenOf(content)}</${root}>`;
}

function childrenOf(content: XmlElements): string {
  return Object.entries(content)
    .flatMap(([name, value]) => (isList(value) ? value : [value]).map((item) => element(name, item)))
    .join("");
}

function element(name: string, content: XmlContent): string {
  if (content === undefined) return "";
  return `<${name}>${typeof content === "object" ? childrenOf(content) : escapeText(String(content))}</${name}>`;
}

function isList(value: XmlContent | readonly XmlContent[]): value is readonly XmlContent[] {
  return Array.isArray(value);
}

const entities: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

function escapeText(text: string): string {
  return text.replace(/[&<>"\u0000-\u001f]/g, (char) => `&#${char.charCodeAt(0)};`);
}

/**
 * Returns the texts of all elements with a name. Ignores the structure of the document. Returns `undefined` if a text has a reference
 * that stands for no character of XML, such as `&#x110000;`.
 */
export function readElements(xml: string, name: string): string[] | undefined {
  const written = [...xml.matchAll(new RegExp(`<${name}>([^<]*)</${name}>`, "g"))].map(([, text = ""]) => text);
  const reference = /&([^;]*;?)/g;
  const isValid = written.every((text) => [...text.matchAll(reference)].every(([, one = ""]) => characterOf(one)));
  return isValid
    ? written.map((text) => text.replace(reference, (_all, one: string) => characterOf(one) ?? ""))
    : undefined;
}

const xmlCharacter = /^[\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]$/u;

/** @param written a reference without the ampersand, such as `#38;` or `amp;`. */
function characterOf(written: string): string | undefined {
  const [, decimal, hexadecimal, named] = /^(?:#(\d+)|#x([\da-f]+)|(\w+));$/i.exec(written) ?? [];
  if (named !== undefined) return Object.hasOwn(entities, named) ? entities[named] : undefined;
  const code = decimal === undefined ? Number.parseInt(hexadecimal ?? "", 16) : Number(decimal);
  const character = code <= 0x10_ffff ? String.fromCodePoint(code) : "";
  return xmlCharacter.test(character) ? character : undefined;
}
