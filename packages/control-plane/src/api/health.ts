import { AppError } from "@vocalhost/protocol";
import type { FastifyInstance } from "fastify";
import type { ApiPorts } from "./ports.ts";

/** `/healthz` answers while the process runs, `/readyz` while it can work. */
export function mountHealth(app: FastifyInstance, { store, version, isReady }: ApiPorts): void {
  app.get("/healthz", { schema: { hide: true } }, async () => ({ status: "ok", version }));
  app.get("/readyz", { schema: { hide: true } }, async () => {
    const ready = await (isReady?.() ?? answers(store)).catch(() => false);
    if (!ready) throw new AppError("SERVICE_UNAVAILABLE");
    return { status: "ready" };
  });
}

async function answers(store: ApiPorts["store"]): Promise<boolean> {
  await store.db.selectFrom("organizations").select("id").limit(1).execute();
  return true;
}
