import { AppError } from "@vocalhost/protocol";
import assert from "node:assert/strict";
import { createHmac, randomUUID } from "node:crypto";
import { test } from "node:test";
import type { Right } from "../identity/principal.ts";
import { issueSessionToken } from "../identity/session-tokens.ts";
import type { Log } from "@vocalhost/base/log";
import { newSessionRow } from "../sessions/session-row.ts";
import { issueSocketToken } from "../sessions/doors/socket-tokens.ts";
import { startApiHarness, type ApiHarness } from "./testing/api-harness.ts";
import { fillPath, readOperations, type ListedOperation } from "./testing/read-operations.ts";
import { insertBuild } from "./testing/rows.ts";

type OperationRight = Exclude<Right, "session">; // the session proxy belongs to the gateway

/** The right each operation needs. An operation missing here fails the test. */
const RIGHTS: Record<string, OperationRight> = {
  listRegions: "view",
  getRegion: "view",
  listRegistryKeys: "view",
  getVoiceFilterSupport: "view",
  getIsolation: "view",
  probeMedia: "manage",
  listAgents: "view",
  listAgentProfiles: "view",
  createAgent: "manage",
  getAgent: "view",
  getService: "view",
  updateAgent: "manage",
  updateService: "manage",
  deleteAgent: "manage",
  getPool: "view",
  listDeployments: "view",
  rollBackAgent: "manage",
  listSessions: "view",
  getSession: "view",
  stopSession: "manage",
  dialOut: "manage",
  listLogs: "view",
  tailLogs: "view",
  listSecretSets: "view",
  getSecretSet: "view",
  putSecrets: "manage",
  deleteSecretSet: "manage",
  deleteSecret: "manage",
  createUpload: "manage",
  createBuild: "manage",
  listBuilds: "view",
  getBuild: "view",
  getBuildLogs: "view",
  getProperties: "view",
  getPropertiesSchema: "view",
  changeProperties: "manage",
  listKeys: "view",
  createKey: "manage",
  rotateKey: "manage",
  revokeKey: "manage",
  getUsage: "view",
  getUsageDays: "view",
  getUsageCsv: "view",
  listOrganizations: "view",
  createOrganization: "found",
  getQuotas: "view",
  getUser: "view",
  listAudit: "manage",
  listMembers: "view",
  inviteMember: "manage",
  cancelInvitation: "manage",
  changeMember: "manage",
  removeMember: "manage",
  followEvents: "view",
  startSession: "public",
};

type Expected = 401 | 403 | "admitted" | "sees nothing";

/** The expected answer for each credential, by right. */
const CREDENTIALS: Record<string, Record<OperationRight, Expected>> = {
  none: { view: 401, manage: 401, found: 401, public: 401 },
  malformed: { view: 401, manage: 401, found: 401, public: 401 },
  "malformed key": { view: 401, manage: 401, found: 401, public: 401 },
  "no bearer": { view: 401, manage: 401, found: 401, public: 401 },
  "revoked private": { view: 401, manage: 401, found: 401, public: 401 },
  "revoked public": { view: 401, manage: 401, found: 401, public: 401 },
  "expired private": { view: 401, manage: 401, found: 401, public: 401 },
  "expired public": { view: 401, manage: 401, found: 401, public: 401 },
  "socket token": { view: 401, manage: 401, found: 401, public: 401 },
  "session token": { view: 401, manage: 401, found: 401, public: 401 },
  "instance token": { view: 401, manage: 401, found: 401, public: 401 },
  "viewer session": { view: "admitted", manage: 403, found: 403, public: 403 },
  "other's private": { view: "sees nothing", manage: "sees nothing", found: 401, public: 401 },
  "other's owner": {
    view: "sees nothing",
    manage: "sees nothing",
    found: "sees nothing",
    public: "sees nothing",
  },
  public: { view: 401, manage: 401, found: 401, public: "admitted" },
  private: { view: "admitted", manage: "admitted", found: 401, public: 401 },
  "owner session": { view: "admitted", manage: "admitted", found: "admitted", public: "admitted" },
};

test("every operation and alias meets every credential as the table says", async (t) => {
  const logged: unknown[] = [];
  await using api = await startApiHarness({ log: listeningLog(logged) });
  const secretValue = "a-value-nobody-may-see";
  const marks = await makeObjects(api, secretValue);
  const headers = await makeCredentials(api);
  const operations = await readOperations(api);
  assert.ok(operations.length > 60, String(operations.length));
  api.onStart = () => Promise.reject(new AppError("NOT_FOUND", { message: "Service not found" }));
  const answers: string[] = [];
  const seenBy = new Map<string, string[]>();
  for (const [credential, expectations] of Object.entries(CREDENTIALS))
    await t.test(credential, async () => {
      for (const operation of sorted(operations)) {
        const right = RIGHTS[operation.operationId.replace(/InOrganization$/, "")];
        assert.ok(right, `No expectation for ${operation.operationId}`);
        const name = `${credential} ${operation.method} ${operation.path}`;
        const { status, body } = await call(api, operation, {
          values: marks,
          headers: headers[credential] ?? {},
        });
        answers.push(body);
        seenBy.set(credential, [...(seenBy.get(credential) ?? []), body]);
        check({ name, operation, status, body, expected: expectations[right] });
      }
    });
  const privateKeys = api.issued.filter((key) => !key.startsWith("pk_"));
  await leavesNoTrace(api, { answers, logged, secrets: [secretValue, ...privateKeys] });
  for (const credential of ["viewer session", "other's private", "other's owner", "public"])
    for (const body of seenBy.get(credential) ?? [])
      assert.ok(!body.includes(api.acme.publicKey), `${credential} read a public key`);
});

