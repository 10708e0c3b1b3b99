/** The tags of the OpenAPI document, named as in the Hub's specification. */
export const tags = [
  { name: "webhooks", description: "Webhooks, which call a URL or run a job when a repository changes." },
  { name: "notifications", description: "Notifications of a user, and their settings." },
  { name: "mcp", description: "The tools of the Hub's MCP server." },
  { name: "papers", description: "Papers and their authors." },
  { name: "orgs", description: "Organizations: members, tokens, network security, and audit log." },
  { name: "resource-groups", description: "Groups of repositories of an organization, with members and roles." },
  { name: "discussions", description: "Discussions and pull requests of repositories." },
  { name: "auth", description: "The user of a token." },
  { name: "users", description: "Public profiles of users." },
  { name: "jobs", description: "Jobs on the Hub's infrastructure." },
  { name: "repos", description: "Models, datasets, and Spaces, with their branches, tags, and files." },
  { name: "scim", description: "Provisioning of users by an identity provider." },
] as const;

/** The name of a tag. */
export type TagName = (typeof tags)[number]["name"];
