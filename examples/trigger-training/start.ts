import { createTrainingServer } from "./server.ts";

const server = createTrainingServer((training, log) => {
  log.info(training, "Start your training here.");
});

export default server;
await server.launch();
