import { execFile } from "node:child_process";
import { access, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import axe, { type AxeResults } from "axe-core";
import { type Browser, chromium, type Page } from "playwright-core";
import { expect } from "vitest";

const packageFolder = dirname(dirname(createRequire(import.meta.url).resolve("@sparticuz/chromium")));

/** The folder is inside the installed package, so that each version of the package has its own browser. */
const unpackedFolder = join(packageFolder, "unpacked");

/** The package's fonts come first, because a machine may have none, followed by the system's fonts. */
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
 * Starts a headless Chromium: the one that `CHROME_PATH` names, otherwise the one of `@sparticuz/chromium`, which needs
 * no system libraries except the C library. Close it when done.
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
    throw new Error("The browser tests include a Chromium for Linux x64 only. Set CHROME_PATH to your Chrome.");
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
 * Two test workers may unpack at the same time. Each uses its own folder, and the first to finish renames it, so a
 * folder with the final name is always complete.
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
 * The package unpacks into the temporary folder, and unpacks shared libraries only on AWS Lambda. A separate process
 * gets both settings, so this process's environment stays unchanged.
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

/** A color scheme and a width to test a page with. */
export const looks = [
  { colorScheme: "light", width: wide.width, viewport: wide },
  { colorScheme: "dark", width: narrow.width, viewport: narrow },
] as const;

/**
 * Checks a page with axe, and its contrast in both color schemes.
 *
 * @param options.overlapped targets whose contrast axe cannot measure, because another element covers them.
 */
export async function expectAccessible(page: Page, { overlapped = [] }: { overlapped?: readonly RegExp[] } = {}) {
  // Its half a megabyte stays in the page until the next document.
  if (!(await page.evaluate("'axe' in window"))) await page.evaluate(axe.source);
  await expectNoFindings(page, { rules: undefined, overlapped });
  const isDark = await page.evaluate(() => matchMedia("(prefers-color-scheme: dark)").matches);
  await page.emulateMedia({ colorScheme: isDark ? "light" : "dark" });
  // The other rules do not read colors.
  await expectNoFindings(page, { rules: ["color-contrast", "link-in-text-block"], overlapped });
  await page.emulateMedia({ colorScheme: isDark ? "dark" : "light" });
}

/** A message that moves, or a line that scrolls, can cover a text for a moment: what is found must still be there a moment later. */
async function expectNoFindings(page: Page, options: FindingOptions): Promise<void> {
  await expect.poll(() => findFindings(page, options)).toEqual({ violations: [], unmeasured: [] });
}

interface FindingOptions {
  rules: string[] | undefined;
  overlapped: readonly RegExp[];
}

async function findFindings(page: Page, { rules, overlapped }: FindingOptions) {
  // Colors that still change have another contrast.
  await page.evaluate(() => Promise.allSettled(document.getAnimations().map(({ finished }) => finished)));
  const options = { resultTypes: ["violations", "incomplete"], ...(rules && { runOnly: rules }) };
  const { violations, incomplete } = await page.evaluate<AxeResults>(`axe.run(${JSON.stringify(options)})`);
  return {
    violations: violations.map(({ id, nodes }) => ({ id, targets: nodes.map(({ target }) => target) })),
    // axe reports a contrast that it cannot measure as incomplete. Without this check, it would pass unnoticed.
    unmeasured: incomplete
      .filter(({ id }) => id === "color-contrast")
      .flatMap(({ nodes }) => nodes.map(({ target }) => String(target)))
      .filter((target) => !overlapped.some((pattern) => pattern.test(target))),
  };
}
