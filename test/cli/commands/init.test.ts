import { mkdtempSync, rmSync } from "node:fs";
import promises, { chmod, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import * as z from "zod";
import manifest from "../../../package.json" with { type: "json" };
import {
  exampleNames,
  nameFromFolder,
  projectExamples,
  templateNames,
  writeFiles,
} from "../../../src/cli/commands/init-project.ts";
import { packageRoot } from "../../../src/core/files.ts";
import { createFolder } from "../../support/temporary-folder.ts";
import { binPath, CommandProcess, canMakeTerminal, startOnTerminal } from "../command-process.ts";
import { keys, runCommand, runWithPrompts } from "../run-command.ts";

const templateFolder = (name: string) => new URL(`templates/${name}/`, packageRoot);
const exampleFolder = (name: string) => new URL(`examples/${name}/`, packageRoot);

const files = [
  ".dockerignore",
  ".gitignore",
  "AGENTS.md",
  "Dockerfile",
  "README.md",
  "package.json",
  "server.test.ts",
  "server.ts",
  "start.ts",
  "tsconfig.json",
];

let folder: string;

beforeEach(async () => {
  folder = createFolder();
});

const init = (...argv: string[]) => runCommand(["init", ...argv]);
const manifestIn = async (project: string) => JSON.parse(await readFile(join(project, "package.json"), "utf8"));

describe.each(templateNames)("hub-webhooks init --template %s", (template) => {
  test("creates all files of the template, including .gitignore", async () => {
    const project = join(folder, "deep", "My Bot");
    const { exitCode, stderr } = await init(project, "--template", template);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect((await readdir(project)).sort()).toEqual(files);
    expect(await readFile(join(project, ".gitignore"), "utf8")).toMatch(/^node_modules$/m);
    for (const file of ["server.ts", "README.md", "AGENTS.md", ".dockerignore"]) {
      const text = await readFile(join(project, file), "utf8");
      const place = file === "AGENTS.md" ? new URL("templates/", packageRoot) : templateFolder(template);
      const original = await readFile(new URL(file, place), "utf8");
      // `init` removes comments for this repository's tests.
      expect(text).toBe(original.replace(/^ *<!-- .* -->\n/gm, ""));
    }
  });

  test("names the project after its folder, and pins this version of the package", async () => {
    const project = join(folder, "My Bot");
    await init(project, "--template", template);
    const original = JSON.parse(await readFile(new URL("package.json", templateFolder(template)), "utf8"));
    expect(await manifestIn(project)).toEqual({
      ...original,
      name: "my-bot",
      dependencies: { ...original.dependencies, "hub-webhooks": manifest.version },
    });
  });

  test("prints the created files as JSON", async () => {
    const { stdout } = await init(join(folder, "bot"), "--template", template, "--format", "json");
    expect(JSON.parse(stdout)).toEqual({ directory: join(folder, "bot"), template, files });
  });
});

describe.each(exampleNames)("hub-webhooks init --example %s", (example) => {
  const readOwn = (file: string) => readFile(new URL(file, exampleFolder(example)), "utf8");
  const { environment, isBackground, trigger } = projectExamples[example];
  /** The output of `init` and the texts of the project's files, by template. */
  const projects = new Map<string, { stdout: string; texts: Map<string, string> }>();
  let title = "";
  beforeAll(async () => {
    title = /^# (.*)$/m.exec(await readOwn("README.md"))?.[1] ?? "";
    const parent = mkdtempSync(join(tmpdir(), "hub-webhooks-init-"));
    for (const template of templateNames) {
      const project = join(parent, template, "bot");
      const { exitCode, stdout, stderr } = await init(project, "--template", template, "--example", example);
      expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
      const texts = new Map<string, string>();
      for (const name of await readdir(project)) texts.set(name, await readFile(join(project, name), "utf8"));
      projects.set(template, { stdout, texts });
    }
    return () => rmSync(parent, { recursive: true });
  });
  const textOf = (template: string, file: string) => projects.get(template)?.texts.get(file) ?? "";

  test.each(templateNames)("replaces the template's code with the example's, for template %s", async (template) => {
    const code = (await readdir(exampleFolder(example))).filter((file) => file.endsWith(".ts"));
    expect(code).toContain(`${example}.test.ts`);
    const others = files.filter((file) => !["server.ts", "start.ts", "server.test.ts"].includes(file));
    expect([...(projects.get(template)?.texts.keys() ?? [])].sort()).toEqual([...others, ...code].sort());
    for (const file of code) expect(textOf(template, file), file).toBe(await readOwn(file));
    const dockerfile = await readFile(new URL("Dockerfile", templateFolder(template)), "utf8");
    expect(textOf(template, "Dockerfile")).toBe(dockerfile);
    expect(JSON.parse(textOf(template, "package.json"))).toMatchObject({
      name: "bot",
      dependencies: { "hub-webhooks": manifest.version },
    });
  });

  test("has a README about the example, its deployment to a Space, and its inbox", async () => {
    const readme = textOf("space", "README.md");
    expect(readme).toMatch(new RegExp(`^---\ntitle: ${title}\n[^]*?sdk: docker\n[^]*?\n---\n\n# ${title}\n`));
    expect(readme.match(/^## .*/gm)).toEqual([
      ...["## Run it on your machine", "## Try it", "## Run it for real", "## Change it", "## Deploy to a Space"],
    ]);
    expect(readme).toContain("npm install\nnpm test\n```");
    expect(readme).toMatch(/```sh\n(\w+=\S+ )*npx hub-webhooks dev\n/);
    for (const name of Object.keys(environment)) {
      // The step that sets the secret also lists the other variables.
      expect(readme.split("## Deploy to a Space")[1]).toMatch(
        new RegExp(`secret with the name[^]*also needs[^]*${name}[^]*3\\. `),
      );
    }
    expect((await readOwn("server.ts")).includes("background: true")).toBe(isBackground);
    expect(readme.includes("The endpoint has `background: true` and stores its deliveries")).toBe(isBackground);
    expect(readme).toMatch(/`INBOX_URL`.*`hf:\/\/buckets\/.*`AWS_ACCESS_KEY_ID`.*`AWS_SECRET_ACCESS_KEY`/s);
  });

  test("has a README about its deployment to a server, without references to this repository", async () => {
    const readme = textOf("server", "README.md");
    expect(readme.startsWith(`# ${title}\n`)).toBe(true);
    const end = readme.slice(readme.indexOf("## Deploy to a server"));
    expect(end).toContain(`https://your-domain/webhooks/${example.replaceAll("-", "_")}\``);
    for (const name of Object.keys(environment)) expect(end).toContain(`-e ${name} `);
    expect(await readOwn("server.ts")).toContain(`"${example.replaceAll("-", "_")}"`);
    expect(readme).not.toMatch(/\.\.\/|examples\/|<!--|^>|clone|on_new_data|\n{3}/m);
    for (const [, path = ""] of readme.matchAll(/node_modules\/hub-webhooks\/([^)]*)/g)) {
      expect(await readFile(new URL(`../../../${path}`, import.meta.url), "utf8"), path).not.toBe("");
    }
  });

  test("lists the trigger command of the example and the variables to set", async () => {
    expect(textOf("server", "AGENTS.md")).toContain(`\nnpx hub-webhooks ${trigger}\n`);
    const { stdout = "" } = projects.get("space") ?? {};
    const readme = await readOwn("README.md");
    expect(stdout).toContain(`from template space and example ${example} in `);
    expect(stdout).toMatch(/^ {2}npx hub-webhooks dev .*\n {2}# in another terminal.*\n.*\n {2}npm start /m);
    // The first trigger command in the README, which makes the example produce output.
    const [, first] = /^npx hub-webhooks (trigger .*)$/m.exec(readme) ?? [];
    expect(stdout).toContain(`\n  npx hub-webhooks ${first}\n`);
    for (const [name, meaning] of Object.entries(environment)) {
      expect(stdout).toMatch(new RegExp(`^ {2}${name} +${meaning}$`, "m"));
      expect(readme).toContain(`\`${name}\``);
    }
  });

  test("adds the packages that the example imports", async () => {
    const { dependencies } = JSON.parse(textOf("server", "package.json"));
    const imported = new Set<string>();
    for (const [, name = ""] of (await readOwn("server.ts")).matchAll(/from "(@?[a-z][\w-]*(?:\/[a-z][\w-]*)?)"/g)) {
      imported.add(name.startsWith("@") ? name : (name.split("/")[0] ?? ""));
    }
    const template = JSON.parse(await readFile(new URL("package.json", templateFolder("server")), "utf8"));
    const ofTemplate = Object.keys(template.dependencies);
    expect(Object.keys(dependencies).sort()).toEqual([...new Set([...imported, ...ofTemplate])].sort());
    // The tests of the examples run with the versions of this package.
    const added = Object.entries(z.record(z.string(), z.string()).parse(dependencies));
    for (const [name, version] of added.filter(([name]) => !ofTemplate.includes(name))) {
      expect(manifest.devDependencies).toHaveProperty([name], `^${version}`);
    }
  });
});

test("All examples are available, except demonstrations", async () => {
  const folders = await readdir(new URL("../../../examples", import.meta.url));
  expect(folders.filter((name) => name !== "hello").sort()).toEqual([...exampleNames]);
});

describe("hub-webhooks init", () => {
  test("prints the next steps, quoted for a shell", async () => {
    const { stdout } = await init(join(folder, "it's a bot"), "--template", "server");
    const commands = stdout.match(/(?<=^ {2})\S.*/gm);
    expect(commands).toEqual([
      `cd '${folder}/it'\\''s a bot'`,
      "npm install",
      "npm test",
      expect.stringMatching(/^npx hub-webhooks dev /),
      "# in another terminal, send a test event:",
      "npx hub-webhooks trigger dataset:local-user/data",
      expect.stringMatching(/^npm start /),
    ]);
  });

  test("prints the package name only if it differs from the folder name", async () => {
    const changed = await init(join(folder, "Bad Name!"), "--template", "server");
    expect(changed.stdout).toContain("\nName in package.json: bad-name\n");
    expect((await init(join(folder, "bot"), "--template", "server")).stdout).not.toContain("package.json");
  });

  test("creates the project in the current folder for a dot, and keeps its .git", async () => {
    await mkdir(join(folder, ".git"));
    const argv = [binPath, "init", ".", "--template", "space"];
    const { exitCode, stdout } = await new CommandProcess(process.execPath, argv, {}, { cwd: folder }).ended;
    expect(exitCode).toBe(0);
    expect(stdout).not.toContain("cd ");
    expect((await readdir(folder)).sort()).toEqual([".git", ...files].sort());
  });

  test("uses the name given with --name", async () => {
    await init(join(folder, "bot"), "--template", "space", "--name", "@me/bot_2.x");
    expect((await manifestIn(join(folder, "bot"))).name).toBe("@me/bot_2.x");
  });

  test("prints only the folder with --format quiet", async () => {
    const { stdout } = await init(join(folder, "bot"), "--template", "space", "--format", "quiet");
    expect(stdout).toBe(`${join(folder, "bot")}\n`);
  });
});

describe("hub-webhooks init --ci", () => {
  test("adds the workflow, and names the deployment and the workflow as the next steps", async () => {
    const { stdout } = await init(join(folder, "bot"), "--template", "space", "--ci", "--name", "@me/bot");
    expect(await readdir(join(folder, "bot/.github/workflows"))).toEqual(["deploy.yml"]);
    expect(stdout).toContain("  npx hub-webhooks deploy me/bot\n");
    expect(stdout).toContain("After that, .github/workflows/deploy.yml deploys each push to main.");
  });

  test("is refused for another template, and nothing is created", async () => {
    const { exitCode, stderr } = await init(join(folder, "bot"), "--template", "server", "--ci");
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining("Add --template space, or omit --ci.")]);
    expect(await readdir(folder)).toEqual([]);
  });
});

