import { spawn } from "node:child_process";

const openers: Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>> = {
  darwin: ["open"],
  // `start` takes its first word in quotes for a title.
  win32: ["cmd", "/c", "start", '""'],
};

/** Opens an address in the user's browser. Resolves with whether there was a program to do it. */
export function openPage(url: string): Promise<boolean> {
  const [program, ...words] = openers[process.platform] ?? ["xdg-open"];
  return new Promise((resolve) => {
    const opener = spawn(program, [...words, url], { stdio: "ignore", detached: true });
    opener.once("error", () => resolve(false));
    opener.once("spawn", () => {
      opener.unref();
      resolve(true);
    });
  });
}
