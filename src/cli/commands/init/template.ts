import { readdir, readFile } from "node:fs/promises";
import { sharedTemplateFolder, templateFolder } from "../../shipped-files.ts";

/** The values of `--template`. */
export const templateNames = ["space", "server"] as const;

/** The name of a template. */
export type TemplateName = (typeof templateNames)[number];

/** The purpose of each template. */
export const templatePurposes: Readonly<Record<TemplateName, string>> = {
  space: "a Docker Space on the Hub",
  server: "your own machine, with or without Docker",
};

/** The part of a template's package.json that a project replaces. */
interface Manifest {
  name: string;
  dependencies: Record<string, string>;
}

/** The name of `.gitignore` in the published package, because npm does not publish files named `.gitignore`. */
const packedGitignore = "_gitignore";

/** Instructions for coding assistants, which all templates share. */
const sharedFile = "AGENTS.md";

/**
 * Reads the files of a template as the files of a new project, sorted by name.
 *
 * @param project The name for package.json, and the exact version of hub-webhooks to depend on.
 */
export async function readTemplate(
  template: TemplateName,
  project: { name: string; version: string },
): Promise<ReadonlyMap<string, string>> {
  const folder = templateFolder(template);
  const files = new Map([[sharedFile, await readFile(new URL(sharedFile, sharedTemplateFolder()), "utf8")]]);
  for (const packed of await readdir(folder)) {
    const name = packed === packedGitignore ? ".gitignore" : packed;
    const text = await readFile(new URL(packed, folder), "utf8");
    const content = name === "package.json" ? fillManifest(text, project) : text;
    files.set(name, name === "README.md" ? withoutComments(content) : content);
  }
  return new Map([...files].sort(([left], [right]) => (left < right ? -1 : 1)));
}

function fillManifest(text: string, { name, version }: { name: string; version: string }): string {
  const manifest: Manifest = JSON.parse(text);
  manifest.name = name;
  manifest.dependencies["hub-webhooks"] = version;
  return `${JSON.stringify(manifest, null, 2)}\n`;
}

/** Removes comments from a README, because only the tests of this repository use them. */
export function withoutComments(readme: string): string {
  return readme.replace(/^ *<!--.*-->\n/gm, "");
}