describe("A folder is refused", () => {
  test.each(["notes.txt", ".env"])("if it contains a file that is not in the template: %s", async (file) => {
    await writeFile(join(folder, file), "");
    expect(await init(folder, "--template", "server")).toMatchObject({ exitCode: 1 });
    expect(await readdir(folder)).toEqual([file]);
  });

  test("at a second init, and the first project is unchanged", async () => {
    const project = join(folder, "bot");
    await init(project, "--template", "space");
    const { exitCode, stderr } = await init(project, "--template", "server");
    expect(exitCode).toBe(1);
    expect(stderr).toContain(".dockerignore, .gitignore, AGENTS.md and 7 more");
    expect(await readFile(join(project, "README.md"), "utf8")).toContain("A Docker Space");
  });

  test("if it is a file, or inside one", async () => {
    await writeFile(join(folder, "file"), "");
    for (const path of ["file", "file/bot"]) {
      const { exitCode, stderr } = await init(join(folder, path), "--template", "space");
      expect(exitCode).toBe(1);
      expect(stderr).toContain("(ENOTDIR). Choose a new or empty folder.");
    }
  });
});

describe("A failed write", () => {
  const twoFiles = new Map([
    ["a.txt", "new"],
    ["b.txt", "new"],
  ]);

  test("removes only the files that were written", async () => {
    await writeFile(join(folder, "b.txt"), "theirs");
    const attempt = writeFiles(folder, twoFiles);
    await expect(attempt).rejects.toMatchObject({
      code: "FOLDER_UNUSABLE",
      message: expect.stringMatching(/\(EEXIST\)\. Check its permissions/),
    });
    expect(await readdir(folder)).toEqual(["b.txt"]);
    expect(await readFile(join(folder, "b.txt"), "utf8")).toBe("theirs");
  });

  test("removes an incomplete file", async () => {
    const { writeFile: write } = promises;
    promises.writeFile = async (path, _text, options) => {
      await write(path, "half", options);
      throw Object.assign(new Error("no space left on device"), { code: "ENOSPC" });
    };
    syncBuiltinESMExports();
    onTestFinished(() => {
      promises.writeFile = write;
      syncBuiltinESMExports();
    });
    const message = expect.stringMatching(/\(ENOSPC\)\. Check its permissions/);
    await expect(writeFiles(folder, twoFiles)).rejects.toMatchObject({ code: "FOLDER_UNUSABLE", message });
    expect(await readdir(folder)).toEqual([]);
  });

  test("removes the folders that were created", async () => {
    const unwritable = new Map([...twoFiles, ["no/file.txt", "new"], ["no/file.txt/below", "new"]]);
    const attempt = writeFiles(join(folder, "one", "two"), unwritable);
    await expect(attempt).rejects.toMatchObject({ code: "FOLDER_UNUSABLE", message: expect.stringMatching(/ENOTDIR/) });
    expect(await readdir(folder)).toEqual([]);
  });

  test.skipIf(process.getuid?.() === 0)("reports missing permissions", async () => {
    await chmod(folder, 0o555);
    await expect(writeFiles(join(folder, "bot"), twoFiles)).rejects.toMatchObject({
      message: expect.stringMatching(/EACCES/),
    });
    await chmod(folder, 0o755);
  });
});

