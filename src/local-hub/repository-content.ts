/** The ref of the main branch. */
export const mainRef = "refs/heads/main";

/** Whether the local Hub stores the content of repositories of this type: commits, branches, and tags. */
export function hasContent(type: string): boolean {
  return type === "model" || type === "dataset" || type === "space";
}
