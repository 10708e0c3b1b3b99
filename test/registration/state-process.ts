import { setTimeout as wait } from "node:timers/promises";
import { RegistrationFile, withFileLock } from "../../src/registration/state.ts";

/** Adds webhooks to a state file one by one, or, without a number of webhooks, locks the file until the process is killed. */
const [path = "", hubUrl = "", name, count] = process.argv.slice(2);
if (count === undefined) {
  await withFileLock({ file: `${path}.lock`, timeoutMs: 0 }, async () => {
    console.log("locked");
    await wait(600_000);
  });
}
const state = new RegistrationFile({ path, hubUrl });
for (let index = 0; index < Number(count); index += 1) {
  await state.change(({ webhooks }) => void webhooks.push({ id: `${name}-${index}`, endpoint: "retrain" }));
}
