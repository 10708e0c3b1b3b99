/** Each scope that the Hub is known to have, with each of its actions. */
export const knownEvents = [
  ["repo", "create"],
  ["repo", "delete"],
  ["repo", "update"],
  ["repo", "move"],
  ["repo.content", "update"],
  ["repo.config", "update"],
  ["discussion", "create"],
  ["discussion", "delete"],
  ["discussion", "update"],
  ["discussion.comment", "create"],
  ["discussion.comment", "update"],
] as const;
