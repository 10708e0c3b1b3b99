import { join } from "node:path";
import { WebhookError } from "../../src/core/errors.ts";
import type { ServerDescription } from "../../src/receiver/control.ts";
import { describeServerFile, type OutputLine } from "../../src/server-file/server-process.ts";
import { makeProject } from "../support/project-folder.ts";

/** A described server file and its output. */
export interface DescribedFile {
  description: ServerDescription;
  output: OutputLine[];
}

/** A server file that failed to load. */
export interface FailedFile {
  message: string;
  /** The standard error of its process. */
  stderr: string;
  /** The stack of the cause; empty without a cause. */
  stack: string;
  /** The project folder, as messages show it. */
  folder: string;
}

/** Writes these files to a temporary project and describes the server in the first one. */
export async function describeFiles(files: Readonly<Record<string, string>>): Promise<DescribedFile> {
  await using project = await makeProject(files);
  const output: OutputLine[] = [];
  const description = await describeServerFile(join(project.path, firstOf(files)), {
    onOutput: (line) => output.push(line),
  });
  return { description, output };
}

/** Loads the first of these files, which must fail. */
export async function loadBrokenFiles(files: Readonly<Record<string, string>>): Promise<FailedFile> {
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
  throw new Error("Expected the file to fail, but it loads.");
}

/** Returns the names of the endpoints of the first file. */
export async function endpointsOf(files: Readonly<Record<string, string>>): Promise<string[]> {
  const { description } = await describeFiles(files);
  return description.endpoints.map(({ name }) => name);
}

function firstOf(files: Readonly<Record<string, string>>): string {
  return Object.keys(files)[0] ?? "server.ts";
}
