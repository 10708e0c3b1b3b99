import { isBuiltin } from "node:module";
import { wrongUsage } from "../../wrong-usage.ts";

/** Where nothing of the folder's name can stay. */
const nameless = "my-hub-webhooks";
const longest = 214;

/** Names that npm keeps for itself, and our own: a package that depends on one of its own name is not installed. */
const reserved: ReadonlySet<string> = new Set(["node_modules", "favicon.ico", "hub-webhooks"]);

/**
 * A name for a package.json from that of a folder: what npm does not allow in one is left out or made a hyphen.
 *
 * @example
 * ```ts
 * nameFromFolder("Été 2026"); // "ete-2026"
 * ```
 */
export function nameFromFolder(folder: string): string {
  const name = folder
    .normalize("NFD")
    .replace(/\p{Mark}+/gu, "")
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, "-")
    .replace(/^[._-]+/, "")
    .slice(0, longest)
    .replace(/[._-]+$/, "");
  if (name === "") return nameless;
  return objectionTo(name) === undefined ? name : `my-${name}`;
}

/**
 * A name that somebody chose, as it is.
 *
 * @throws `ARGUMENT_INVALID` for one that npm does not take.
 */
export function checkName(name: string): string {
  const objection = objectionTo(name);
  if (objection === undefined) return name;
  throw wrongUsage(`--name ${JSON.stringify(name)} is no name for a package: ${objection}`);
}

function objectionTo(name: string): string | undefined {
  if (name.length > longest) return `it may have ${longest} characters at most.`;
  if (reserved.has(name)) return "it is taken by npm or by this package. Choose another.";
  if (isBuiltin(name)) return "it is a module of Node. Choose another.";
  if (!/^(@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*$/.test(name)) {
    return `use small letters, digits, hyphens, dots and underscores, as in ${nameFromFolder(name)}.`;
  }
  return undefined;
}
