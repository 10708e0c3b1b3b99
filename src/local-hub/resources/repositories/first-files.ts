import type * as z from "zod/mini";
import type { repositoryCreation } from "../../../hub/repositories/repositories.ts";
import type { FileChange } from "../../git/content-store.ts";
import { decodeContent } from "./file-content.ts";

/**
 * Returns the files of a new repository in addition to `.gitattributes`: the files of the request, and a card if the request has
 * metadata for it, but no card.
 */
export function firstFiles({
  name,
  type,
  sdk,
  license,
  files = [],
}: z.output<typeof repositoryCreation>): FileChange[] {
  const changes = files.map((file) => ({ path: file.path, content: decodeContent(file) }));
  const metadata = [
    ...(type === "space" ? [`title: ${name}`, `sdk: ${sdk}`] : []),
    ...(license === undefined ? [] : [`license: ${JSON.stringify(license)}`]),
  ];
  if (metadata.length === 0 || changes.some(({ path }) => path === "README.md")) return changes;
  return [...changes, { path: "README.md", content: Buffer.from(`---\n${metadata.join("\n")}\n---\n`) }];
}
