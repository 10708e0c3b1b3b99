import ts from "typescript";

interface TypeTextOptions {
  readonly checker: ts.TypeChecker;
  /** The name under which a type can be imported, where it can. */
  readonly nameOf: (type: ts.Type) => string | undefined;
  /** Whether a named type is one of this package that cannot be imported. */
  readonly isHidden: (symbol: ts.Symbol) => boolean;
}

interface Place {
  /** Where the type is written. */
  readonly at: ts.Node;
  /** Before every line but the first. */
  readonly indent: string;
}

/** Writes types out: what a schema or an inner name stands for, down to what has a name for its users. */
export class TypeText {
  readonly #checker: ts.TypeChecker;
  readonly #nameOf: TypeTextOptions["nameOf"];
  readonly #isHidden: TypeTextOptions["isHidden"];

  constructor({ checker, nameOf, isHidden }: TypeTextOptions) {
    this.#checker = checker;
    this.#nameOf = nameOf;
    this.#isHidden = isHidden;
  }

  /** The text of a type: its name, where it has one. */
  write(type: ts.Type, place: Place): string {
    return this.#nameOf(type) ?? this.writeOut(type, place);
  }

  /** The text of a type, also of one that has a name. */
  writeOut(type: ts.Type, place: Place): string {
    if (type.isUnion()) return this.#union(type, place);
    if (this.#checker.isArrayType(type)) {
      const item = this.#checker.getIndexTypeOfType(type, ts.IndexKind.Number);
      const mark = type.symbol.name === "ReadonlyArray" ? "readonly " : "";
      if (item) return `${mark}${inParentheses(this.write(item, place))}[]`;
    }
    const isWrittenOut = (part: ts.Type) => isPlainObject(part) || (part.symbol && this.#isHidden(part.symbol));
    if (isWrittenOut(type)) return this.members(type, place);
    if (type.isIntersection() && type.types.every((part) => isWrittenOut(part) || part.isClassOrInterface())) {
      return type.types.map((part) => this.write(part, place)).join(" & ");
    }
    return this.#checker.typeToString(type, place.at, ts.TypeFormatFlags.NoTruncation);
  }

  #union(type: ts.UnionType, place: Place): string {
    const empty = type.types.filter(({ flags }) => flags & (ts.TypeFlags.Null | ts.TypeFlags.Undefined));
    const some = this.#checker.getNonNullableType(type);
    const name = empty.length > 0 ? this.#nameOf(some) : undefined;
    const others = some.isUnion() ? some.types : [some];
    const texts = name ? [name] : inOrder(others.map((member) => this.write(member, place)));
    const all = [...texts, ...empty.map((member) => this.#checker.typeToString(member)).sort()];
    const line = all.join(" | ");
    return line.length < 100 || line.includes("\n") ? line : all.map((text) => `\n${place.indent}  | ${text}`).join("");
  }

  /** The text of an object type with all its members, those of what it extends too. */
  members(type: ts.Type, { at, indent }: Place): string {
    const inner = { at, indent: `${indent}  ` };
    const lines = this.#checker.getPropertiesOfType(type).map((property) => {
      const mark = property.flags & ts.SymbolFlags.Optional ? "?" : "";
      const text = this.write(this.#checker.getTypeOfSymbolAtLocation(property, at), inner);
      const value = mark ? text.replace(/\s*\| undefined$/, "") : text;
      const name = /^[\w$]+$/.test(property.name) ? property.name : JSON.stringify(property.name);
      const start = `${inner.indent}${isReadonly(property) ? "readonly " : ""}`;
      return `${this.#comment(property, inner.indent)}${start}${name}${mark}: ${value};`;
    });
    for (const { keyType, type: value } of this.#checker.getIndexInfosOfType(type)) {
      lines.push(`${inner.indent}[name: ${this.#checker.typeToString(keyType)}]: ${this.write(value, inner)};`);
    }
    return lines.length === 0 ? "{}" : `{\n${lines.join("\n")}\n${indent}}`;
  }

  #comment(symbol: ts.Symbol, indent: string): string {
    const text = ts.displayPartsToString(symbol.getDocumentationComment(this.#checker));
    if (text === "") return "";
    if (!text.includes("\n")) return `${indent}/** ${text} */\n`;
    return `${indent}/**\n${text.replaceAll(/^/gm, `${indent} * `)}\n${indent} */\n`;
  }
}

/** The compiler's order depends on everything that it has met before; this one does not. */
function inOrder(members: readonly string[]): string[] {
  const texts = new Set(members.map((text) => (/ & |=>/.test(text) && !text.startsWith("{") ? `(${text})` : text)));
  if (texts.delete("true") && texts.delete("false")) texts.add("boolean");
  const rank = (text: string) => (text.startsWith('"') ? 0 : text.startsWith("(") ? 2 : 1);
  return [...texts].sort((one, other) => rank(one) - rank(other) || (rank(one) === 0 ? (one < other ? -1 : 1) : 0));
}

function isReadonly(property: ts.Symbol): boolean {
  const declaration = property.valueDeclaration;
  return declaration !== undefined && (ts.getCombinedModifierFlags(declaration) & ts.ModifierFlags.Readonly) !== 0;
}

function isPlainObject(type: ts.Type): boolean {
  if (!(type.flags & ts.TypeFlags.Object) || type.getCallSignatures().length > 0) return false;
  const { objectFlags } = type as ts.ObjectType;
  return (objectFlags & (ts.ObjectFlags.Anonymous | ts.ObjectFlags.Mapped)) !== 0;
}

function inParentheses(text: string): string {
  return / [|&] |=>/.test(text.replaceAll(/\{.*\}/gs, "")) ? `(${text})` : text;
}
