import { expect, test } from "vitest";
import { readStartCommand } from "../../../src/local-hub/spaces/dockerfile.ts";

test.each([
  ["a list", 'CMD ["node", "start.ts"]', { command: ["node", "start.ts"] }],
  ["a line for a shell", "CMD node start.ts", { command: ["/bin/sh", "-c", "node start.ts"] }],
  ["the last of several", 'CMD ["a"]\nCMD ["b"]', { command: ["b"] }],
  ["an entry point with arguments", 'ENTRYPOINT ["node"]\nCMD ["start.ts"]', { command: ["node", "start.ts"] }],
  ["several lines", 'CMD ["node", \\\n  "start.ts"]', { command: ["node", "start.ts"] }],
  ["small letters, with comments", '# CMD ["no"]\ncmd ["yes"]\r\n', { command: ["yes"] }],
])("The command is %s", (_what, dockerfile, expected) => {
  expect(readStartCommand(dockerfile)).toMatchObject(expected);
});

test.each([
  ["ENV A=1 B=two", { A: "1", B: "two" }],
  [`ENV A="1 2" B='3 4' C=5\\ 6`, { A: "1 2", B: "3 4", C: "5 6" }],
  ["ENV A 1 2", { A: "1 2" }],
  [`ENV A=1\nENV B=$A C=\${A}x D=\${E:-else} F=$G`, { A: "1", B: "1", C: "1x", D: "else", F: "" }],
  ["ENV A=1\nFROM node\nENV B=2", { B: "2" }],
])("The variables of %j are those of the last stage, with inserted values", (lines, environment) => {
  expect(readStartCommand(`${lines}\nCMD ["a"]`).environment).toEqual(environment);
});

test.each([
  ["", "/"],
  ["WORKDIR /app", "/app"],
  ["WORKDIR /app\nWORKDIR src", "/app/src"],
  ["ENV HOME=/home/user\nWORKDIR $HOME/app", "/home/user/app"],
  ["WORKDIR /build\nFROM node", "/"],
])("The folder of %j is the last one", (lines, folder) => {
  expect(readStartCommand(`${lines}\nCMD ["a"]`).folder).toBe(folder);
});

test.each(["", "FROM node", "FROM a\nCMD a\nFROM b"])("A file that starts nothing is refused: %j", (dockerfile) => {
  expect(() => readStartCommand(dockerfile)).toThrow(expect.objectContaining({ code: "OPTION_INVALID" }));
});
