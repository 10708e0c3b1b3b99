import ts from "typescript";
import { type Face, root } from "./faces.ts";

/** Something that a face exports. */
export interface Export {
  readonly name: string;
  readonly face: Face;
  readonly symbol: ts.Symbol;
  /** Where it is written, in `src`. */
  readonly declarations: readonly ts.Declaration[];
}

/** The sources of the package, as the compiler understands them. */
export class Source {
  readonly checker: ts.TypeChecker;
  readonly #program: ts.Program;
  readonly #emitted = new Map<ts.SourceFile, ts.SourceFile>();

  constructor(faces: readonly Face[]) {
    const settings = ts.getParsedCommandLineOfConfigFile(
      `${root}tsconfig.json`,
      { noEmit: false, declaration: true, outDir: "/", rootDir: `${root}src` },
      { ...ts.sys, onUnRecoverableConfigFileDiagnostic: () => {} },
    );
    if (!settings) throw new Error("tsconfig.json cannot be read.");
    const ambient = settings.fileNames.filter((file) => file.startsWith(`${root}src/`) && file.endsWith(".d.ts"));
    this.#program = ts.createProgram([...faces.map(({ file }) => file), ...ambient], settings.options);
    this.checker = this.#program.getTypeChecker();
  }

  /** What a face exports, by name. */
  exportsOf(face: Face): Export[] {
    const file = this.#program.getSourceFile(face.file);
    const module = file && this.checker.getSymbolAtLocation(file);
    if (!module) throw new Error(`${face.file} exports nothing.`);
    return this.checker
      .getExportsOfModule(module)
      .map((exported) => {
        const symbol = this.resolve(exported);
        return { name: exported.name, face, symbol, declarations: symbol.declarations ?? [] };
      })
      .sort((one, other) => (one.name < other.name ? -1 : 1));
  }

  /** What a symbol stands for, where it is an import or an export of another file. */
  resolve(symbol: ts.Symbol): ts.Symbol {
    return symbol.flags & ts.SymbolFlags.Alias ? this.checker.getAliasedSymbol(symbol) : symbol;
  }

  /** The declarations of a name as the compiler emits them into `dist`: no bodies, every type written out. */
  emitted({ symbol, declarations }: Export): ts.Statement[] {
    const files = new Set(declarations.map((declaration) => declaration.getSourceFile()));
    return [...files].flatMap((file) => {
      return this.#emit(file).statements.filter((statement) => namesOf(statement).includes(symbol.name));
    });
  }

  #emit(file: ts.SourceFile): ts.SourceFile {
    let emitted = this.#emitted.get(file);
    if (!emitted) {
      let text = "";
      this.#program.emit(file, (_name, content) => (text = content), undefined, true);
      if (text === "") throw new Error(`The declarations of ${file.fileName} cannot be emitted.`);
      emitted = ts.createSourceFile(file.fileName, text, ts.ScriptTarget.Latest, true);
      this.#emitted.set(file, emitted);
    }
    return emitted;
  }
}

function namesOf(statement: ts.Statement): string[] {
  if (ts.isVariableStatement(statement)) {
    return statement.declarationList.declarations.map(({ name }) => name.getText());
  }
  const isNamed =
    ts.isClassDeclaration(statement) ||
    ts.isFunctionDeclaration(statement) ||
    ts.isInterfaceDeclaration(statement) ||
    ts.isTypeAliasDeclaration(statement);
  return isNamed && statement.name ? [statement.name.text] : [];
}
