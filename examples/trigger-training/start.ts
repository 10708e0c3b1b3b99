import { createTrainingServer } from "./server.ts";

const server = createTrainingServer((training, log) => {
  log.info(training, "This is where the training would start: put your own call here.");
});

export default server;
await server.launch();
