/** Zod's compiler, in a file of its own because it is large. In bundles for edge workers, the "browser" field replaces it. */
export { compile } from "zod/v4/core";
