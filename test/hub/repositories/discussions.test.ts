import { describe, expect, test } from "vitest";
import { HubClient, type HubRepository } from "../../../src/client.ts";
import { allOf, rejectionOf } from "../scripted-hub.ts";
import { useLocalHub } from "./local-repositories.ts";

const open = useLocalHub();

const review = { title: "Metadata review", text: "Some fields are missing.", marker: "card-review" };

async function openReview(options?: { signature: string }) {
  const opened = await open(options);
  return { ...opened, ...(await opened.repo.openDiscussion(review)) };
}

async function commentsOf(repo: HubRepository, num: number): Promise<string[]> {
  const { events } = await repo.discussion(num);
  return events.flatMap((event) => (event.type === "comment" ? [event.data.latest.raw] : []));
}

describe("openDiscussion", () => {
  test("opens one discussion per marker", async () => {
    const { repo, connect } = await open();
    expect(await repo.openDiscussion(review)).toEqual({ num: 1, created: true, status: "open" });
    expect(await repo.openDiscussion(review)).toEqual({ num: 1, created: false, status: "open" });
    expect(await connect().openDiscussion({ ...review, title: "New title" })).toMatchObject({ num: 1, created: false });
    expect(await repo.openDiscussion({ ...review, marker: "other" })).toMatchObject({ num: 2, created: true });
    expect(await commentsOf(repo, 1)).toEqual([
      "Some fields are missing.\n\n<!-- hub-webhooks discussion: client card-review -->",
    ]);
    expect(await allOf(repo.discussions())).toHaveLength(2);
  });

  test("finds a closed discussion", async () => {
    const { repo } = await open();
    await repo.openDiscussion(review);
    await repo.setStatus(1, "closed");
    expect(await repo.openDiscussion(review)).toEqual({ num: 1, created: false, status: "closed" });
  });

  test("ignores the markers of other users", async () => {
    const { repo, connect } = await open();
    await connect({ token: "hf_other" }).openDiscussion(review);
    expect(await repo.openDiscussion(review)).toMatchObject({ num: 2, created: true });
  });

  test.each(["answer", "request"] as const)("opens one discussion if the %s is lost", async (loss) => {
    const { repo, network, writes } = await open();
    network.loseNext(/^POST .*\/discussions$/, loss);
    expect(await repo.openDiscussion(review)).toEqual({ num: 1, created: true, status: "open" });
    expect(await allOf(repo.discussions())).toHaveLength(1);
    expect(writes()).toHaveLength(loss === "answer" ? 1 : 2);
  });

  test("finds the discussion if the answer to the last attempt is lost", async () => {
    const { connect, network, writes } = await open();
    network.loseNext(/^POST .*\/discussions$/, "answer");
    expect(await connect({ attempts: 1 }).openDiscussion(review)).toMatchObject({ num: 1, created: true });
    expect(writes()).toHaveLength(1);
  });

  test("opens one discussion if it is called twice at the same time", async () => {
    const { repo, client } = await open();
    const calls = [repo, client.repo(repo.ref)].map((same) => same.openDiscussion(review));
    expect((await Promise.all(calls)).map(({ num, created }) => [num, created])).toEqual([
      [1, true],
      [1, false],
    ]);
  });

  test("reads each description once per client", async () => {
    const { repo, network } = await open();
    await repo.openDiscussion(review);
    await repo.openDiscussion({ ...review, marker: "other" });
    await repo.openDiscussion({ ...review, marker: "third" });
    network.calls.length = 0;
    await repo.openDiscussion(review);
    expect(network.calls).toEqual([expect.stringMatching(/^GET .*\/discussions$/)]);
  });
});

describe("upsertComment", () => {
  test("writes one comment per marker, apart from the description", async () => {
    const { repo, num, connect } = await openReview();
    const first = await repo.upsertComment(num, { marker: "card-review", text: "Add a license." });
    expect(first).toEqual({ id: expect.any(String), created: true });
    const again = await connect().upsertComment(num, { marker: "card-review", text: "Add a license and a language." });
    expect(again).toEqual({ id: first.id, created: false });
    await repo.upsertComment(num, { marker: "other", text: "Thank you!" });
    expect((await commentsOf(repo, num)).slice(1)).toEqual([
      "Add a license and a language.\n\n<!-- hub-webhooks: client card-review -->",
      "Thank you!\n\n<!-- hub-webhooks: client other -->",
    ]);
  });

  test("does not edit a comment with the same text", async () => {
    const { repo, num, writes } = await openReview();
    await repo.upsertComment(num, { marker: "a", text: "Text\n" });
    expect(writes()).toHaveLength(2);
    await repo.upsertComment(num, { marker: "a", text: "Text" });
    expect(writes()).toHaveLength(2);
  });

  test("does not edit a comment that is hidden, but readable", async () => {
    const { repo, num, connect, network, writes } = await openReview();
    const { id } = await repo.upsertComment(num, { marker: "a", text: "First" });
    const hiding = connect({
      async fetch(input, init) {
        const response = await network.fetch(input, init);
        return new Response((await response.text()).replaceAll('"hidden":false', '"hidden":true'), response);
      },
    });
    const before = writes();
    expect(await hiding.upsertComment(num, { marker: "a", text: "Second" })).toEqual({ id, created: false });
    expect(writes()).toEqual(before);
  });

  test("does not edit the comments of other users", async () => {
    const { repo, num, connect } = await openReview();
    await connect({ token: "hf_other" }).upsertComment(num, { marker: "a", text: "Copied" });
    expect(await repo.upsertComment(num, { marker: "a", text: "Own" })).toMatchObject({ created: true });
    expect(await commentsOf(repo, num)).toHaveLength(3);
  });

  test.each(["answer", "request"] as const)("writes one comment if the %s is lost", async (loss) => {
    const { repo, num, network } = await openReview();
    network.loseNext(/\/comment$/, loss);
    const { id, created } = await repo.upsertComment(num, { marker: "a", text: "Text" });
    const { events } = await repo.discussion(num);
    expect(events.map((event) => event.id).slice(1)).toEqual([id]);
    expect(created).toBe(true);
  });
});

