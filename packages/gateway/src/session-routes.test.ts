import assert from "node:assert/strict";
import { test } from "node:test";
import { toAnswer } from "./answers.ts";
import type { InstanceRoute } from "@vocalhost/base/peers/controller-api";
import type { AskOptions, ControllerLink, Told } from "./controller-link.ts";
import { createSessionRoutes } from "./session-routes.ts";

const ROUTE: InstanceRoute = { sessionId: "s", address: "127.0.0.1:1", token: "t" };
const QUESTION = { agent: "a", sessionId: "s", authorization: "Bearer k" };
const REFUSAL: Told<InstanceRoute> = { kind: "refusal", answer: toAnswer(new Error("no")) };

function start(routesMax = 10) {
  const state = {
    nowMs: 0,
    told: { kind: "answer", value: ROUTE } as Told<InstanceRoute>,
    waits: [] as (AskOptions | undefined)[],
  };
  const ask = async (
    _path: string,
    _question: object,
    _schema: unknown,
    wait?: AskOptions,
  ): Promise<Told<InstanceRoute>> => {
    state.waits.push(wait);
    return state.told;
  };
  const routes = createSessionRoutes({
    controller: { ask: ask as ControllerLink["ask"] },
    freshMs: 1_000,
    routesMax,
    nowMs: () => state.nowMs,
  });
  return { state, routes };
}

test("an answer is believed for its time, and asked for once by many", async () => {
  const { state, routes } = start();
  await Promise.all(Array.from({ length: 20 }, () => routes.find(QUESTION)));
  assert.equal(state.waits.length, 1);
  state.nowMs = 999;
  assert.deepEqual(await routes.find(QUESTION), { kind: "route", route: ROUTE });
  assert.equal(state.waits.length, 1);
  state.nowMs = 1_000;
  await routes.find(QUESTION);
  assert.equal(state.waits.length, 2);
  for (const other of [
    { ...QUESTION, authorization: "x" },
    { ...QUESTION, agent: "b" },
    { ...QUESTION, sessionId: "u" },
    { agent: "a", sessionId: "s" },
  ])
    await routes.find(other);
  assert.equal(state.waits.length, 6);
});

test("an old answer serves only while nobody can give a new one", async () => {
  const { state, routes } = start();
  state.told = { kind: "unreachable" };
  assert.equal((await routes.find(QUESTION)).kind, "refusal");
  state.told = { kind: "answer", value: ROUTE };
  await routes.find(QUESTION);
  state.nowMs = 5_000;
  state.told = { kind: "unreachable", answer: toAnswer(new Error("500")) };
  assert.deepEqual(await routes.find(QUESTION), { kind: "route", route: ROUTE });
  assert.deepEqual(state.waits.at(-1), { needs: "any", awayMs: 0 });
  state.told = REFUSAL;
  assert.equal((await routes.find(QUESTION)).kind, "refusal");
  state.told = { kind: "unreachable" };
  assert.equal((await routes.find(QUESTION)).kind, "refusal");
});

test("a route that led nowhere is forgotten, and only so many are kept", async () => {
  const { state, routes } = start(3);
  await routes.find(QUESTION);
  routes.forget(QUESTION);
  await routes.find(QUESTION);
  assert.equal(state.waits.length, 2);
  for (let count = 0; count < 10; count++) await routes.find({ ...QUESTION, sessionId: `s${count}` });
  assert.equal(routes.size, 3);
});
