import { sql } from "kysely";
import { createTable, type Migration, type TableShape } from "./migration.ts";

export const firstTables: Migration = {
  version: 1,
  name: "first tables",
  async up(tx, dialect) {
    for (const table of Object.entries(tables)) await createTable(tx, dialect, table);
    const { schema } = tx;
    await schema
      .createIndex("agentsName")
      .unique()
      .on("agents")
      .columns(["organizationId", "name"])
      .where(sql.ref("state"), "<>", "deleted")
      .execute();
    await schema
      .createIndex("deploymentsActive")
      .unique()
      .on("deployments")
      .column("agentId")
      .where(sql.ref("phase"), "=", "Active")
      .execute();
    for (const [name, table, ...columns] of uniqueIndexes)
      await schema.createIndex(name).unique().on(table).columns(columns).execute();
    for (const [name, table, ...columns] of indexes)
      await schema.createIndex(name).on(table).columns(columns).execute();
  },
};

type Index = [name: string, table: string, ...columns: string[]];

const uniqueIndexes: Index[] = [
  ["organizationsName", "organizations", "name"],
  ["apiKeysSha256", "apiKeys", "sha256"],
  ["secretSetsName", "secretSets", "organizationId", "name"],
];

const indexes: Index[] = [
  ["membersUser", "members", "userId"],
  ["apiKeysOrganization", "apiKeys", "organizationId"],
  ["agentsState", "agents", "state"],
  ["deploymentsAgent", "deployments", "agentId", "createdAt"],
  ["deploymentsPhase", "deployments", "phase"],
  ["instancesAgent", "instances", "agentId", "state"],
  ["instancesState", "instances", "state"],
  ["instancesDeployment", "instances", "deploymentId", "state"],
  ["sessionsAgent", "sessions", "agentId", "createdAt"],
  ["sessionsOrganization", "sessions", "organizationId", "createdAt"],
  ["sessionsState", "sessions", "state"],
  ["sessionsInstance", "sessions", "instanceId"],
  ["idempotencyCreated", "idempotency", "createdAt"],
  ["usedTokensExpires", "usedTokens", "expiresAt"],
  ["uploadsExpires", "uploads", "expiresAt"],
  ["buildsOrganization", "builds", "organizationId", "createdAt"],
  ["buildsCache", "builds", "organizationId", "contextHash", "region", "dockerfilePath"],
  ["buildsStatus", "builds", "status"],
  ["usageOrganization", "usage", "organizationId", "period"],
  ["correctionsOrganization", "corrections", "organizationId", "period"],
  ["outboxSent", "outbox", "sentAt", "createdAt"],
  ["logLinesAgent", "logLines", "agentId", "at", "nanos"],
  ["logLinesSession", "logLines", "sessionId", "at", "nanos"],
  ["logLinesAt", "logLines", "at"],
  ["samplesAt", "samples", "at"],
  ["auditOrganization", "audit", "organizationId", "at"],
];

