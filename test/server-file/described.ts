import { join } from "node:path";
import { WebhookError } from "../../src/core/errors.ts";
import { describeServerFile, type ServerDescription } from "../../src/server-file/server-file.ts";
import type { OutputLine } from "../../src/server-file/server-process.ts";
import { makeProject } from "../support/project-folder.ts";

/** What came of running a file. */
export interface Described {
  description: ServerDescription;
  output: OutputLine[];
}

/** What came of a file that does not load. */
export interface Refused {
  message: string;
  /** What its process has written to standard error. */
  stderr: string;
  /** Stack of the cause; empty where there is none. */
  stack: string;
  /** Where the project was, as messages name it. */
  folder: string;
}

/** Runs the first of these files in a project of its own, and tells what its server is like. */
export async function describeFiles(files: Readonly<Record<string, string>>): Promise<Described> {
  await using project = await makeProject(files);
  const output: OutputLine[] = [];
  const description = await describeServerFile(join(project.path, firstOf(files)), {
    onOutput: (line) => output.push(line),
  });
  return { description, output };
}

/** Runs the first of these files, which is not to load. */
export async function refuseFiles(files: Readonly<Record<string, string>>): Promise<Refused> {
  await using project = await makeProject(files);
  const written: string[] = [];
  try {
    await describeServerFile(join(project.path, firstOf(files)), {
      onOutput: ({ stream, text }) => void (stream === "stderr" && written.push(text)),
    });
  } catch (error) {
    if (!WebhookError.isInstance(error) || error.code !== "SERVER_FILE_INVALID") throw error;
    const stack = (error.cause instanceof Error && error.cause.stack) || "";
    return { message: error.message, stderr: written.join("\n"), stack, folder: project.path };
  }
  throw new Error("The file loads.");
}

/** The names of the endpoints that a file declares. */
export async function endpointsOf(files: Readonly<Record<string, string>>): Promise<string[]> {
  const { description } = await describeFiles(files);
  return description.endpoints.map(({ name }) => name);
}

function firstOf(files: Readonly<Record<string, string>>): string {
  return Object.keys(files)[0] ?? "server.ts";
}