describe("The name made from a folder's", () => {
  test.each([
    ["my-bot", "my-bot"],
    ["My Bot", "my-bot"],
    ["Été_2026.v2", "ete_2026.v2"],
    [".hidden", "hidden"],
    ["__a  (b)!", "a-b"],
    ["日本", "my-hub-webhooks"],
    ["", "my-hub-webhooks"],
    ["hub-webhooks", "my-hub-webhooks"],
    ["node_modules", "my-node_modules"],
    ["http", "my-http"],
    ["x".repeat(300), "x".repeat(214)],
  ])("%j is %j", (name, expected) => {
    expect(nameFromFolder(name)).toBe(expected);
  });
});

test("The two templates differ only in their documentation", async () => {
  const [space, server] = templateNames.map(templateFolder);
  const names = (await readdir(new URL(".", space))).filter((name) => name !== "README.md");
  expect((await readdir(new URL(".", server))).filter((name) => name !== "README.md")).toEqual(names);
  for (const name of names) {
    expect(await readFile(new URL(name, server), "utf8"), name).toBe(await readFile(new URL(name, space), "utf8"));
  }
  const readme = await readFile(new URL("README.md", server), "utf8");
  expect(readme).not.toMatch(/^---/);
  expect(readme).not.toContain("Space");
});

