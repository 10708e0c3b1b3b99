/**
 * Builds and runs a Dockerfile without a container engine, as root:
 *
 *     node scripts/run-dockerfile.ts [--file Dockerfile] [--env NAME=value]... [context]
 */
import { join } from "node:path";
import { parseArgs } from "node:util";
import { buildImage } from "./dockerfile/build.ts";
import { startContainer } from "./dockerfile/container.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { file: { type: "string" }, env: { type: "string", multiple: true, default: [] } },
});
const context = positionals[0] ?? ".";
const environment = Object.fromEntries(
  values.env.map((variable) => {
    const [name = "", ...value] = variable.split("=");
    return [name, value.join("=")];
  }),
);

const image = await buildImage({
  dockerfile: values.file ?? join(context, "Dockerfile"),
  context,
  onStep: (step) => console.log(step),
});
const container = startContainer(image, { environment, onOutput: (text) => process.stdout.write(text) });
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => void container.stop(signal));
try {
  await container.healthy();
  console.log("The HEALTHCHECK succeeds. Ctrl+C ends it.");
  process.exitCode = (await container.ended) ?? 1;
} finally {
  await container.stop();
  await image.remove();
}
