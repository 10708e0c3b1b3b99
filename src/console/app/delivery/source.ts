import { escapeHidden } from "../../../core/text.ts";

const maxInlineLength = 80;

/** Writes a value as JavaScript source: JSON values and `undefined`. */
export function toSource(value: unknown, { indent = "" }: { indent?: string } = {}): string {
  if (Array.isArray(value))
    return wrap(
      "[",
      "]",
      value.map((item) => toSource(item, { indent: `${indent}  ` })),
      indent,
    );
  if (typeof value === "object" && value !== null) {
    const fields = Object.entries(value).map(
      ([key, field]) => `${toKey(key)}: ${toSource(field, { indent: `${indent}  ` })}`,
    );
    return wrap("{", "}", fields, indent);
  }
  return value === undefined ? "undefined" : escapeHidden(JSON.stringify(value));
}

function wrap(open: string, close: string, parts: readonly string[], indent: string): string {
  const space = open === "{" ? " " : "";
  const inline = `${open}${space}${parts.join(", ")}${space}${close}`;
  if (parts.length === 0) return `${open}${close}`;
  if (inline.length + indent.length <= maxInlineLength && !inline.includes("\n")) return inline;
  return `${open}\n${parts.map((part) => `${indent}  ${part},\n`).join("")}${indent}${close}`;
}

function toKey(key: string): string {
  // As a plain key, it would set the prototype.
  if (key === "__proto__") return '["__proto__"]';
  return /^[A-Za-z_$][\w$]*$/.test(key) ? key : escapeHidden(JSON.stringify(key));
}