test("The inbox of a container is in a volume, and never in its image", async () => {
  const read = (file: string) => readFile(new URL(file, templateFolder("server")), "utf8");
  const dockerfile = await read("Dockerfile");
  const [, folder = ""] = /-v bot-inbox:(\S+)/.exec(await read("README.md")) ?? [];
  expect(folder).toBe(`${/^WORKDIR (.*)$/m.exec(dockerfile)?.[1]}/.hub-webhooks`);
  expect(dockerfile).toMatch(/^RUN mkdir .*\.hub-webhooks && chown 1000:1000 .*\.hub-webhooks$/m);
  expect(await read(".dockerignore")).toMatch(/^\.hub-webhooks$/m);
  expect(await readFile(new URL("../../../docs/guides/deploy-server.md", import.meta.url), "utf8")).toContain(
    `-v bot-inbox:${folder} `,
  );
});

describe("hub-webhooks init on a terminal", () => {
  test.runIf(canMakeTerminal)("asks for missing options", async () => {
    const command = startOnTerminal("init", { url: "http://127.0.0.1:9" }, { cwd: folder });
    await command.says("Folder of the project");
    command.stdin.write("bot\r");
    await command.says("Where will the server run?");
    command.stdin.write("\u001b[B\r");
    await command.says("Start from an example?");
    command.stdin.write("\r");
    expect(await command.ended).toMatchObject({ exitCode: 0 });
    expect(command.stdout).toContain("cd bot");
    expect(await readFile(join(folder, "bot", "README.md"), "utf8")).toContain("A server that receives");
  });

  const where = "Where will the server run?";

  test("uses the chosen example, and does not ask for a given one", async () => {
    const chosen = await runWithPrompts(
      ["init", join(folder, "bot")],
      [
        [where, keys.enter],
        ["Start from an example?", `${keys.down}${keys.enter}`],
      ],
    );
    expect(chosen.exitCode).toBe(0);
    expect(chosen.stdout).toContain(`from template space and example ${exampleNames[0]}`);
    const argv = ["init", join(folder, "other"), "--example", "trigger-training"];
    const given = await runWithPrompts(argv, [[where, keys.enter]]);
    expect(given).toMatchObject({ exitCode: 0, stderr: expect.not.stringContaining("from an example") });
  });

  test.each([
    ["folder", false, [["Folder of the project", keys.interrupt]]],
    ["template", true, [[where, keys.interrupt]]],
    [
      "example",
      true,
      [
        [where, keys.enter],
        ["Start from an example?", keys.interrupt],
      ],
    ],
  ] as const)("writes nothing after Ctrl+C at the prompt for the %s", async (_prompt, isNamed, answers) => {
    const { exitCode, stderr } = await runWithPrompts(["init", ...(isNamed ? [join(folder, "bot")] : [])], answers);
    expect({ exitCode, stderr }).toEqual({ exitCode: 2, stderr: expect.stringContaining("Nothing was created") });
    expect(await readdir(folder)).toEqual([]);
  });

  test("does not ask if all options are given, or if the folder is invalid", async () => {
    const argv = ["init", join(folder, "bot")];
    expect(await runWithPrompts([...argv, "--template", "space"], [])).toMatchObject({ exitCode: 0, stderr: "" });
    const { exitCode, stderr } = await runWithPrompts(argv, []);
    expect(exitCode).toBe(1);
    expect(stderr).not.toContain(where);
  });
});
