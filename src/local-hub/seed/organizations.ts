import type { NetworkSecurity } from "../../hub/organizations/network-security.ts";
import { deriveId, localUser, organizationNames, otherUser } from "../accounts.ts";
import { defaultNetworkSecurity } from "../resources/organizations/organization.ts";
import type { KeyedResourceGroup } from "../resources/organizations/resource-groups.ts";
import type { KeyedRecord, StoredMember, StoredResourceGroup } from "../store/records.ts";

const firstNames =
  "ada alan barbara bjarne claude dennis donald edsger frances grace guido hedy joan john katherine ken leslie linus margaret radia".split(
    " ",
  );
const lastNames =
  "adams baker chen dubois eriksen fischer garcia haddad ivanova jansen kim lopez moreau novak okafor patel quinn rossi sato tanaka".split(
    " ",
  );

/** The number of members, which results in three pages with the default limit of 500. */
const memberCount = 1_200;

/** The organization with example data. The other organizations have no example data and differ only in their plans. */
export const mainOrganization = "acme";

/** Returns a unique name for each integer from 0. */
export function memberName(number: number): string {
  const first = firstNames[number % firstNames.length];
  const round = Math.floor(number / firstNames.length);
  const last = lastNames[round % lastNames.length];
  const namesakes = Math.floor(round / lastNames.length);
  return `${first}-${last}${namesakes > 0 ? namesakes + 1 : ""}`;
}

/** Creates the members of all organizations. The developer is an admin of each organization, and acme has many members. */
export function seedMembers(): KeyedRecord<StoredMember>[] {
  const owners = organizationNames.map((owner) => ({ owner, id: localUser, record: member("admin") }));
  const others = Array.from({ length: memberCount - 2 }, (_, number) => ({
    owner: mainOrganization,
    id: memberName(number),
    record: member(roleOf(number), { isExternalCollaborator: number % 50 === 7 }),
  }));
  return [...owners, { owner: mainOrganization, id: otherUser, record: member("read") }, ...others];
}

function member(role: string, { isExternalCollaborator = false } = {}): StoredMember {
  return { role, isExternalCollaborator };
}

function roleOf(number: number): string {
  if (number === 0) return "admin";
  if (number % 200 === 9) return "no_access";
  if (number % 100 === 4) return "reviewer"; // A custom role.
  if (number % 10 === 2) return "contributor";
  return number % 3 === 0 ? "write" : "read";
}

const dayMs = 24 * 60 * 60 * 1000;

/** Creates the resource groups of acme. One group includes the other user, and one group has no repositories. */
export function seedResourceGroups({ now }: { now: number }): KeyedResourceGroup[] {
  const [ada = "", alan = "", barbara = "", bjarne = ""] = [0, 1, 2, 3].map(memberName);
  return [
    group(mainOrganization, {
      name: "Reviews",
      description: "Customer reviews and models trained on them.",
      autoJoin: { enabled: true, role: "read" },
      createdAt: now - 60 * dayMs,
      users: [
        { user: localUser, role: "admin" },
        { user: otherUser, role: "contributor", addedBy: localUser },
        { user: ada, role: "admin", addedBy: localUser },
        { user: alan, role: "write", addedBy: ada },
      ],
      repos: [
        { type: "dataset", name: "acme/reviews", addedBy: localUser },
        { type: "model", name: "acme/sentiment", addedBy: ada },
      ],
    }),
    group(mainOrganization, {
      name: "People",
      description: "For those who pay the salaries.",
      autoJoin: { enabled: false },
      createdAt: now - 40 * dayMs,
      users: [
        { user: ada, role: "admin", addedBy: localUser },
        { user: barbara, role: "reviewer", addedBy: ada },
      ],
      repos: [{ type: "dataset", name: "acme/salaries", addedBy: ada }],
    }),
    group(mainOrganization, {
      name: "Experiments",
      createdAt: now - 20 * dayMs,
      users: [{ user: bjarne, role: "write", addedBy: localUser }],
      repos: [
        { type: "space", name: "acme/playground", addedBy: localUser },
        { type: "bucket", name: "acme/uploads", addedBy: bjarne },
        { type: "kernel", name: "acme/rotary" },
      ],
      others: [
        { type: "collection", ...titled("Try these first", { private: false }), addedBy: localUser },
        { type: "blog", ...titled("What we tried last month", { private: true }), addedBy: bjarne },
        { type: "job", id: deriveId("job of Experiments"), name: "sweep", addedBy: bjarne },
        { type: "scheduled-job", id: deriveId("scheduled job of Experiments"), name: "nightly-sweep" },
      ],
    }),
    group("enterprise-org", {
      name: "Everything",
      createdAt: now - 30 * dayMs,
      users: [{ user: localUser, role: "admin" }],
      repos: [],
    }),
  ];
}

function titled(title: string, { private: isPrivate }: { private: boolean }) {
  const slug = `acme/${title.toLowerCase().replaceAll(" ", "-")}`;
  return { id: deriveId(`resource ${slug}`), slug, title, private: isPrivate };
}

function group(owner: string, record: StoredResourceGroup): KeyedResourceGroup {
  return { owner, id: deriveId(`resource group ${owner} ${record.name}`), record };
}

export function seedNetworkSecurity(): KeyedRecord<NetworkSecurity> {
  const record: NetworkSecurity = { ...defaultNetworkSecurity, highRateLimits: "pending" };
  return { owner: mainOrganization, id: "network-security", record };
}
