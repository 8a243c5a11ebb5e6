// Running a bot on this machine
export { app } from "./app.ts";
export { main } from "./main.ts";
