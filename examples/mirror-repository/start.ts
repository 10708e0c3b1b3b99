import server from "./server.ts";

await server.launch();
