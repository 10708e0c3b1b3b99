import launchEditor from "launch-editor";
import { WebhookError } from "../../core/errors.ts";
import { projectFile } from "../../server-file/code-frame.ts";

/**
 * Opens a file in the user's editor: the one that is running, or `LAUNCH_EDITOR`, `VISUAL`, or `EDITOR`.
 *
 * @throws `ARGUMENT_INVALID` for anything but a file below `folder`, and if no editor was found.
 */
export async function openEditor(
  { file: path, line = 1, column = 1 }: { file: string; line?: number | undefined; column?: number | undefined },
  { folder }: { folder: string },
): Promise<void> {
  const file = projectFile(path, folder);
  if (file === undefined) {
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
