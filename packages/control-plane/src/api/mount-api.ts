import type { FastifyInstance } from "fastify";
import { handleAgentProfiles } from "./agent-profiles.ts";
import { handleAgents } from "./agents.ts";
import { handleAudit } from "./audit.ts";
import { mountAuthRoutes } from "./auth-routes.ts";
import { handleBuilds } from "./builds.ts";
import { mountCallQuestions } from "./call-questions.ts";
import { mountDialIn } from "./dial-in.ts";
import { handleDeployments } from "./deployments.ts";
import { handleEvents } from "./events.ts";
import { mountHealth } from "./health.ts";
import { handleKeys } from "./keys.ts";
import { handleLogs } from "./logs.ts";
import { handleMembers } from "./members.ts";
import { mountMetrics } from "./metrics.ts";
import { installOpenApi, mountOpenApi } from "./openapi.ts";
import { mountOperation } from "./operation.ts";
import { handleOrganizations } from "./organizations.ts";
import type { ApiPorts } from "./ports.ts";
import { handlePools } from "./pool.ts";
import { handleProperties } from "./properties.ts";
import { handleStarts } from "./public-start.ts";
import { handleRegions } from "./regions.ts";
import { handleSecrets } from "./secrets.ts";
import { handleSessions } from "./sessions.ts";
import { mountUploads } from "./uploads.ts";
import { handleUsage } from "./usage.ts";

/** Adds the REST interface to an application of `createApiApp`. */
export async function mountApi(app: FastifyInstance, ports: ApiPorts): Promise<void> {
  app.decorateRequest("principal", null);
  await installOpenApi(app);
  mountMetrics(app, ports);
  mountHealth(app, ports);
  mountAuthRoutes(app, ports);
  mountUploads(app, ports);
  mountDialIn(app, ports);
  mountCallQuestions(app);
  const operations = [
    ...handleRegions(ports),
    ...handleAgents(ports),
    ...handleAgentProfiles(),
    ...handlePools(ports),
    ...handleDeployments(ports),
    ...handleSessions(ports),
    ...handleLogs(ports),
    ...handleSecrets(ports),
    ...handleBuilds(ports),
    ...handleProperties(ports),
    ...handleKeys(ports),
    ...handleUsage(ports),
    ...handleOrganizations(ports),
    ...handleAudit(ports),
    ...handleMembers(ports),
    ...handleEvents(ports),
    ...handleStarts(ports),
  ];
  for (const operation of operations) mountOperation(app, operation, ports);
  mountOpenApi(app);
}
