import ts from "typescript";
import { declarationText, isHiddenMember } from "./declaration-text.ts";
import { root } from "./faces.ts";
import type { Export, Source } from "./source.ts";
import { TypeText } from "./type-text.ts";

interface CodeOptions {
  readonly source: Source;
  /** All that can be imported. */
  readonly exports: ReadonlyMap<ts.Symbol, Export>;
}

/** Writes what is exported as TypeScript. */
export class Code {
  readonly #source: Source;
  readonly #exports: ReadonlyMap<ts.Symbol, Export>;
  readonly #types: TypeText;

  constructor({ source, exports }: CodeOptions) {
    this.#source = source;
    this.#exports = exports;
    const names = this.#nameTypes();
    this.#types = new TypeText({
      checker: source.checker,
      nameOf: (type) => names.get(type),
      isHidden: (symbol) => this.#isHidden(symbol),
    });
  }

  /** The declaration of an export, followed by the types in it that cannot be imported. */
  write(exported: Export): string {
    const texts = [this.#declaration(exported)];
    const seen = new Set<ts.Symbol>();
    const add = (symbol: ts.Symbol): void => {
      const [declaration] = symbol.declarations ?? [];
      if (!declaration || seen.has(symbol) || !this.#isHidden(symbol) || !isType(declaration)) return;
      if (!new RegExp(`\\b${symbol.name}\\b`).test(texts.join("\n"))) return;
      seen.add(symbol);
      const comments = ts.getJSDocCommentsAndTags(declaration).map((comment) => `${comment.getText()}\n`);
      texts.push(`// Not exported.\n${comments.join("")}${declarationText(declaration)}`);
      for (const name of this.#namesIn(declaration)) add(name);
    };
    for (const declaration of exported.declarations) for (const name of this.#namesIn(declaration)) add(name);
    return texts
      .join("\n\n")
      .replaceAll(/ +$/gm, "")
      .replaceAll(/\{\n\}/g, "{}");
  }

  #declaration(exported: Export): string {
    const { symbol, declarations } = exported;
    const { checker } = this.#source;
    const [at] = declarations;
    if (!at) throw new Error(`${exported.name} is declared nowhere.`);
    const place = { at, indent: "" };
    if (ts.isTypeAliasDeclaration(at)) {
      if (at.typeParameters || !this.#namesIn(at).some((name) => this.#isValue(name))) return declarationText(at);
      return `type ${symbol.name} = ${this.#types.writeOut(checker.getTypeAtLocation(at), place)};`;
    }
    if (ts.isInterfaceDeclaration(at)) {
      const names = at.heritageClauses?.flatMap((clause) => this.#namesIn(clause)) ?? [];
      if (!names.some((name) => this.#isHidden(name) || this.#isValue(name))) return declarationText(at);
      return `interface ${symbol.name} ${this.#types.members(checker.getTypeAtLocation(at), place)}`;
    }
    if (ts.isVariableDeclaration(at)) {
      const output = schemaOutput(checker.getTypeAtLocation(at), checker, at);
      if (output) return `const ${symbol.name}: z.ZodType<${this.#types.write(output, place)}>;`;
    }
    // Emitted, four spaces are one level.
    return this.#source
      .emitted(exported)
      .map((statement) => declarationText(statement).replaceAll(/^(?: {4})+/gm, ({ length }) => " ".repeat(length / 2)))
      .join("\n");
  }

  /** The types that have a name, and would be written out without it. */
  #nameTypes(): Map<ts.Type, string> {
    const names = new Map<ts.Type, string>();
    for (const { name, declarations } of this.#exports.values()) {
      const alias = declarations.find(ts.isTypeAliasDeclaration);
      if (!alias || alias.typeParameters) continue;
      const type = this.#source.checker.getTypeAtLocation(alias);
      if ((type.isUnion() || type.flags & ts.TypeFlags.Object) && !names.has(type)) names.set(type, name);
    }
    return names;
  }

  /** Whether a type that names this has to be written out: it is a schema, or a list of which the type is taken. */
  #isValue(symbol: ts.Symbol): boolean {
    const isVariable = symbol.declarations?.some(ts.isVariableDeclaration) ?? false;
    return isOfZod(symbol) || (isVariable && this.#isHidden(symbol));
  }

  /** Whether this is of this package, and cannot be imported. */
  #isHidden(symbol: ts.Symbol): boolean {
    const [declaration] = symbol.declarations ?? [];
    const isNamed =
      declaration &&
      (isType(declaration) || ts.isClassDeclaration(declaration) || ts.isVariableDeclaration(declaration));
    return (
      isNamed === true && declaration.getSourceFile().fileName.startsWith(`${root}src/`) && !this.#exports.has(symbol)
    );
  }

  /** What the types below a node are called, except in what is hidden. */
  #namesIn(node: ts.Node): ts.Symbol[] {
    const found: ts.Symbol[] = [];
    const visit = (inner: ts.Node): void => {
      if (ts.isBlock(inner) || ((ts.isClassElement(inner) || ts.isTypeElement(inner)) && isHiddenMember(inner))) return;
      const name = nameIn(inner);
      const symbol = name && this.#source.checker.getSymbolAtLocation(name);
      if (symbol) found.push(this.#source.resolve(symbol));
      ts.forEachChild(inner, visit);
    };
    visit(node);
    return found;
  }
}

function nameIn(node: ts.Node): ts.Node | undefined {
  if (ts.isTypeReferenceNode(node)) return node.typeName;
  if (ts.isTypeQueryNode(node)) return node.exprName;
  return ts.isExpressionWithTypeArguments(node) ? node.expression : undefined;
}

function isType(node: ts.Node): node is ts.InterfaceDeclaration | ts.TypeAliasDeclaration {
  return ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node);
}

function isOfZod(symbol: ts.Symbol): boolean {
  return symbol.declarations?.some((one) => one.getSourceFile().fileName.includes("/node_modules/zod/")) ?? false;
}

/** What a zod schema makes of what it reads. Absent where the type is no schema. */
function schemaOutput(type: ts.Type, checker: ts.TypeChecker, at: ts.Node): ts.Type | undefined {
  const internals = type.getProperty("_zod");
  const output = internals && checker.getTypeOfSymbolAtLocation(internals, at).getProperty("output");
  return output && checker.getTypeOfSymbolAtLocation(output, at);
}
