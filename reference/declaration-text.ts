import ts from "typescript";

/**
 * A declaration as a reader needs it: without what is private or `@internal`, and without the comment that stands
 * before it.
 */
export function declarationText(declaration: ts.Node): string {
  const file = declaration.getSourceFile();
  const from = declaration.getStart(file);
  const changes: { start: number; end: number; text: string }[] = [];
  const visit = (node: ts.Node): void => {
    if ((ts.isClassElement(node) || ts.isTypeElement(node)) && isHiddenMember(node)) {
      changes.push({ start: node.getFullStart(), end: node.getEnd(), text: "" });
    } else if (ts.isObjectBindingPattern(node)) {
      // What a function calls the parts of its options is its own affair.
      changes.push({ start: node.getStart(file), end: node.getEnd(), text: "options" });
    } else ts.forEachChild(node, visit);
  };
  visit(declaration);
  let text = file.text.slice(from, declaration.getEnd());
  for (const change of changes.reverse()) {
    text = text.slice(0, change.start - from) + change.text + text.slice(change.end - from);
  }
  return text.replace(/^(?:export |declare |default )+/, "");
}

/** Whether the users of a class or an interface do not see this member. */
export function isHiddenMember(member: ts.ClassElement | ts.TypeElement): boolean {
  const { name } = member;
  if (name && ts.isPrivateIdentifier(name)) return true;
  if (name && ts.isComputedPropertyName(name) && !name.expression.getText().startsWith("Symbol.")) return true;
  if (ts.getCombinedModifierFlags(member) & (ts.ModifierFlags.Private | ts.ModifierFlags.Protected)) return true;
  return ts.getJSDocTags(member).some(({ tagName }) => tagName.text === "internal");
}
