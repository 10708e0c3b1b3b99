import { WebhookError } from "../../core/errors.ts";

/** How a container starts. */
export interface StartCommand {
  command: readonly string[];
  environment: Readonly<Record<string, string>>;
  /** The folder of the image from which the command runs, such as `/app`. */
  folder: string;
}

/**
 * Reads from the last stage of a Dockerfile how its container starts: `CMD` and `ENTRYPOINT`, `ENV`, and `WORKDIR`. Everything else would
 * build the image.
 *
 * @throws `OPTION_INVALID` if the file starts nothing.
 */
export function readStartCommand(dockerfile: string): StartCommand {
  const environment: Record<string, string> = {};
  let folder = "/";
  let entrypoint: readonly string[] = [];
  let command: readonly string[] = [];
  for (const { keyword, rest } of instructionsOf(dockerfile)) {
    const value = expand(rest, environment);
    if (keyword === "FROM") {
      for (const name of Object.keys(environment)) delete environment[name];
      [folder, entrypoint, command] = ["/", [], []];
    }
    if (keyword === "ENV") Object.assign(environment, parseVariables(value));
    if (keyword === "WORKDIR") folder = value.startsWith("/") ? value : `${folder.replace(/\/$/, "")}/${value}`;
    if (keyword === "CMD") command = parseCommand(rest);
    // As in Docker, an ENTRYPOINT drops the CMD of the base image only, which is not known here.
    if (keyword === "ENTRYPOINT") entrypoint = parseCommand(rest);
  }
  if (entrypoint.length + command.length === 0) {
    throw new WebhookError('The Dockerfile starts nothing. Add a line such as CMD ["node", "start.ts"].', {
      code: "OPTION_INVALID",
    });
  }
  return { command: [...entrypoint, ...command], environment, folder };
}

/** Returns the instructions without comments, with joined lines. */
function instructionsOf(dockerfile: string): { keyword: string; rest: string }[] {
  const lines = dockerfile.split(/\r?\n/).filter((line) => !/^\s*#/.test(line));
  return lines
    .join("\n")
    .replace(/\\[ \t]*\n/g, " ")
    .split("\n")
    .flatMap((line) => {
      const [, keyword, rest] = /^\s*(\w+)\s+(.*?)\s*$/.exec(line) ?? [];
      return keyword === undefined || rest === undefined ? [] : [{ keyword: keyword.toUpperCase(), rest }];
    });
}

/** Parses a list of JSON strings. Anything else is a line for a shell. */
function parseCommand(text: string): readonly string[] {
  try {
    const parsed: unknown = JSON.parse(text);
    if (Array.isArray(parsed)) return parsed.map(String);
  } catch {
    // Not JSON.
  }
  return ["/bin/sh", "-c", text];
}

/** Parses `A=1 B="2 3"`, and the old form `A 1`. */
function parseVariables(text: string): Record<string, string> {
  const pairs = [...text.matchAll(/([A-Za-z_]\w*)=("(?:[^"\\]|\\.)*"|'[^']*'|(?:[^\s\\]|\\.)*)/g)];
  if (pairs.length > 0) return Object.fromEntries(pairs.map(([, name = "", value = ""]) => [name, unquote(value)]));
  const [, name, value = ""] = /^([A-Za-z_]\w*)\s+(.*)$/.exec(text) ?? [];
  return name === undefined ? {} : { [name]: value };
}

function unquote(value: string): string {
  if (value.startsWith("'")) return value.slice(1, -1);
  return value.replace(/^"([\s\S]*)"$/, "$1").replace(/\\(.)/g, "$1");
}

/** Inserts the variables that are set so far: `$NAME`, `${NAME}`, and `${NAME:-default}`. */
function expand(text: string, environment: Readonly<Record<string, string>>): string {
  return text.replace(/\$(?:(\w+)|\{(\w+)(?::-([^}]*))?\})/g, (_, short: string, long: string, fallback = "") =>
    String(environment[short ?? long] ?? fallback),
  );
}
