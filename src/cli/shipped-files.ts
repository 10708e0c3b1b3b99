import { packageRoot } from "../core/files.ts";

/** Returns the folder of a template as a URL with a trailing slash. */
export function templateFolder(name: string): URL {
  return new URL(`templates/${name}/`, packageRoot);
}

/** Returns the folder of the templates, with the files that every project gets. */
export function sharedTemplateFolder(): URL {
  return new URL("templates/", packageRoot);
}

/** Returns the folder of an example as a URL with a trailing slash. */
export function exampleFolder(name: string): URL {
  return new URL(`examples/${name}/`, packageRoot);
}
