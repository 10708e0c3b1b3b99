/** Whether the tests run against the built package (`npm run faults`) instead of the sources (`npm test`). */
export const onBuiltPackage = process.env.FAULTS_ON === "dist";

/** Environment variables that make a process run the same code: sources or built package. */
export const packageEnvironment: Readonly<Record<string, string>> = onBuiltPackage
  ? { NODE_OPTIONS: `--import=${new URL("built-package.ts", import.meta.url).href}` }
  : {};
