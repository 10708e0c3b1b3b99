import { expect, test } from "vitest";
import { accountId } from "../../../src/local-hub/accounts.ts";
import { openLocalHub } from "../support/hub.ts";

test("The profile of a user contains public repositories and organizations", async () => {
  const hub = await openLocalHub();
  const profile = async () => (await hub.request("GET /api/users/other-user/overview", { token: null })).body;
  const expected = { _id: accountId("other-user"), user: "other-user", type: "user", fullname: "Other User" };
  expect(await profile()).toMatchObject({ ...expected, numModels: 0, orgs: [{ name: "acme" }] });
  for (const isPrivate of [true, false]) {
    const body = { name: `net-${isPrivate}`, private: isPrivate };
    await hub.request("POST /api/repos/create", { token: "hf_other", body });
  }
  expect(await profile()).toMatchObject({ ...expected, numModels: 1 });
  expect((await hub.request("GET /api/users/nobody/overview")).status).toBe(404);
  expect((await hub.request("GET /api/users/acme/overview")).status).toBe(404);
});

test("The profile of an organization contains its members and public repositories", async () => {
  const hub = await openLocalHub();
  const { body } = await hub.request("GET /api/organizations/acme/overview", { token: null });
  expect(body).toMatchObject({ name: "acme", type: "org", numUsers: expect.any(Number), numDatasets: 2 });
  expect((await hub.request("GET /api/organizations/nobody/overview")).status).toBe(404);
  expect((await hub.request("GET /api/organizations/local-user/overview")).status).toBe(404);
});
