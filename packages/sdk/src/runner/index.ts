// Running a bot on this machine
export { app } from "../runtime/app.ts";
export { main, type MainOptions } from "./main.ts";
