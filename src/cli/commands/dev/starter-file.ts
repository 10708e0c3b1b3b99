import { constants, copyFile } from "node:fs/promises";
import { WebhookError } from "../../../core/errors.ts";
import { templateFolder } from "../../own-package.ts";

/**
 * Writes a small server to begin with. A file that is there already is left alone.
 *
 * @throws `SERVER_FILE_INVALID` when it cannot be written.
 */
export async function writeStarterFile(path: string): Promise<void> {
  try {
    await copyFile(new URL("server.ts", templateFolder("starter")), path, constants.COPYFILE_EXCL);
  } catch (cause) {
    if (cause instanceof Error && "code" in cause && cause.code === "EEXIST") return;
    throw new WebhookError(`${path} cannot be written: choose another folder, or write the file yourself.`, {
      code: "SERVER_FILE_INVALID",
      cause,
    });
  }
}
