import { localUser, organizationNames, otherUser } from "../accounts.ts";
import type { KeyedRecord } from "../store/record-store.ts";
import type { StoredMember } from "../store/records.ts";

const firstNames =
  "ada alan barbara bjarne claude dennis donald edsger frances grace guido hedy joan john katherine ken leslie linus margaret radia".split(
    " ",
  );
const lastNames =
  "adams baker chen dubois eriksen fischer garcia haddad ivanova jansen kim lopez moreau novak okafor patel quinn rossi sato tanaka".split(
    " ",
  );

/** Three pages of the usual 500. */
const membersOfAcme = 1_200;

/** The organization that everything is in; the others are for their plans. */
export const busyOrganization = "acme";

/** A member, who is somebody else for each number from 0 up. */
export function memberName(number: number): string {
  const first = firstNames[number % firstNames.length];
  const round = Math.floor(number / firstNames.length);
  const last = lastNames[round % lastNames.length];
  const namesakes = Math.floor(round / lastNames.length);
  return `${first}-${last}${namesakes > 0 ? namesakes + 1 : ""}`;
}

/** The members with whom a local Hub starts: the developer owns every organization, and acme is a large one. */
export function seedMembers(): KeyedRecord<StoredMember>[] {
  const owners = organizationNames.map((owner) => ({ owner, id: localUser, record: member("admin") }));
  const others = Array.from({ length: membersOfAcme - 2 }, (_, number) => ({
    owner: busyOrganization,
    id: memberName(number),
    record: member(roleOf(number), { isExternalCollaborator: number % 50 === 7 }),
  }));
  return [...owners, { owner: busyOrganization, id: otherUser, record: member("read") }, ...others];
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
