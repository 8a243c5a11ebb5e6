// The probe bot in a process whose wall clock can be set forward, to see what expires.
const realNow = Date.now;
let aheadMs = 0;
Date.now = () => realNow() + aheadMs;

// After the clock: what keeps time looks at it once, when it is made.
const { app, main } = await import("vocalhost/runner");
export const { bot } = await import("./probe-bot.ts");

app.post("/clock", async (request) => {
  ({ aheadMs } = request.body as { aheadMs: number });
  return { now: Date.now() };
});

if (import.meta.main) await main();
