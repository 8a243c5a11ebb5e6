// One route that does nothing, on a unix socket behind a gateway, to compare with.
import Fastify from "fastify";

const app = Fastify();
app.get("/v1/regions", async () => ({ regions: [{ code: "this-machine", display_name: "This machine" }] }));
await app.listen({ path: process.argv[2] ?? "" });
console.log("bare route listens");
