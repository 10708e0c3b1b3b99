import { type Fields, of, under } from "./fact.ts";
import { repoTypes } from "./values.ts";

/* Fields that several bodies share. */

/** A list and its items. */
export function list(name: string, kind = "string"): Fields {
  return { [`${name}?`]: "list", [`${name}[]`]: kind };
}

export const command = { "command?": "list 1..", "command[]": "string 1.." };
export const environment = { "environment{}": "string" };
export const labels = { "labels{}": "labelValue" };
export const volumeOptions = { "readOnly?": "boolean", "path?": "string" };
export const role = { role: "role" };

const ports = (name: string) => ({ [name]: "list ..20", [`${name.replace("?", "")}[]`]: "integer 1..65535" });

/** The ports of a job. */
export const expose = under("expose", { ...ports("ports"), ...ports("portsPublic?") });

/** The rule of new members of an organization, if it is enabled. */
export const joined = { "autoJoin.enabled": "true", "autoJoin.role": "role", "autoJoin.scope?+": "enum all read_plus" };

const content = { resource: `enum ${repoTypes} *`, scope: "string 1.." };

/** The lists of the network security: the current ones, and those before 2026-05-04. */
export const contentLists: Fields = {
  ...of("list", "blockedContents?+ allowedContents?+ blockedUrls?- allowedUrls?-"),
  ...of("string", "blockedUrls[] allowedUrls[]"),
  ...under("blockedContents[]", content),
  ...under("allowedContents[]", content),
};
