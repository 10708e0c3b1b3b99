import { execFile } from "node:child_process";
import { access, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import axe, { type AxeResults } from "axe-core";
import { type Browser, chromium, type Page } from "playwright-core";
import { expect } from "vitest";

const packageFolder = dirname(dirname(createRequire(import.meta.url).resolve("@sparticuz/chromium")));

/** Inside the installed package, so that another version of the package never meets the browser of this one. */
const unpackedFolder = join(packageFolder, "unpacked");

/** The package's fonts first, for machines that have none; then those of the system, where it has any. */
const fontSettings = `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir prefix="relative">fonts</dir>
  <include ignore_missing="yes">/etc/fonts/fonts.conf</include>
</fontconfig>
`;

const flags = [
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/**
 * Starts a headless Chromium: the one that `CHROME_PATH` names, else the one of `@sparticuz/chromium`, which needs
 * nothing from the system but the C library. Close it when done.
 *
 * @example
 * ```ts
 * const browser = await launchBrowser();
 * const page = await browser.newPage();
 * ```
 */
export async function launchBrowser(): Promise<Browser> {
  const chosen = process.env.CHROME_PATH;
  if (chosen) return chromium.launch({ executablePath: chosen, args: flags });
  if (process.platform !== "linux" || process.arch !== "x64") {
    throw new Error("The browser tests bring a Chromium for Linux on x64 only: set CHROME_PATH to a Chrome of yours.");
  }
  if (!(await exists(unpackedFolder))) await unpackChromium();
  return chromium.launch({
    executablePath: join(unpackedFolder, "chromium"),
    args: flags,
    env: {
      ...process.env,
      LD_LIBRARY_PATH: join(unpackedFolder, "al2023", "lib"),
      FONTCONFIG_FILE: join(unpackedFolder, "fonts", "fonts.conf"),
    },
  });
}

/**
 * Two test workers may get here at once: each unpacks into a folder of its own, and the first to finish gives its
 * folder the final name. So a folder of that name is always whole.
 */
async function unpackChromium(): Promise<void> {
  const folder = await mkdtemp(join(packageFolder, "unpacking-"));
  try {
    await runUnpacker(folder);
    await writeFile(join(folder, "fonts", "fonts.conf"), fontSettings);
    await rename(folder, unpackedFolder).catch(async (error: unknown) => {
      if (!(await exists(unpackedFolder))) throw error;
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * The package unpacks into the folder for temporary files, and its shared libraries only where it believes itself on
 * AWS Lambda. A process of its own can be told both without touching the environment of this one.
 */
async function runUnpacker(folder: string): Promise<void> {
  const script = `import chromium from "@sparticuz/chromium"; await chromium.executablePath();`;
  await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", script], {
    cwd: packageFolder,
    env: { ...process.env, TMPDIR: folder, AWS_EXECUTION_ENV: "AWS_Lambda_nodejs24.x" },
  });
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

export const wide = { width: 1280, height: 800 };
export const narrow = { width: 360, height: 740 };

const everyLook = [wide, narrow].flatMap((viewport) =>
  (["light", "dark"] as const).map((colorScheme) => ({ colorScheme, width: viewport.width, viewport })),
);

const isThorough = process.env.SLOW_TESTS === "1";
if (!isThorough) {
  console.warn("Pages are looked at light and wide, dark and narrow; SLOW_TESTS=1 looks at the other pairs, too.");
}

/** How a page is looked at: each theme and each width, and each pair of them where there is time. */
export const looks = isThorough ? everyLook : [everyLook[0], everyLook[3]].filter((look) => look !== undefined);

/**
 * Checks a page with axe, contrast included.
 *
 * @param options.overlapped targets whose contrast axe cannot measure, because another element covers them.
 */
export async function expectAccessible(page: Page, { overlapped = [] }: { overlapped?: readonly RegExp[] } = {}) {
  await page.evaluate(axe.source);
  const { violations, incomplete } = await page.evaluate<AxeResults>(
    "axe.run({ resultTypes: ['violations', 'incomplete'] })",
  );
  expect(violations.map(({ id, nodes }) => ({ id, targets: nodes.map(({ target }) => target) }))).toEqual([]);
  // What axe cannot measure, it reports as incomplete: a contrast that nobody checked would pass for a good one.
  const unmeasured = incomplete
    .filter(({ id }) => id === "color-contrast")
    .flatMap(({ nodes }) => nodes.map(({ target }) => String(target)))
    .filter((target) => !overlapped.some((pattern) => pattern.test(target)));
  expect(unmeasured).toEqual([]);
}
