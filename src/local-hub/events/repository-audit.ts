import { coversScope } from "../../payload/scope.ts";
import { localUser, ownerOf } from "../accounts.ts";
import type { AuditEntry } from "../organizations/audit-log.ts";
import type { StoredRepository } from "../store/repository-store.ts";
import type { CheckedEvent } from "./event-request.ts";

/** What has happened to a repository. */
export interface RepositoryChange {
  event: Pick<CheckedEvent, "event" | "updatedConfig">;
  /** Whether the repository was there before. */
  isNew: boolean;
  before: StoredRepository;
  /** `undefined`: it is deleted. */
  after: StoredRepository | undefined;
}

/**
 * What the audit logs are told of an event on a repository: that it came to be, also by an event that says nothing of
 * that; that it moved (to the log of both owners), was deleted or got other settings. Of contents and discussions they
 * tell nothing.
 */
export function auditEntriesOf({ event, isNew, before, after }: RepositoryChange): AuditEntry[] {
  const { scope, action } = event.event;
  const { type, name } = before;
  const repo = `${type} ${name}`;
  const entry = { organization: ownerOf(before), author: localUser };
  const data = { repo: { type, name } };
  if (!after) return [{ ...entry, type: "repo.delete", message: `Deleted the ${repo}`, data }];

  const entries: AuditEntry[] = [];
  if (isNew || (scope === "repo" && action === "create")) {
    entries.push({ ...entry, type: "repo.create", message: `Created the ${repo}`, data });
  }
  if (after.name !== name) {
    const owners = new Set([ownerOf(before), ownerOf(after)]);
    const moved = { message: `Moved the ${repo} to ${after.name}`, data: { ...data, movedTo: { name: after.name } } };
    for (const organization of owners) entries.push({ ...entry, organization, type: "repo.move", ...moved });
  }
  if (coversScope("repo.config", scope)) {
    const changed = { ...data, updatedConfig: event.updatedConfig ?? {} };
    entries.push({
      ...entry,
      type: "repo.update_settings",
      message: `Changed the settings of the ${repo}`,
      data: changed,
    });
  }
  return entries;
}
