import assert from "node:assert/strict";
import { test } from "node:test";
import { dealBoots, type Boot } from "./deal-boots.ts";

test("a hundred boots of one agent do not hold up another's", () => {
  const crowd = boots(100, { agentId: "crowd" });
  const late = boots(1, { agentId: "late", createdAt: 1_000 });
  check({ waiting: [...crowd, ...late], underWay: boots(3, { agentId: "crowd" }), places: 2 }, [
    "late 0",
    "crowd 0",
  ]);
});

test("agents of one organisation share what is its, however many they are", () => {
  const many = Array.from({ length: 50 }, (_, index) => boots(4, { agentId: `many-${index}` })).flat();
  const few = boots(4, { organizationId: "small", agentId: "few", createdAt: 1_000 });
  const dealt = dealBoots([...many, ...few], { underWay: [], places: 8 });
  assert.equal(dealt.filter(({ instance }) => instance.organizationId === "small").length, 4);
  const agents = dealt.map(({ instance }) => instance.agentId).filter((id) => id.startsWith("many"));
  assert.equal(new Set(agents).size, 4, "and among themselves they take turns");
});

test("among equals, instances that a session waits for are first, then the oldest", () => {
  const waiting = [
    ...boots(1, { agentId: "young", createdAt: 9 }),
    ...boots(1, { agentId: "old", createdAt: 1 }),
    ...boots(1, { agentId: "called", createdAt: 20, sessionId: "session" }),
  ];
  check({ waiting, underWay: [], places: 3 }, ["called 0", "old 0", "young 0"]);
});

test("nothing is dealt where there is no place, and no more than there is", () => {
  const waiting = boots(2, {});
  check({ waiting, underWay: [], places: 0 }, []);
  check({ waiting, underWay: [], places: -1 }, []);
  check({ waiting, underWay: [], places: 9 }, ["agent 0", "agent 1"]);
});

function boots(count: number, given: Partial<Boot>): { instance: Boot }[] {
  const { agentId = "agent", organizationId = "org", sessionId = null, createdAt = 0 } = given;
  return Array.from({ length: count }, (_, index) => ({
    instance: { id: `${agentId} ${index}`, organizationId, agentId, sessionId, createdAt },
  }));
}

function check(
  given: { waiting: { instance: Boot }[]; underWay: { instance: Boot }[]; places: number },
  expected: string[],
): void {
  const underWay = given.underWay.map(({ instance }) => instance);
  const dealt = dealBoots(given.waiting, { underWay, places: given.places });
  assert.deepEqual(
    dealt.map(({ instance }) => instance.id),
    expected,
  );
}
