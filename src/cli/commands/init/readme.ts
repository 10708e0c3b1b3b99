/** What {@link joinReadme} makes a README from. */
export interface ReadmeParts {
  /** The README of the example: what it does, how to try it, what to change. */
  example: string;
  /** The README of the template: how to install it and how to bring it to where it runs. */
  template: string;
  /** The endpoint of the example, in the place of the template's. */
  endpoint: string;
  /** The variables that the example needs beside the secret. */
  variables: readonly string[];
  /** Whether that endpoint works in the background. */
  isBackground: boolean;
}

/** The README of a project that begins with an example: the example's own, between the two ends of the template's. */
export function joinReadme({ example, template, endpoint, variables, isBackground }: ReadmeParts): string {
  const [head = "", ...parts] = sectionsOf(forProject(example));
  const title = /^# (.*)$/m.exec(head)?.[1] ?? "";
  const [top = "", install = "", ...deployment] = sectionsOf(template.replaceAll("on_new_data", endpoint));
  const frontMatter = /^---\n.*?\n---\n+/s.exec(top)?.[0] ?? "";
  return [
    frontMatter.replace(/^title: .*$/m, `title: ${title}`),
    head,
    // How it is started, the example itself says.
    install.replace(/^(?:npm start|npx hub-webhooks dev).*\n/gm, ""),
    ...parts.map((part) => `${part.trimEnd()}\n\n`),
    ...deployment
      .map((part, index) => (index === 0 ? withVariables(part, variables) : part))
      .map((part) => (isBackground ? asBackground(part) : part)),
  ].join("");
}

/** What a template says of any such endpoint, said of the one that is there. */
function asBackground(section: string): string {
  return section.replace("An endpoint with `background: true` keeps", "Its endpoint has `background: true` and keeps");
}

/** A README without the comments that are for this repository's tests. */
export function withoutComments(readme: string): string {
  return readme.replace(/^ *<!--.*-->\n/gm, "");
}

/** An example's README, as it is true outside of this repository: what is quoted in it is about the repository. */
function forProject(readme: string): string {
  return withoutComments(readme)
    .replace(/^>.*\n/gm, "")
    .replace(/\n{3,}/g, "\n\n")
    .replaceAll("](../../docs/", "](node_modules/hub-webhooks/docs/");
}

/** Each begins with its heading, the first with what stands before. */
function sectionsOf(readme: string): string[] {
  return readme.split(/^(?=## )/m);
}

/** Told where the section has told how the secret is set. */
function withVariables(section: string, variables: readonly string[]): string {
  if (variables.length === 0) return section;
  const named = variables.map((name) => `\`${name}\``).join(" and ");
  const told = `This server needs ${named} too, set in the same way.`;
  return section
    .replace(/(?<=`WEBHOOK_SECRET`.*?)everyone\./s, (end) => `${end}\n   ${told}`)
    .replace("-e WEBHOOK_SECRET", ["WEBHOOK_SECRET", ...variables].map((name) => `-e ${name}`).join(" "));
}
