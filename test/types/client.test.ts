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
import type { hardwareFlavors } from "../../src/hub/jobs/definition.ts";

type Flavor = (typeof hardwareFlavors)[number];

declare const hub: HubClient;

/** Accepts a call without running it, so that only its types are checked. */
function typed(_call: () => unknown): void {}

describe("The types of the client", () => {
  test("narrow a notification by its type", () => {
    typed(() => {
      const notification: Notification = JSON.parse("");
      if (notification.type === "repo") expectTypeOf(notification.repo.name).toEqualTypeOf<string>();
      if (notification.type === "paper") expectTypeOf(notification.paperDiscussion.id).toEqualTypeOf<string>();
      // @ts-expect-error Only a repository notification has one.
      return notification.repo;
    });
  });

  test("list the known roles, and accept custom ones", () => {
    expectTypeOf<"contributor">().toExtend<OrganizationRole>();
    expectTypeOf<string>().toExtend<OrganizationRole>();
    typed(() => hub.organizations.setMemberRole("acme", "ada", { role: "reviewer" }));
  });

  test("make every query field optional, even as undefined", () => {
    expectTypeOf<{ p: undefined; readStatus: undefined; repoName: undefined }>().toExtend<NotificationSearch>();
    expectTypeOf<{ limit: undefined; search: undefined }>().toExtend<MemberSearch>();
    typed(() => hub.notifications.delete({ discussionIds: ["a"] as const, applyToAll: undefined }));
    // @ts-expect-error A page is a number.
    typed(() => hub.notifications.list({ p: "1" }));
    // @ts-expect-error There is no such field.
    typed(() => hub.notifications.list({ applyToAll: true, p: 1 }));
  });

  test("yield members and events one by one, and members also in pages", () => {
    typed(async () => {
      for await (const member of hub.organizations.members("acme"))
        expectTypeOf(member).toEqualTypeOf<OrganizationMember>();
      for await (const page of hub.organizations.members("acme").pages()) {
        expectTypeOf(page).toEqualTypeOf<OrganizationMember[]>();
      }
      for await (const event of hub.organizations.auditLog("acme")) expectTypeOf(event).toEqualTypeOf<AuditLogEvent>();
    });
  });

  test("require a role if autoJoin is enabled", () => {
    typed(() =>
      hub.organizations.resourceGroups.create("acme", { name: "a", autoJoin: { enabled: true, role: "read" } }),
    );
    // @ts-expect-error A role is required.
    typed(() => hub.organizations.resourceGroups.create("acme", { name: "a", autoJoin: { enabled: true } }));
  });

  test("list the known values, and accept unknown ones", () => {
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
    // @ts-expect-error A flavor is a string.
    typed(() => hub.webhooks.update("w1", { job: { flavor: 300 } }));
    // @ts-expect-error An unknown field is probably misspelled.
    typed(() => hub.webhooks.update("w1", { job: { flavour: "cpu-basic" } }));
  });

  test("allow a webhook from a response in a request", () => {
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

  test("contain both names of renamed fields", () => {
    expectTypeOf<NetworkSecurity["blockedContents"]>().toExtend<{ resource: string; scope: string }[] | undefined>();
    expectTypeOf<NetworkSecurity["blockedUrls"]>().toEqualTypeOf<string[] | undefined>();
    expectTypeOf<Webhook["hasSecret"]>().toEqualTypeOf<boolean | undefined>();
    typed(() => hub.organizations.networkSecurity.update("acme", { allowedContents: [{ resource: "*", scope: "a" }] }));
    typed(() => hub.organizations.revokeToken("acme", { tokenId: "a" }));
    typed(() => hub.organizations.revokeToken("acme", { token: "hf_a" }));
    // @ts-expect-error One of them is required.
    typed(() => hub.organizations.revokeToken("acme", {}));
  });

  test("describe the user of a token, and the hardware", () => {
    typed(() => expectTypeOf(hub.whoami()).resolves.toEqualTypeOf<Whoami>());
    typed(() => expectTypeOf(hub.jobs.hardware()).resolves.toEqualTypeOf<JobHardware[]>());
    expectTypeOf<Whoami["orgs"][number]["roleInOrg"]>().toEqualTypeOf<OrganizationRole | undefined>();
  });
});
