// One route that does nothing, to compare with.
import Fastify from "fastify";

const app = Fastify();
app.get("/", async () => ({ status: "OK" }));
const address = await app.listen({ port: 0, host: "127.0.0.1" });
console.log(`port ${new URL(address).port}`);
