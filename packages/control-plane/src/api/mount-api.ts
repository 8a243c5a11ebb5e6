import type { FastifyInstance } from "fastify";
import { agentProfileOperations } from "./agent-profiles.ts";
import { agentOperations } from "./agents.ts";
import { auditOperations } from "./audit.ts";
import { mountAuthRoutes } from "./auth-routes.ts";
import { buildOperations } from "./builds.ts";
import { mountCallQuestions } from "./call-questions.ts";
import { mountDialIn } from "./dial-in.ts";
import { deploymentOperations } from "./deployments.ts";
import { eventOperations } from "./events.ts";
import { mountHealth } from "./health.ts";
import { keyOperations } from "./keys.ts";
import { logOperations } from "./logs.ts";
import { memberOperations } from "./members.ts";
import { mountMetrics } from "./metrics.ts";
import { installOpenApi, mountOpenApi } from "./openapi.ts";
import { mountOperation } from "./operation.ts";
import { organizationOperations } from "./organizations.ts";
import type { ApiPorts } from "./ports.ts";
import { poolOperations } from "./pool.ts";
import { propertyOperations } from "./properties.ts";
import { publicStartOperations } from "./public-start.ts";
import { quotaOperations } from "./quotas.ts";
import { regionOperations } from "./regions.ts";
import { secretOperations } from "./secrets.ts";
import { sessionOperations } from "./sessions.ts";
import { mountUploads } from "./uploads.ts";
import { usageOperations } from "./usage.ts";

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
    ...regionOperations(ports),
    ...agentOperations(ports),
    ...agentProfileOperations(),
    ...poolOperations(ports),
    ...deploymentOperations(ports),
    ...sessionOperations(ports),
    ...logOperations(ports),
    ...secretOperations(ports),
    ...buildOperations(ports),
    ...propertyOperations(ports),
    ...keyOperations(ports),
    ...usageOperations(ports),
    ...organizationOperations(ports),
    ...quotaOperations(ports),
    ...auditOperations(ports),
    ...memberOperations(ports),
    ...eventOperations(ports),
    ...publicStartOperations(ports),
  ];
  for (const operation of operations) mountOperation(app, operation, ports);
  mountOpenApi(app);
}