const tables: Record<string, TableShape> = {
  organizations: {
    columns: {
      id: "text",
      name: "text",
      verboseName: "text",
      properties: "text",
      createdAt: "integer",
    },
    primaryKey: ["id"],
  },
  members: {
    columns: {
      organizationId: "text",
      userId: "text",
      role: "text",
      createdAt: "integer",
    },
    primaryKey: ["organizationId", "userId"],
  },
  apiKeys: {
    columns: {
      id: "text",
      organizationId: "text",
      sha256: "text",
      kind: "text",
      name: "text",
      lastFour: "text",
      agents: "text?",
      ratePerMinute: "integer?",
      concurrency: "integer?",
      createdBy: "text",
      createdAt: "integer",
      expiresAt: "integer?",
      revokedAt: "integer?",
      lastUsedAt: "integer?",
    },
    primaryKey: ["id"],
  },
  agents: {
    columns: {
      id: "text",
      organizationId: "text",
      name: "text",
      region: "text",
      state: "text",
      minAgents: "integer",
      maxAgents: "integer",
      desiredDeploymentId: "text",
      reconciledDeploymentId: "text?",
      version: "integer",
      createdAt: "integer",
      updatedAt: "integer",
      deletedAt: "integer?",
    },
    primaryKey: ["id"],
  },
  deployments: {
    columns: {
      id: "text",
      organizationId: "text",
      agentId: "text",
      phase: "text",
      phaseStartedAt: "integer",
      spec: "text",
      crashes: "integer",
      lastCrashAt: "integer?",
      lastExitCode: "integer?",
      crashText: "text?",
      failureCode: "text?",
      failureText: "text?",
      version: "integer",
      createdAt: "integer",
      updatedAt: "integer",
    },
    primaryKey: ["id"],
  },
  instances: {
    columns: {
      id: "text",
      organizationId: "text",
      agentId: "text",
      deploymentId: "text",
      state: "text",
      sessionId: "text?",
      address: "text?",
      epoch: "integer",
      version: "integer",
      createdAt: "integer",
      stateAt: "integer",
      readyAt: "integer?",
      lastSeenAt: "integer?",
      exitCode: "integer?",
      cause: "text",
    },
    primaryKey: ["id"],
  },
  sessions: {
    columns: {
      id: "text",
      organizationId: "text",
      agentId: "text",
      deploymentId: "text?",
      instanceId: "text?",
      state: "text",
      transport: "text",
      body: "text?",
      filter: "text?",
      coldStart: "integer?",
      apiKeyId: "text?",
      epoch: "integer",
      version: "integer",
      createdAt: "integer",
      boundAt: "integer?",
      activeAt: "integer?",
      startMs: "real?",
      maxDurationMs: "integer",
      deadlineAt: "integer?",
      stopRequestedAt: "integer?",
      stopReason: "text?",
      endedAt: "integer?",
      endReason: "text?",
      elapsedMs: "real?",
      seconds: "integer?",
      timeline: "text",
    },
    primaryKey: ["id"],
  },
  idempotency: {
    columns: {
      organizationId: "text",
      key: "text",
      parametersHash: "text",
      sessionId: "text",
      createdAt: "integer",
    },
    primaryKey: ["organizationId", "key"],
  },
  usedTokens: {
    columns: {
      id: "text",
      expiresAt: "integer",
    },
    primaryKey: ["id"],
  },
  secretSets: {
    columns: {
      id: "text",
      organizationId: "text",
      name: "text",
      region: "text",
      kind: "text",
      status: "text",
      errorMessage: "text?",
      host: "text?",
      currentVersion: "integer",
      createdAt: "integer",
      updatedAt: "integer",
    },
    primaryKey: ["id"],
  },
  secretVersions: {
    columns: {
      setId: "text",
      version: "integer",
      wrappedKey: "text",
      masterKeyId: "text",
      createdAt: "integer",
    },
    primaryKey: ["setId", "version"],
    belongsTo: { columns: ["setId"], table: "secretSets", foreignColumns: ["id"] },
  },
  secretValues: {
    columns: {
      setId: "text",
      version: "integer",
      fieldName: "text",
      ciphertext: "text",
    },
    primaryKey: ["setId", "version", "fieldName"],
    belongsTo: {
      columns: ["setId", "version"],
      table: "secretVersions",
      foreignColumns: ["setId", "version"],
    },
  },
  uploads: {
    columns: {
      id: "text",
      organizationId: "text",
      region: "text",
      policySha256: "text",
      expiresAt: "integer",
      receivedAt: "integer?",
      sizeBytes: "integer?",
      createdAt: "integer",
    },
    primaryKey: ["id"],
  },
  builds: {
    columns: {
      id: "text",
      organizationId: "text",
      region: "text",
      status: "text",
      uploadId: "text",
      contextHash: "text",
      dockerfilePath: "text",
      imageUri: "text?",
      errorMessage: "text?",
      contextSizeBytes: "integer?",
      imageSizeBytes: "integer?",
      facts: "text",
      startedAt: "integer?",
      completedAt: "integer?",
      createdAt: "integer",
      updatedAt: "integer",
    },
    primaryKey: ["id"],
  },
  buildLogLines: {
    columns: {
      buildId: "text",
      number: "integer",
      text: "text",
    },
    primaryKey: ["buildId", "number"],
    belongsTo: { columns: ["buildId"], table: "builds", foreignColumns: ["id"] },
  },
  usage: {
    columns: {
      sessionId: "text",
      period: "text",
      organizationId: "text",
      agentId: "text",
      seconds: "integer",
    },
    primaryKey: ["sessionId", "period"],
  },
  periods: {
    columns: {
      organizationId: "text",
      period: "text",
      closedAt: "integer",
    },
    primaryKey: ["organizationId", "period"],
  },
  corrections: {
    columns: {
      sessionId: "text",
      period: "text",
      organizationId: "text",
      seconds: "integer",
      foundAt: "integer",
    },
    primaryKey: ["sessionId", "period"],
  },
  outbox: {
    columns: {
      id: "text",
      payload: "text",
      createdAt: "integer",
      sentAt: "integer?",
      heldAt: "integer?",
    },
    primaryKey: ["id"],
  },
  logLines: {
    columns: {
      instanceId: "text",
      position: "integer",
      organizationId: "text",
      agentId: "text",
      deploymentId: "text",
      sessionId: "text?",
      at: "integer",
      nanos: "integer",
      text: "text",
    },
    primaryKey: ["instanceId", "position"],
  },
  outputCursors: {
    columns: {
      instanceId: "text",
      nextPosition: "integer",
      sessionId: "text?",
      storedBytes: "integer",
      droppedFrom: "integer?",
      droppedLines: "integer",
      updatedAt: "integer",
    },
    primaryKey: ["instanceId"],
  },
  samples: {
    columns: {
      sessionId: "text",
      at: "integer",
      cpuMillicores: "real",
      memoryBytes: "integer",
    },
    primaryKey: ["sessionId", "at"],
  },
  audit: {
    columns: {
      id: "text",
      organizationId: "text",
      at: "integer",
      actor: "text",
      action: "text",
      target: "text",
      details: "text",
    },
    primaryKey: ["id"],
  },
  leader: {
    columns: {
      id: "integer",
      holder: "text",
      epoch: "integer",
      until: "integer",
    },
    primaryKey: ["id"],
  },
  settings: {
    columns: {
      name: "text",
      value: "text",
    },
    primaryKey: ["name"],
  },
};
