import { sections } from "../.vitepress/pages.ts";

/** Renders llms.txt: what a coding assistant needs to write a handler, and a list of all pages. */
export function renderLlms(intro: string, linkOf: (path: string) => string): string {
  const lists = sections.map(
    ({ title, pages }) =>
      `## ${title}\n\n${pages.map((page) => `- [${page.title}](${linkOf(page.path)}): ${page.about}`).join("\n")}\n`,
  );
  return `${intro.trim()}\n\n${lists.join("\n")}`;
}