describe("A comment", () => {
  test("without a marker is not repeated if its answer is lost", async () => {
    const { repo, num, network } = await openReview();
    network.loseNext(/\/comment$/, "answer");
    expect(await rejectionOf(repo.comment(num, "Hello"))).toMatchObject({ code: "HUB_UNREACHABLE" });
    expect((await commentsOf(repo, num)).slice(1)).toEqual(["Hello"]);
  });

  test("keeps its marker when it is edited", async () => {
    const { repo, num } = await openReview();
    const { id } = await repo.upsertComment(num, { marker: "a", text: "Text" });
    await repo.editComment(num, id, "New text");
    const [description] = (await repo.discussion(num)).events;
    await repo.editComment(num, description?.id ?? "", "New description");
    expect(await commentsOf(repo, num)).toEqual([
      "New description\n\n<!-- hub-webhooks discussion: client card-review -->",
      "New text\n\n<!-- hub-webhooks: client a -->",
    ]);
  });

  test("can be hidden", async () => {
    const { repo, num } = await openReview();
    const { id } = await repo.comment(num, "Text");
    await repo.hideComment(num, id);
    const { events } = await repo.discussion(num);
    expect(events.at(-1)).toMatchObject({ id, data: { hidden: true } });
  });
});

describe("The status and the title", () => {
  test("change once", async () => {
    const { repo, num, network } = await openReview();
    network.loseNext(/\/status$/, "answer");
    await repo.setStatus(num, "closed", { comment: "Done." });
    await repo.setStatus(num, "closed");
    network.loseNext(/\/title$/, "answer");
    await repo.setTitle(num, "Another title");
    await repo.setTitle(num, "Another title");
    const { status, title, events } = await repo.discussion(num);
    expect({ status, title }).toEqual({ status: "closed", title: "Another title" });
    expect(events.map(({ type }) => type).sort()).toEqual(["comment", "comment", "status-change", "title-change"]);
  });

  test.each([0, -1, 1.5, Number.NaN])("of the discussion %s are not requested", async (num) => {
    const { repo } = await open();
    expect(await rejectionOf(repo.setStatus(num, "closed"))).toMatchObject({
      code: "ARGUMENT_INVALID",
      fields: ["num"],
    });
  });
});

describe("An observed client", () => {
  test("signs comments and discussions, and reports each change", async () => {
    const { repo, num, connect, observed } = await openReview({ signature: "card bot" });
    const { id } = await repo.comment(num, "Text");
    const upserted = await repo.upsertComment(num, { marker: "a", text: "Text" });
    await connect().openDiscussion(review);
    expect(observed).toEqual([
      [{ kind: "discussion", id: String(num) }],
      [{ kind: "comment", id }],
      [{ kind: "comment", id: upserted.id }],
    ]);
    expect((await commentsOf(repo, num)).map((text) => text.split("\n").at(-1))).toEqual([
      "<!-- hub-webhooks discussion: card%20bot card-review -->",
      "<!-- hub-webhooks: card%20bot -->",
      "<!-- hub-webhooks: card%20bot a -->",
    ]);
  });

  test("reports a change whose answer is lost, and a failure", async () => {
    const { repo, network, observed } = await open({ signature: "bot" });
    network.loseNext(/^POST .*\/discussions$/, "answer");
    const { num } = await repo.openDiscussion(review);
    await rejectionOf(repo.comment(999, "Text"));
    expect(observed).toEqual([[{ kind: "discussion", id: String(num) }], []]);
  });

  test("does not find the markers of another signature", async () => {
    const { repo, client } = await open({ signature: "bot" });
    await repo.openDiscussion(review);
    const other = new HubClient({ hubUrl: client.hubUrl, token: "hf_local" }).repo(repo.ref);
    expect(await other.openDiscussion(review)).toMatchObject({ created: true });
  });
});

