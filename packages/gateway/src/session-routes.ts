import { createHash } from "node:crypto";
import type { Answer } from "./answers.ts";
import { toAnswer } from "./answers.ts";
import { InstanceRoute, type SessionRouteRequest } from "@vocalhost/base/peers/controller-api";
import { unavailable, type AskOptions, type ControllerLink, type Told } from "./controller-link.ts";

/** Caches the routes of sessions, so that calls go on while the controller is unreachable. */
export interface SessionRoutes {
  find(question: SessionRouteRequest): Promise<Found>;
  /** Drops a route at which the instance could not be reached. */
  forget(question: SessionRouteRequest): void;
  readonly size: number;
}

export type Found = { kind: "route"; route: InstanceRoute } | { kind: "refusal"; answer: Answer };

export interface SessionRoutesOptions {
  controller: Pick<ControllerLink, "ask">;
  freshMs: number;
  routesMax: number;
  /** @default performance.now */
  nowMs?: () => number;
}

export function createSessionRoutes(options: SessionRoutesOptions): SessionRoutes {
  const { controller, freshMs, routesMax } = options;
  const nowMs = options.nowMs ?? ((): number => performance.now());
  const known = new Map<string, { route: InstanceRoute; askedAtMs: number }>();
  const asking = new Map<string, Promise<Found>>();

  function judge(key: string, askedAtMs: number, told: Told<InstanceRoute>): Found {
    const remembered = known.get(key);
    switch (told.kind) {
      case "answer":
        remember(key, told.value, askedAtMs);
        return { kind: "route", route: told.value };
      case "refusal":
        known.delete(key);
        return told;
      case "unreachable":
        if (remembered) return { kind: "route", route: remembered.route };
        return { kind: "refusal", answer: told.answer ?? toAnswer(unavailable(undefined)) };
      default:
        return told satisfies never;
    }
  }

  function remember(key: string, route: InstanceRoute, askedAtMs: number): void {
    known.delete(key);
    known.set(key, { route, askedAtMs });
    const [oldest] = known.keys();
    if (known.size > routesMax && oldest !== undefined) known.delete(oldest);
  }

  async function ask(key: string, question: SessionRouteRequest): Promise<Found> {
    const askedAtMs = nowMs();
    // With a cached route the gateway does not wait for an unreachable controller.
    const wait: AskOptions = { needs: "any", ...(known.has(key) ? { awayMs: 0 } : {}) };
    return judge(
      key,
      askedAtMs,
      await controller.ask("/internal/session-route", question, InstanceRoute, wait),
    );
  }

  return {
    async find(question) {
      const key = keyOf(question);
      const remembered = known.get(key);
      if (remembered && nowMs() - remembered.askedAtMs < freshMs)
        return { kind: "route", route: remembered.route };
      let answer = asking.get(key);
      if (!answer) {
        answer = ask(key, question).finally(() => asking.delete(key));
        asking.set(key, answer);
      }
      return answer;
    },
    forget(question) {
      known.delete(keyOf(question));
    },
    get size() {
      return known.size;
    },
  };
}

// A hash, so that keys of any length take the same space and are not kept in memory.
function keyOf({ authorization = "", agent, sessionId }: SessionRouteRequest): string {
  return createHash("sha256")
    .update(JSON.stringify([authorization, agent, sessionId]))
    .digest("base64");
}
