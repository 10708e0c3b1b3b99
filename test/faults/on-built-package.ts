/** Whether this run is about the built package: `npm run faults`, and not `npm test`. */
export const onBuiltPackage = process.env.FAULTS_ON === "dist";

/** What the environment of a process has to hold for it to run what this run is about. */
export const packageEnvironment: Readonly<Record<string, string>> = onBuiltPackage
  ? { NODE_OPTIONS: `--import=${new URL("built-package.ts", import.meta.url).href}` }
  : {};