function check(options: {
  name: string;
  operation: ListedOperation;
  status: number;
  body: string;
  expected: Expected;
}): void {
  const { name, operation, status, body, expected } = options;
  switch (expected) {
    case 401:
    case 403:
      assert.equal(status, expected, name);
      return;
    case "admitted":
      assert.ok(status !== 401 && status !== 403, `${name} ${status} ${body}`);
      return;
    case "sees nothing": {
      if (operation.path.includes("{org}")) assert.equal(status, 404, `${name} ${body}`);
      else if (operation.path.includes("{"))
        assert.ok([400, 404].includes(status), `${name} ${status} ${body}`);
      assert.doesNotMatch(body, /parrot-of-acme/, name);
      return;
    }
    default:
      expected satisfies never;
  }
}

async function makeObjects(api: ApiHarness, secretValue: string): Promise<Record<string, string>> {
  const serviceName = "parrot-of-acme";
  await api.client.agents.create({ serviceName, image: "a/b:c" });
  const [agent] = (await api.client.agents.list()).services;
  assert.ok(agent);
  const sessionId = randomUUID();
  const request = { transport: "webrtc", apiKeyId: null } as const;
  await api.store.db
    .insertInto("sessions")
    .values(newSessionRow({ request, agent, sessionId, nowMs: 1 }))
    .execute();
  await api.client.secrets.put(serviceName, { secrets: [{ secretKey: "A", secretValue }] });
  const { id: buildId } = await insertBuild(api.store, api.acme.id);
  const [key] = (await api.client.keys.list()).public;
  const { id: invitationId } = await api.client.members.invite({
    email: `new@${serviceName}.example`,
    role: "viewer",
  });
  return {
    org: "acme",
    serviceName,
    sessionId,
    set: serviceName,
    secretKey: "A",
    buildId,
    keyId: key?.id ?? "",
    userId: await api.newMember(api.acme, "viewer"),
    invitationId,
  };
}

async function makeCredentials(api: ApiHarness): Promise<Record<string, Record<string, string>>> {
  const { apiKeys, acme } = api;
  const make = async (kind: "private" | "public", expiresAt: number | null) => {
    const created = await apiKeys.create(acme.id, { kind, name: "short", expiresAt }, "system");
    api.issued.push(created.value);
    return created;
  };
  const revoked = async (kind: "private" | "public") => {
    const { id, value } = await make(kind, null);
    await apiKeys.revoke(acme.id, id, "system");
    return bearer(value);
  };
  const expired = async (kind: "private" | "public") => bearer((await make(kind, Date.now() - 1)).value);
  const secret = "of the service";
  const socket = {
    serviceHost: "parrot-of-acme.acme",
    sessionId: randomUUID(),
    expiresAtMs: Date.now() + 60_000,
  };
  return {
    none: {},
    malformed: bearer("nonsense"),
    "malformed key": bearer(`${acme.privateKey.slice(0, -1)}!`),
    "no bearer": { authorization: acme.privateKey },
    "revoked private": await revoked("private"),
    "revoked public": await revoked("public"),
    "expired private": await expired("private"),
    "expired public": await expired("public"),
    "socket token": bearer(issueSocketToken({ secret }, socket)),
    "session token": bearer(
      issueSessionToken(
        { secret },
        {
          sessionId: randomUUID(),
          organizationId: acme.id,
          userId: await api.newMember(acme, "owner"),
          expiresAt: Math.ceil(Date.now() / 1000) + 60,
        },
      ),
    ),
    "instance token": bearer(createHmac("sha256", secret).update(`instance:${randomUUID()}`).digest("hex")),
    "viewer session": bearer(await api.signIn(acme, "viewer")),
    "other's private": bearer(api.other.privateKey),
    "other's owner": bearer(await api.signIn(api.other, "owner")),
    public: bearer(acme.publicKey),
    private: bearer(acme.privateKey),
    "owner session": bearer(await api.signIn(acme, "owner")),
  };
}

async function call(
  api: ApiHarness,
  operation: ListedOperation,
  { values, headers }: { values: Record<string, string>; headers: Record<string, string> },
): Promise<{ status: number; body: string }> {
  const given = operation.bodySchema ? { "content-type": "application/json" } : undefined;
  const response = await api.fetch(fillPath(operation.path, values), {
    method: operation.method,
    headers: { ...headers, ...given },
    ...(given ? { body: "{}" } : {}),
  });
  const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") ?? false;
  if (!isStream) return { status: response.status, body: await response.text() };
  await response.body?.cancel();
  return { status: response.status, body: "" };
}

/** Checks that no issued secret can be read again. */
async function leavesNoTrace(
  { store }: ApiHarness,
  { answers, logged, secrets }: { answers: string[]; logged: unknown[]; secrets: string[] },
): Promise<void> {
  const tables = await store.db.introspection.getTables();
  const dump = await Promise.all(
    tables.map(({ name }) =>
      store.db
        .selectFrom(name as "agents")
        .selectAll()
        .execute(),
    ),
  );
  const text = JSON.stringify([dump, answers, logged]);
  assert.ok(text.length > 10_000);
  for (const secret of secrets) assert.ok(!text.includes(secret), `${secret.slice(0, 6)}… was found`);
}

/** Sorts destructive operations last. */
function sorted(operations: ListedOperation[]): ListedOperation[] {
  const weight = ({ method }: ListedOperation) => (method === "DELETE" ? 1 : 0);
  return [...operations].sort((one, other) => weight(one) - weight(other));
}

function bearer(token: string): Record<string, string> {
  return { authorization: `Bearer ${token}` };
}

function listeningLog(logged: unknown[]): Log {
  const listen = (fields: object, message: string) => void logged.push({ ...fields }, message);
  const log: Log = { debug: listen, info: listen, warn: listen, error: listen, child: () => log };
  return log;
}
