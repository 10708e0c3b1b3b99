import ts from "typescript";

/** A doc comment, in its parts. */
export interface DocComment {
  readonly text: string;
  readonly throws: readonly string[];
  /** Markdown, with the fence around the code. */
  readonly examples: readonly string[];
}

/** The doc comment of a declaration; its last one, where there are several. Absent where there is none. */
export function docCommentOf(declaration: ts.Declaration): DocComment | undefined {
  const comment = ts.getJSDocCommentsAndTags(declaration).filter(ts.isJSDoc).at(-1);
  return comment && readDocComment(comment.getText());
}

function readDocComment(comment: string): DocComment {
  const lines = comment
    .replace(/^\/\*\*\s?|\s*\*\/$/g, "")
    .split("\n")
    .map((line) => line.replace(/^\s*\* ?/, ""));
  const [text = "", ...tags] = lines.join("\n").split(/^@(?=\w)/m);
  const of = (tag: string) =>
    tags
      .filter((written) => written.startsWith(`${tag} `) || written.startsWith(`${tag}\n`))
      .map((written) => written.slice(tag.length).trim());
  return { text: text.trim(), throws: of("throws"), examples: of("example") };
}
