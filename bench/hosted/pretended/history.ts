import type { PretendedPostgres } from "./service.ts";

const APART_MS = 100_000; // 100,000 of them are four months
const AGED = /_at$/;

/** Copies of a session that runs and of its instance, as if they had been long ago, until there are so many. */
export async function fillHistory(postgres: PretendedPostgres, sessions: number): Promise<void> {
  const [{ there } = { there: 0 }] = await postgres.rows<{ there: number }>(
    "SELECT count(*)::int AS there FROM sessions WHERE state = 'ended'",
  );
  const range = `generate_series(${there + 1}, ${sessions}) AS number`;
  const sessionId = "lpad(to_hex(number), 8, '0') || '-0000-4000-8000-00000000000b'";
  const instanceId = "lpad(to_hex(number), 8, '0') || '-0000-4000-8000-00000000000a'";
  const copy = async (table: string, model: string, changes: Record<string, string>): Promise<void> => {
    const columns = await columnsOf(postgres, table);
    const values = columns.map(
      (name) =>
        changes[name] ?? (AGED.test(name) ? `one.${name} - number::bigint * ${APART_MS}` : `one.${name}`),
    );
    await postgres.rows(
      `INSERT INTO ${table} (${columns.join(", ")}) SELECT ${values.join(", ")}
       FROM (SELECT * FROM ${table} WHERE ${model} IS NOT NULL LIMIT 1) AS one, ${range}`,
    );
  };
  await copy("instances", "session_id", {
    id: instanceId,
    session_id: sessionId,
    state: "'stopped'",
    media_port: "NULL",
  });
  const endedAt = `one.active_at - number::bigint * ${APART_MS} + 60000`;
  await copy("sessions", "active_at", {
    ...{ id: sessionId, instance_id: instanceId, state: "'ended'", end_reason: "'client-left'" },
    ...{ ended_at: endedAt, seconds: "60", elapsed_ms: "60000" },
  });
  await postgres.rows("ANALYZE");
}

async function columnsOf(postgres: PretendedPostgres, table: string): Promise<string[]> {
  const rows = await postgres.rows<{ name: string }>(
    "SELECT column_name AS name FROM information_schema.columns WHERE table_schema = 'public' AND table_name = $1",
    [table],
  );
  return rows.map(({ name }) => name);
}
