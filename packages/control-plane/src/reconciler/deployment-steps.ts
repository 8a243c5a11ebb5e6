import { toInertLines } from "@vocalhost/base/inert-text";
import { moveDeployment } from "../agents/deployments/deployment-phase.ts";
import type { PoolStep, PoolView } from "./plan-pool.ts";
import type { StepContext, StepWrite } from "./take-step.ts";

/** Has a deployment's image and secrets pinned; it stays `Creating` while that goes on. */
export async function preparation(
  { deployment }: PoolStep & { do: "prepare-deployment" },
  { world, deploying }: StepContext,
): Promise<StepWrite> {
  const prepared = await deploying.prepare(deployment);
  const nowMs = world.clock.nowMs();
  const failpoint = "deploy.validated";
  switch (prepared?.state) {
    case "working": {
      const progressText = toInertLines(prepared.text);
      return {
        // The state stays, so the version does too.
        async write(tx) {
          if (progressText !== deployment.progressText)
            await tx
              .updateTable("deployments")
              .set({ progressText, updatedAt: nowMs })
              .where("id", "=", deployment.id)
              .where("phase", "=", "Creating")
              .execute();
          return "waiting";
        },
      };
    }
    case "refused": {
      const { code: failureCode, text } = prepared;
      const changes = { failureCode, failureText: toInertLines(text), progressText: null };
      return { failpoint, write: (tx) => moveDeployment(tx, deployment, { to: "Failed", nowMs, changes }) };
    }
    default: {
      const spec = prepared ? { spec: JSON.stringify(prepared.spec) } : {};
      const changes = { progressText: null, ...spec };
      return {
        failpoint,
        write: (tx) => moveDeployment(tx, deployment, { to: "Validating", nowMs, changes }),
      };
    }
  }
}

/** Makes a deployment the agent's active one, in the same transaction in which the one before begins to drain. */
export function activation(
  { deployment }: PoolStep & { do: "activate-deployment" },
  { agent }: PoolView,
  { world }: StepContext,
): StepWrite {
  const nowMs = world.clock.nowMs();
  return {
    failpoint: "deploy.flipped",
    async write(tx) {
      const old = await tx
        .selectFrom("deployments")
        .selectAll()
        .where("agentId", "=", agent.id)
        .where("phase", "=", "Active")
        .execute();
      for (const row of old) await moveDeployment(tx, row, { to: "Draining", nowMs });
      if (!(await moveDeployment(tx, deployment, { to: "Active", nowMs })))
        throw new Error("The deployment changed before it could become active");
      await tx
        .updateTable("agents")
        .set({ reconciledDeploymentId: deployment.id, updatedAt: nowMs })
        .where("id", "=", agent.id)
        .execute();
    },
    committed: () =>
      world.log.info({ agent: agent.name, deploymentId: deployment.id }, "deployment is active"),
  };
}

/** Ends an agent that has neither sessions nor instances left. */
export function agentDeletion({ agent }: PoolView, { world }: StepContext): StepWrite {
  const { driver, log } = world;
  const nowMs = world.clock.nowMs();
  return {
    async write(tx) {
      const rows = await tx
        .selectFrom("deployments")
        .selectAll()
        .where("agentId", "=", agent.id)
        .where("phase", "in", ["Creating", "Validating", "Active", "Draining"])
        .execute();
      for (const row of rows) {
        if (row.phase === "Active") {
          await moveDeployment(tx, row, { to: "Draining", nowMs });
          const drained = { id: row.id, phase: "Draining", version: row.version + 1 } as const;
          await moveDeployment(tx, drained, { to: "Retired", nowMs });
        } else
          await moveDeployment(tx, row, { to: row.phase === "Draining" ? "Retired" : "Superseded", nowMs });
      }
      await tx
        .updateTable("agents")
        .set({ state: "deleted", deletedAt: nowMs, updatedAt: nowMs, version: agent.version + 1 })
        .where("id", "=", agent.id)
        .where("state", "=", "deleting")
        .execute();
    },
    // Beside the loop. The driver finds again by itself what it cannot remove now.
    committed: () =>
      void driver
        .forgetAgent?.(agent.id)
        .catch((error: unknown) =>
          log.warn({ err: error, agent: agent.name }, "objects of an agent could not be removed"),
        ),
  };
}