const proposal = {
  title: "Add a license",
  text: "The card has no license.",
  files: { "README.md": "license: mit\n" },
  marker: "add-license",
};
const changed = { ...proposal, title: "Change the license", files: { "README.md": "license: apache-2.0\n" } };

describe("openPullRequest", () => {
  test("opens one pull request per marker, and commits newer files to it", async () => {
    const { repo, connect } = await open();
    const opened = { num: 1, status: "open", ref: "refs/pr/1" };
    expect(await repo.openPullRequest(proposal)).toEqual({ ...opened, created: true });
    expect(await connect().openPullRequest(proposal)).toEqual({ ...opened, created: false });
    expect(await allOf(repo.commits({ revision: "refs/pr/1" }))).toHaveLength(2);
    expect(await connect().openPullRequest(changed)).toEqual({ ...opened, created: false });
    expect(await repo.readText("README.md", { revision: "refs/pr/1" })).toBe("license: apache-2.0\n");
    expect(await repo.discussion(1)).toMatchObject({ title: "Add a license", isPullRequest: true, status: "open" });
    expect(await allOf(repo.discussions({ type: "pull_request", status: "open" }))).toHaveLength(1);
    expect((await repo.refs()).pullRequests).toMatchObject([{ ref: "refs/pr/1" }]);
  });

  test("needs no write access to the repository", async () => {
    const { connect } = await open();
    const other = connect({ token: "hf_other" });
    expect(await other.openPullRequest(proposal)).toMatchObject({ num: 1, created: true });
    expect(await other.openPullRequest(changed)).toMatchObject({ num: 1, created: false });
    expect(await other.readText("README.md", { revision: "refs/pr/1" })).toBe("license: apache-2.0\n");
    await expect(other.commit({ ...proposal, message: proposal.title })).rejects.toMatchObject({ status: 403 });
  });

  test.each(["answer", "request"] as const)("opens one pull request if the %s is lost", async (loss) => {
    const { repo, network, observed } = await open({ signature: "bot" });
    network.loseNext(/\/commit\/main$/, loss);
    expect(await repo.openPullRequest(proposal)).toMatchObject({ num: 1, created: true });
    const [head] = await allOf(repo.commits({ revision: "refs/pr/1" }));
    expect(await allOf(repo.discussions())).toHaveLength(1);
    expect(observed).toEqual([
      [
        { kind: "discussion", id: "1" },
        { kind: "commit", id: head?.id },
      ],
    ]);
  });

  test("does not change or repeat a closed pull request", async () => {
    const { repo } = await open();
    await repo.openPullRequest(proposal);
    await repo.setStatus(1, "closed");
    expect(await repo.openPullRequest(changed)).toMatchObject({ num: 1, created: false, status: "closed" });
    expect(await repo.readText("README.md", { revision: "refs/pr/1" })).toBe("license: mit\n");
  });

  test("opens another pull request after a merge, if there is something to change", async () => {
    const { repo } = await open();
    await repo.openPullRequest(proposal);
    await repo.merge(1);
    expect(await repo.openPullRequest(proposal)).toMatchObject({ num: 1, created: false, status: "merged" });
    expect(await repo.openPullRequest(changed)).toMatchObject({ num: 2, created: true, status: "open" });
  });

  test.each(["answer", "request"] as const)(
    "opens another pull request after a merge if the %s is lost",
    async (loss) => {
      const { repo, network } = await open();
      await repo.openPullRequest(proposal);
      await repo.merge(1);
      network.loseNext(/\/commit\/main$/, loss);
      expect(await repo.openPullRequest(changed)).toMatchObject({ num: 2, created: true, status: "open" });
      expect(await allOf(repo.discussions())).toHaveLength(2);
    },
  );

  test("returns undefined if there is nothing to change", async () => {
    const { repo } = await open();
    await repo.commit({ message: "Add a license", files: proposal.files });
    expect(await repo.openPullRequest(proposal)).toBeUndefined();
    expect(await allOf(repo.discussions())).toEqual([]);
  });

  test("does not take a discussion for a pull request", async () => {
    const { repo } = await open();
    await repo.openDiscussion({ title: proposal.title, marker: proposal.marker });
    expect(await repo.openPullRequest(proposal)).toMatchObject({ num: 2, created: true });
  });
});

describe("merge", () => {
  test.each(["answer", "request"] as const)("merges once if the %s is lost", async (loss) => {
    const { repo, network, observed } = await open({ signature: "bot" });
    await repo.openPullRequest(proposal);
    network.loseNext(/\/merge$/, loss);
    const { oid } = await repo.merge(1);
    expect(await repo.merge(1)).toEqual({ oid });
    expect(await repo.info()).toMatchObject({ sha: oid });
    expect(observed.slice(1)).toEqual([[{ kind: "commit", id: oid }]]);
    expect(await repo.readText("README.md")).toBe("license: mit\n");
  });
});
