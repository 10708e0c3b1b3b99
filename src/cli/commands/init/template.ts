import { readdir, readFile } from "node:fs/promises";
import { templateFolder } from "../../own-package.ts";
import { withoutComments } from "./readme.ts";

/** The values of `--template`. */
export const templateNames = ["space", "server"] as const;

/** One of the kinds of project that there are. */
export type TemplateName = (typeof templateNames)[number];

/** What each is for, in a few words. */
export const templatePurposes: Readonly<Record<TemplateName, string>> = {
  space: "a Docker Space on the Hub",
  server: "a machine of your own, with or without Docker",
};

/** What a project made from a template is told of itself. */
export interface ProjectFacts {
  /** The name in its package.json. */
  name: string;
  /** The exact version of this package that it depends on. */
  version: string;
}

/** The part of a template's package.json that a project changes. */
interface Manifest {
  name: string;
  dependencies: Record<string, string>;
}

/** npm leaves a .gitignore out of what it packs. */
const packedGitignore = "_gitignore";

/** The files of a new project, by name, in the order of their names. */
export async function readTemplate(template: TemplateName, facts: ProjectFacts): Promise<ReadonlyMap<string, string>> {
  const folder = templateFolder(template);
  const files = new Map<string, string>();
  for (const packed of await readdir(folder)) {
    const name = packed === packedGitignore ? ".gitignore" : packed;
    const text = await readFile(new URL(packed, folder), "utf8");
    const own = name === "package.json" ? withFacts(text, facts) : text;
    files.set(name, name === "README.md" ? withoutComments(own) : own);
  }
  return new Map([...files].sort(([left], [right]) => (left < right ? -1 : 1)));
}

function withFacts(text: string, { name, version }: ProjectFacts): string {
  const manifest: Manifest = JSON.parse(text);
  manifest.name = name;
  manifest.dependencies["hub-webhooks"] = version;
  return `${JSON.stringify(manifest, null, 2)}\n`;
}
