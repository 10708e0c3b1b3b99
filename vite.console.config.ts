import { fileURLToPath } from "node:url";
import { defineConfig, type Plugin } from "vite";
import { tokens } from "./src/console/design/tokens.ts";

const tokensId = "virtual:tokens.css";

/** The design tokens are a TypeScript file, because the server-rendered pages use them too. */
const designTokens: Plugin = {
  name: "design-tokens",
  resolveId: (id) => (id === tokensId ? `\0${tokensId}` : undefined),
  load: (id) => (id === `\0${tokensId}` ? tokens : undefined),
};

/** Builds the console's app, which a receiver, a dev session, and the local Hub serve from `dist/console`. */
export default defineConfig({
  root: fileURLToPath(new URL("src/console/app/", import.meta.url)),
  // The app is served below any path of a proxy.
  base: "./",
  plugins: [designTokens],
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    outDir: fileURLToPath(new URL("dist/console/", import.meta.url)),
    emptyOutDir: true,
    target: ["chrome125", "firefox128", "safari18"],
    // The content security policy allows no data: URLs for scripts and styles.
    assetsInlineLimit: 0,
    modulePreload: false,
    reportCompressedSize: false,
    license: { fileName: "THIRD-PARTY.md" },
  },
  logLevel: "warn",
});
