import { faultBot } from "../hosted/fault-bot.ts";

/** Takes calls like any other, and does what it can to those around it when a route of its own is asked. */
export const HOSTILE_BOT = `${echoBot()}
import { app } from "vocalhost/runner";
import { spawn } from "node:child_process";
import { appendFileSync, readdirSync, readSync, writeFileSync } from "node:fs";
import { connect } from "node:net";

const why = (work) => {
  try {
    work();
    return "done";
  } catch (error) {
    return error.code;
  }
};

const reach = (to) =>
  new Promise((resolve) => {
    const [host, port] = to.split(":");
    const socket = to.startsWith("/") ? connect(to) : connect({ host, port: Number(port) });
    const tell = (what) => {
      socket.destroy();
      resolve([to, what]);
    };
    socket.setTimeout(5_000, () => tell("silence"));
    socket.on("connect", () => tell("reached"));
    socket.on("error", (error) => tell(error.code));
  });

app.get("/reach", async ({ query }) => Object.fromEntries(await Promise.all(query.to.split(",").map(reach))));

app.get("/look", async () => ({
  processes: readdirSync("/proc").filter((name) => /^[0-9]+$/.test(name)).length,
  disks: readdirSync("/dev").filter((name) => /^(?:sd|vd|nvme|loop|mem|kmsg)/.test(name)),
  hostMemory: why(() => {
    if (readSync(openSync("/proc/kcore"), Buffer.alloc(16)) > 0) return;
    throw Object.assign(new Error("an empty file lies over it"), { code: "ENODATA" });
  }),
  hostSettings: why(() => writeFileSync("/proc/sys/kernel/core_pattern", "|/app/own")),
  hostKeys: why(() => writeFileSync("/proc/sysrq-trigger", "h")),
  ownLimits: why(() => writeFileSync("/sys/fs/cgroup/pids/pids.max", "max")),
}));

const block = Buffer.alloc(4 * 1024 * 1024, 1);
const fill = (path) => {
  for (let count = 0; count < 64; count += 1) appendFileSync(path, block);
};
process.on("SIGXFSZ", () => undefined);
app.get("/fill", async () => ({
  temporary: why(() => (why(() => fill("/tmp/one")), fill("/tmp/other"))),
  records: why(() => fill("/run/vocalhost/alive.json")),
  program: why(() => writeFileSync("/app/more", block)),
}));

// Answered at once: with so many processes on its half of a core everything else takes long.
app.get("/fork", async () => {
  void fork();
  return {};
});

async function fork() {
  const started = [];
  let failure;
  while (!failure && started.length < 400) {
    const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1e6)"], { stdio: "ignore" });
    child.on("error", (error) => (failure = error));
    started.push(child);
    await new Promise(setImmediate);
  }
  for (const child of started) child.kill("SIGKILL");
  console.error("no more processes: " + failure?.code);
}

app.get("/hog", async () => {
  console.error("taking all there is");
  const kept = [];
  for (;;) kept.push(Buffer.alloc(16 * 1024 * 1024, 1));
});
`;

/** Numbers that it hears it says back. */
export function echoBot(): string {
  return faultBot({ truthFile: "/tmp/truth" })["bot.ts"] ?? "";
}
