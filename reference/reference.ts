import ts from "typescript";
import { Code } from "./code.ts";
import { isHiddenMember } from "./declaration-text.ts";
import { type DocComment, docCommentOf } from "./doc-comment.ts";
import type { Face } from "./faces.ts";
import { type Export, Source } from "./source.ts";

const kinds = { Classes: "class", Functions: "function", Values: "value", Types: "type" } as const;
type Kind = keyof typeof kinds;
const allKinds = Object.keys(kinds) as Kind[];

const link = /\{@link ([^}|\s]+)\s*(?:\|\s*([^}]*))?\}/g;
const notice = "<!-- Written by `npm run reference` from the doc comments in src: change those. -->";

/** The reference to be: its pages, and what is wrong with the comments that it is made of. */
export class Reference {
  /** The text of each page, by its name. */
  readonly pages: ReadonlyMap<string, string>;
  /** What is not documented or leads nowhere. */
  readonly problems: string[] = [];
  readonly #code: Code;
  readonly #exports: ReadonlyMap<Face, readonly Export[]>;
  /** Each thing with its page: that of the first face that exports it. */
  readonly #owners = new Map<ts.Symbol, Export>();

  constructor(faces: readonly Face[]) {
    const source = new Source(faces);
    this.#exports = new Map(faces.map((face) => [face, source.exportsOf(face)]));
    for (const exported of [...this.#exports.values()].flat()) {
      if (!this.#owners.has(exported.symbol)) this.#owners.set(exported.symbol, exported);
    }
    this.#code = new Code({ source, exports: this.#owners });
    this.pages = new Map([
      ["README.md", this.#contents(faces)],
      ...faces.map((face): [string, string] => [face.page, this.#page(face)]),
    ]);
  }

  /** What is written on the page of a face, of one kind. */
  #own(face: Face, kind: Kind): Export[] {
    const all = this.#exports.get(face) ?? [];
    return all.filter((exported) => this.#owners.get(exported.symbol) === exported && kindOf(exported) === kind);
  }

  #contents(faces: readonly Face[]): string {
    const parts = [
      notice,
      "# Reference",
      "What can be imported, its types and its doc comments: what an editor shows.",
    ];
    for (const face of faces) {
      const [types, others] = [
        this.#own(face, "Types"),
        allKinds.slice(0, -1).flatMap((kind) => this.#own(face, kind)),
      ];
      const lines = others.map(
        (one) => `- ${this.#link(one)}: ${this.#prose(firstSentence(one), one, { from: "README.md" })}`,
      );
      parts.push(`## [${face.address}](${face.page})`, face.summary);
      if (lines.length > 0) parts.push(lines.join("\n"));
      if (types.length > 0) parts.push(`Types: ${types.map((one) => this.#link(one)).join(", ")}`);
    }
    return `${parts.join("\n\n")}\n`;
  }

  #page(face: Face): string {
    const list = (some: readonly Export[]) => some.map((one) => this.#link(one, { from: face.page })).join(", ");
    const others = (this.#exports.get(face) ?? []).filter(({ symbol }) => this.#owners.get(symbol)?.face !== face);
    const present = allKinds.filter((kind) => this.#own(face, kind).length > 0);
    const parts = [notice, `# ${face.address}`, face.summary];
    parts.push(...present.map((kind) => `**${kind}**: ${list(this.#own(face, kind))}`));
    if (others.length > 0) parts.push(`**Also here**: ${list(others)}`);
    for (const kind of present) parts.push(`## ${kind}`, ...this.#own(face, kind).flatMap((one) => this.#entry(one)));
    return `${parts.join("\n\n")}\n`;
  }

  /** GitHub makes the same anchor of names that differ by case: of these, a type says in its heading that it is one. */
  #heading(exported: Export): string {
    const { name, face } = exported;
    const all = allKinds.flatMap((kind) => this.#own(face, kind));
    const isFirst = all.find((other) => other.name.toLowerCase() === name.toLowerCase()) === exported;
    return isFirst ? name : `${name} (${kinds[kindOf(exported)]})`;
  }

  #link(exported: Export, { from = "README.md", text = exported.name }: { from?: string; text?: string } = {}): string {
    const owner = this.#owners.get(exported.symbol) ?? exported;
    const anchor = this.#heading(owner).toLowerCase().replaceAll(/[()]/g, "").replaceAll(" ", "-");
    return `[${text}](${owner.face.page === from ? "" : owner.face.page}#${anchor})`;
  }

  #entry(exported: Export): string[] {
    const comments = commentsOf(exported);
    if (comments.length === 0) this.problems.push(`${exported.face.address}: ${exported.name} has no doc comment.`);
    this.#checkMembers(exported);
    const prose = (text: string) => this.#prose(text, exported, { from: exported.face.page });
    return [
      `### ${this.#heading(exported)}`,
      ...comments.map(({ text }) => prose(text)).filter((text) => text !== ""),
      `\`\`\`ts\n${this.#withoutLinks(this.#code.write(exported), exported)}\n\`\`\``,
      ...comments.flatMap(({ throws }) => throws.map((text) => `**Throws** ${prose(text)}`)),
      ...comments.flatMap(({ examples }) => examples.map((example) => `**Example**\n\n${example}`)),
    ];
  }

  /** The text of a comment, its links as Markdown has them. */
  #prose(text: string, exported: Export, { from }: { from: string }): string {
    return text.replaceAll(link, (_link, target: string, words?: string) => {
      const linked = this.#find(target, exported);
      return linked ? this.#link(linked, { from, text: words ?? `\`${target}\`` }) : `\`${target}\``;
    });
  }

  /** In code a link is only a name. */
  #withoutLinks(code: string, exported: Export): string {
    return code.replaceAll(link, (_link, target: string) => {
      this.#find(target, exported);
      return target;
    });
  }

  /** What a link leads to: something that can be imported, or a member of it or of what has the link. */
  #find(target: string, exported: Export): Export | undefined {
    const { name, face, symbol } = exported;
    const found = [...this.#owners.values()].filter((one) => one.name === target.split(".")[0]);
    const linked = found.find((one) => one.face === face) ?? found[0];
    if (linked) return linked;
    const isMember = symbol.members?.has(ts.escapeLeadingUnderscores(target)) ?? false;
    if (!isMember) this.problems.push(`${face.address}: ${name} links to ${target}, which cannot be imported.`);
    return isMember ? exported : undefined;
  }

  #checkMembers({ name, face, declarations }: Export): void {
    const members: readonly (ts.ClassElement | ts.TypeElement)[] = [
      ...declarations.filter(ts.isClassDeclaration).flatMap((declaration) => [...declaration.members]),
      ...declarations
        .filter(ts.isInterfaceDeclaration)
        .flatMap((declaration) => declaration.members.filter(ts.isMethodSignature)),
    ];
    for (const member of members) {
      if (!member.name || isHiddenMember(member) || docCommentOf(member)) continue;
      if (ts.getCombinedModifierFlags(member) & ts.ModifierFlags.Override) continue;
      this.problems.push(`${face.address}: ${name}.${member.name.getText()} has no doc comment.`);
    }
  }
}

function kindOf({ declarations }: Export): Kind {
  if (declarations.some(ts.isClassDeclaration)) return "Classes";
  if (declarations.some(ts.isFunctionDeclaration)) return "Functions";
  return declarations.some(ts.isVariableDeclaration) ? "Values" : "Types";
}

/** Of a function in several forms, each may have its own. */
function commentsOf({ declarations }: Export): DocComment[] {
  return declarations.flatMap((declaration) => docCommentOf(declaration) ?? []);
}

function firstSentence(exported: Export): string {
  const [text = ""] = commentsOf(exported).map((comment) => comment.text.replaceAll(/\s*\n\s*/g, " "));
  return /^.*?\.(?=\s|$)/.exec(text)?.[0] ?? text;
}
