import { describe, expect, test } from "vitest";
import { allOf } from "../scripted-hub.ts";
import { useLocalHub } from "./local-repositories.ts";

const open = useLocalHub();

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
