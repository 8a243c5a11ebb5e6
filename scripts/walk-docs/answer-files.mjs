// Answers with the files of this folder, as whoever keeps them for a carrier would.
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { basename } from "node:path";

createServer((request, response) => {
  const { pathname } = new URL(request.url ?? "/", "http://localhost");
  response.writeHead(200, { "content-type": "text/xml" }).end(readFileSync(basename(pathname)));
}).listen(Number(process.argv[2]), "localhost", () => console.log("listens"));
