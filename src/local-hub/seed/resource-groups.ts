import { localUser, objectIdOf, otherUser } from "../accounts.ts";
import type { KeyedResourceGroup } from "../organizations/resource-groups.ts";
import type { StoredResourceGroup } from "../store/records.ts";
import { busyOrganization, memberName } from "./members.ts";
import type { SeedOptions } from "./seed-options.ts";

const dayMs = 24 * 60 * 60 * 1000;

/** The resource groups with which a local Hub starts: one of them has the other user in it, and one no repositories. */
export function seedResourceGroups({ now }: SeedOptions): KeyedResourceGroup[] {
  const [ada = "", alan = "", barbara = "", bjarne = ""] = [0, 1, 2, 3].map(memberName);
  return [
    group(busyOrganization, {
      name: "Reviews",
      description: "What customers write, and what is learnt from it.",
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
    group(busyOrganization, {
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
    group(busyOrganization, {
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
        { type: "job", id: objectIdOf("job of Experiments"), name: "sweep", addedBy: bjarne },
        { type: "scheduled-job", id: objectIdOf("scheduled job of Experiments"), name: "nightly-sweep" },
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
  return { id: objectIdOf(`resource ${slug}`), slug, title, private: isPrivate };
}

function group(owner: string, record: StoredResourceGroup): KeyedResourceGroup {
  return { owner, id: objectIdOf(`resource group ${owner} ${record.name}`), record };
}
