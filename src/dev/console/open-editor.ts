import launchEditor from "launch-editor";
import { WebhookError } from "../../core/errors.ts";
import { isBelow } from "./code-frame.ts";

/**
 * Opens a file in the user's editor: the one that is running, or `LAUNCH_EDITOR`, `VISUAL`, or `EDITOR`.
 *
 * @throws `ARGUMENT_INVALID` for a file outside of `folder`; `FILE_INVALID` if no editor was found.
 */
export async function openEditor(
  { file, line = 1, column = 1 }: { file: string; line?: number | undefined; column?: number | undefined },
  { folder }: { folder: string },
): Promise<void> {
  if (!isBelow(file, folder)) {
    throw new WebhookError("The console only opens files of the project. Open the file in your editor.", {
      code: "ARGUMENT_INVALID",
      status: 400,
    });
  }
  const problem = await new Promise<string | null | undefined>((resolve) => {
    launchEditor(`${file}:${line}:${column}`, undefined, (_file, message) => resolve(message ?? "unknown"));
    // The callback is only called after a failure.
    setTimeout(() => resolve(null), 500);
  });
  if (problem !== null) {
    throw new WebhookError(
      "No editor was found. Set EDITOR to the command of your editor, such as EDITOR=code, and start the session again.",
      { code: "ARGUMENT_INVALID", status: 404 },
    );
  }
}
