import { watchedTypes } from "../../../payload/watch.ts";

const repositoryTypes = watchedTypes.filter((type) => type !== "user" && type !== "org");

/** Returns what is wrong with a repository as the user wrote it, or `undefined` if it is valid. */
export function findRepositoryProblem(text: string): string | undefined {
  const [, type, name] = /^([^:]*):(.*)$/.exec(text) ?? [];
  if (type === undefined || name === undefined || !/^[^/\s]+\/[^/\s]+$/.test(name)) {
    return "Write type:owner/name, such as dataset:acme/data.";
  }
  if (repositoryTypes.some((known) => known === type)) return undefined;
  return `Unknown type "${type}". Valid types: ${repositoryTypes.join(", ")}.`;
}
