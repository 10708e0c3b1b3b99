/** A step of a Dockerfile. */
export type Instruction =
  | { name: "FROM"; image: string; stage: string | undefined }
  | { name: "WORKDIR"; path: string }
  | { name: "COPY"; from: string | undefined; owner: number; sources: string[]; destination: string }
  | { name: "RUN"; command: string }
  | { name: "ENV"; variables: Record<string, string> }
  | { name: "USER"; user: number }
  | { name: "EXPOSE" }
  | { name: "HEALTHCHECK"; command: string[] }
  | { name: "CMD"; command: string[] };

/** The text of an instruction and its parsed form. */
export interface Step {
  text: string;
  instruction: Instruction;
}

/** User IDs of the `node` images. */
const users: Readonly<Record<string, number>> = { root: 0, "0": 0, node: 1000, "1000": 1000 };

const healthcheckFlags = ["interval", "timeout", "start-period", "start-interval", "retries"];

/**
 * Parses a Dockerfile. Supports only the instructions that this repository's Dockerfiles use.
 *
 * @throws {Error} With the line of an unsupported instruction: skipping a step would make the test worthless.
 *
 * @throws An error with the line for everything else: a step left out would make the check worthless.
 */
export function parseDockerfile(text: string): Step[] {
  return logicalLines(text).map(({ line, content }) => {
    const [, name = "", rest = ""] = /^(\S+)\s*(.*)$/s.exec(content) ?? [];
    try {
      return { text: content, instruction: parseInstruction(name.toUpperCase(), rest.trim()) };
    } catch (error) {
      throw new Error(`Line ${line}, ${content}: ${error instanceof Error ? error.message : error}`);
    }
  });
}

/** Returns lines without comments, with continued lines joined. */
function logicalLines(text: string): { line: number; content: string }[] {
  const lines: { line: number; content: string }[] = [];
  let open: { line: number; content: string } | undefined;
  for (const [index, raw] of text.split(/\r?\n/).entries()) {
    const content = raw.trim();
    if (content === "" || content.startsWith("#")) continue;
    const continues = content.endsWith("\\");
    const part = continues ? content.slice(0, -1).trim() : content;
    if (open) {
      open.content += ` ${part}`;
    } else {
      open = { line: index + 1, content: part };
      lines.push(open);
    }
    if (!continues) open = undefined;
  }
  return lines;
}

function parseInstruction(name: string, rest: string): Instruction {
  switch (name) {
    case "FROM":
      return { name, ...parseFrom(rest) };
    case "WORKDIR":
      return { name, path: literal(rest) };
    case "COPY":
      return { name, ...parseCopy(rest) };
    case "RUN":
      return { name, command: parseRun(rest) };
    case "ENV":
      return { name, variables: parseVariables(rest) };
    case "USER":
      return { name, user: userId(rest) };
    case "EXPOSE":
      return { name };
    case "HEALTHCHECK":
      return { name, command: parseHealthcheck(rest) };
    case "CMD":
      return { name, command: parseExecForm(rest) };
    default:
      throw new Error("this instruction is not supported.");
  }
}

function parseFrom(rest: string) {
  const [, image, stage] = /^(\S+)(?:\s+AS\s+(\S+))?$/i.exec(rest) ?? [];
  if (!image?.startsWith("node:")) throw new Error("only node images are supported.");
  return { image, stage };
}

function parseCopy(rest: string) {
  const { flags, arguments: paths } = splitFlags(rest, ["from", "chown"]);
  const sources = literal(paths).split(/\s+/);
  const destination = sources.pop();
  if (sources.length === 0 || destination === undefined) throw new Error("specify a source and a destination.");
  return { from: flags.from, owner: userId(flags.chown ?? "root"), sources, destination };
}

function parseRun(rest: string): string {
  if (/^--|^\[|<</.test(rest)) throw new Error("only the plain shell form is supported.");
  // Commands are not confined to the stage's folder.
  if (/(?:^|[\s='":>])\//.test(rest)) throw new Error("absolute paths would refer to this machine, not the image.");
  return rest;
}

function parseVariables(rest: string): Record<string, string> {
  const pairs = literal(rest)
    .split(/\s+/)
    .map((pair) => /^(\w+)=([^"'\\]*)$/.exec(pair));
  return Object.fromEntries(
    pairs.map((pair) => {
      if (!pair) throw new Error("write NAME=value, without quotes.");
      return [pair[1], pair[2]];
    }),
  );
}

function parseHealthcheck(rest: string): string[] {
  const { arguments: command } = splitFlags(rest, healthcheckFlags);
  if (!command.startsWith("CMD ")) throw new Error("write HEALTHCHECK CMD [...].");
  return parseExecForm(command.slice("CMD ".length).trim());
}

/** The shell form would run a shell between the signal and the server. */
function parseExecForm(rest: string): string[] {
  const command: unknown = rest.startsWith("[") ? JSON.parse(rest) : undefined;
  if (Array.isArray(command) && command.length > 0 && command.every((part) => typeof part === "string")) return command;
  throw new Error('write the command as a list: ["node", "server.ts"].');
}

function splitFlags(rest: string, known: readonly string[]) {
  const flags: Record<string, string> = {};
  let remaining = rest;
  for (let flag = nextFlag(rest); flag; flag = nextFlag(remaining)) {
    const { text, name, value } = flag;
    if (!known.includes(name)) throw new Error(`the flag --${name} is not supported.`);
    flags[name] = value;
    remaining = remaining.slice(text.length);
  }
  return { flags, arguments: remaining };
}

function nextFlag(text: string): { text: string; name: string; value: string } | undefined {
  const [whole, name, value] = /^--([\w-]+)=(\S+)\s+/.exec(text) ?? [];
  if (whole !== undefined && name !== undefined && value !== undefined) return { text: whole, name, value };
  if (text.startsWith("--")) throw new Error("write a flag as --name=value.");
  return undefined;
}

function literal(text: string): string {
  if (text.includes("$")) throw new Error("variables are not supported. Write the value.");
  return text;
}

function userId(text: string): number {
  const [name = "", group = name] = text.split(":");
  const user = users[name];
  if (user === undefined || users[group] !== user) throw new Error(`"${text}" is not a user of the node images.`);
  return user;
}
