import { describe, expectTypeOf, test } from "vitest";
import type {
  AuditLogEvent,
  HubClient,
  MemberSearch,
  Notification,
  NotificationSearch,
  OrganizationMember,
  OrganizationRole,
} from "../../src/client.ts";

declare const hub: HubClient;

/** Takes what it is told to, and does nothing: only its types are looked at. */
function typed(_call: () => unknown): void {}

describe("The types of the client", () => {
  test("narrow a notification by its type", () => {
    typed(() => {
      const notification: Notification = JSON.parse("");
      if (notification.type === "repo") expectTypeOf(notification.repo.name).toEqualTypeOf<string>();
      if (notification.type === "paper") expectTypeOf(notification.paperDiscussion.id).toEqualTypeOf<string>();
      // @ts-expect-error Only a notification of a repository has one.
      return notification.repo;
    });
  });

  test("know the roles, and take custom ones", () => {
    expectTypeOf<"contributor">().toExtend<OrganizationRole>();
    expectTypeOf<string>().toExtend<OrganizationRole>();
    typed(() => hub.organizations.setMemberRole("acme", "ada", { role: "reviewer" }));
  });

  test("let every field of a search be left out, or be undefined", () => {
    expectTypeOf<{ p: undefined; readStatus: undefined; repoName: undefined }>().toExtend<NotificationSearch>();
    expectTypeOf<{ limit: undefined; search: undefined }>().toExtend<MemberSearch>();
    typed(() => hub.notifications.delete({ discussionIds: ["a"] as const, applyToAll: undefined }));
    // @ts-expect-error a page is a number
    typed(() => hub.notifications.list({ p: "1" }));
    // @ts-expect-error there is no such field
    typed(() => hub.notifications.list({ applyToAll: true, p: 1 }));
  });

  test("give members and events one by one, and members in pages as well", () => {
    typed(async () => {
      for await (const member of hub.organizations.members("acme"))
        expectTypeOf(member).toEqualTypeOf<OrganizationMember>();
      for await (const page of hub.organizations.members("acme").pages()) {
        expectTypeOf(page).toEqualTypeOf<OrganizationMember[]>();
      }
      for await (const event of hub.organizations.auditLog("acme")) expectTypeOf(event).toEqualTypeOf<AuditLogEvent>();
    });
  });

  test("tell a group that joins by itself from one that does not", () => {
    typed(() =>
      hub.organizations.resourceGroups.create("acme", { name: "a", autoJoin: { enabled: true, role: "read" } }),
    );
    // @ts-expect-error a role is needed
    typed(() => hub.organizations.resourceGroups.create("acme", { name: "a", autoJoin: { enabled: true } }));
  });
});
