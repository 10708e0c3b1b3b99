import { describe, expectTypeOf, test } from "vitest";
import type {
  AuditLogEvent,
  AuditLogType,
  HubClient,
  JobHardware,
  MemberSearch,
  NetworkSecurity,
  Notification,
  NotificationSearch,
  OrganizationMember,
  OrganizationRole,
  ResourceGroup,
  Watched,
  WatchedType,
  Webhook,
  WebhookJobRequest,
  WebhookRequest,
  Whoami,
} from "../../src/client.ts";
import type { hardwareFlavors } from "../../src/hub/jobs.ts";

type Flavor = (typeof hardwareFlavors)[number];

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

  test("know the values of today, and take newer ones", () => {
    expectTypeOf<WebhookJobRequest["flavor"]>().toEqualTypeOf<Flavor | (string & {})>();
    expectTypeOf<Watched["type"]>().toEqualTypeOf<WatchedType | (string & {})>();
    expectTypeOf<WebhookRequest["domains"][number]>().toEqualTypeOf<"repo" | "discussion" | (string & {})>();
    expectTypeOf<Webhook["disabled"]>().toEqualTypeOf<boolean | "suspended-after-failure" | (string & {})>();
    expectTypeOf<"org.settings.network">().toExtend<AuditLogType>();
    expectTypeOf<AuditLogEvent["type"]>().toEqualTypeOf<AuditLogType>();
    expectTypeOf<{ repoType: string; mention: string }>().toExtend<NotificationSearch>();
    typed(() =>
      hub.webhooks.update("w1", { job: { flavor: "b300", volumes: [{ type: "app", source: "a/b", mountPath: "/" }] } }),
    );
    // @ts-expect-error a flavor is a text
    typed(() => hub.webhooks.update("w1", { job: { flavor: 300 } }));
    // @ts-expect-error a field that is not listed is most likely misspelled
    typed(() => hub.webhooks.update("w1", { job: { flavour: "cpu-basic" } }));
  });

  test("let a read be written again", () => {
    expectTypeOf<Webhook["watched"]>().toExtend<WebhookRequest["watched"]>();
    expectTypeOf<Webhook["domains"]>().toExtend<WebhookRequest["domains"]>();
  });

  test("narrow a resource of a group by its type", () => {
    typed(() => {
      const group: ResourceGroup = JSON.parse("");
      for (const resource of group.resources) {
        if (resource.type === "collection") expectTypeOf(resource.slug).toEqualTypeOf<string>();
        if (resource.type === "job") expectTypeOf(resource.name).toEqualTypeOf<string | undefined>();
        if (resource.type === "dataset") expectTypeOf(resource.private).toEqualTypeOf<boolean>();
      }
    });
  });

  test("hold both names of what the Hub has renamed", () => {
    expectTypeOf<NetworkSecurity["blockedContents"]>().toExtend<{ resource: string; scope: string }[] | undefined>();
    expectTypeOf<NetworkSecurity["blockedUrls"]>().toEqualTypeOf<string[] | undefined>();
    expectTypeOf<Webhook["hasSecret"]>().toEqualTypeOf<boolean | undefined>();
    typed(() => hub.organizations.networkSecurity.update("acme", { allowedContents: [{ resource: "*", scope: "a" }] }));
    typed(() => hub.organizations.revokeToken("acme", { tokenId: "a" }));
    typed(() => hub.organizations.revokeToken("acme", { token: "hf_a" }));
    // @ts-expect-error one of them is needed
    typed(() => hub.organizations.revokeToken("acme", {}));
  });

  test("describe the user of a token, and hardware", () => {
    typed(() => expectTypeOf(hub.whoami()).resolves.toEqualTypeOf<Whoami>());
    typed(() => expectTypeOf(hub.jobs.hardware()).resolves.toEqualTypeOf<JobHardware[]>());
    expectTypeOf<Whoami["orgs"][number]["roleInOrg"]>().toEqualTypeOf<OrganizationRole | undefined>();
  });
});
