import { RegistrationFile } from "../../src/registration/state.ts";

/** Adds webhooks to a state file one by one. */
const [path = "", hub = "", name, count] = process.argv.slice(2);
const state = new RegistrationFile({ path, hubUrl: hub });
for (let index = 0; index < Number(count); index += 1) {
  await state.change(
    ({ webhooks }) => void webhooks.push({ id: `${name}-${index}`, endpoint: "retrain", secret: null }),
  );
}
