import assert from "node:assert/strict";
import { test } from "node:test";
import {
  NO_PREFERENCE,
  reasonFor,
  refusalOf,
  regionsToTry,
  type PassedOver,
  type RegionPreference,
} from "./choose-region.ts";

const ORDER: Record<string, string[]> = { "eu-north": ["eu-central", "us-east"], "us-east": ["us-west"] };
type Placed = { region: string };
const AGENTS: [Placed, ...Placed[]] = [
  { region: "us-west" },
  { region: "eu-central" },
  { region: "us-east" },
];

interface Case {
  preference?: Partial<RegionPreference>;
  down?: string[];
  full?: string[];
  /** In which order they are tried. */
  tried: string[];
  reason: string;
}

/** The first that is not full gets the session. */
function check({ preference, down = [], full = [], tried, reason }: Case): void {
  const view = {
    preference: { ...NO_PREFERENCE, ...preference },
    down: new Set(down),
    nearestTo: (region: string) => ORDER[region] ?? [],
  };
  const choices = regionsToTry(AGENTS, view);
  assert.deepEqual(
    choices.map(({ agent }) => agent.region),
    tried,
  );
  for (const { agent, isDown } of choices) assert.equal(isDown, down.includes(agent.region));
  const passedOver = new Map<string, PassedOver>(full.map((region) => [region, "full"]));
  const chosen = choices.find(({ agent }) => !passedOver.has(agent.region));
  assert.ok(chosen);
  assert.equal(reasonFor(chosen.agent, AGENTS, { ...view, passedOver }), reason);
}

test("without a preference the agent's own region is first, then those nearest to it", () => {
  check({ tried: ["us-west", "eu-central", "us-east"], reason: "own" });
  check({
    down: ["us-west"],
    tried: ["eu-central", "us-east", "us-west"],
    reason: "nearest;us-west=down",
  });
  check({
    full: ["us-west", "eu-central"],
    tried: ["us-west", "eu-central", "us-east"],
    reason: "nearest;us-west=full;eu-central=full",
  });
});

test("a region that is asked for is first, then those the operator says are nearest to it", () => {
  const asked = "us-east";
  check({ preference: { asked }, tried: ["us-east", "us-west", "eu-central"], reason: "requested" });
  check({
    preference: { asked },
    down: ["us-east"],
    full: ["us-west"],
    tried: ["us-west", "eu-central", "us-east"],
    reason: "nearest;us-east=down;us-west=full",
  });
});

test("a region without the agent is somewhere to be near to", () => {
  check({
    preference: { asked: "eu-north" },
    tried: ["eu-central", "us-east", "us-west"],
    reason: "nearest;eu-north=absent",
  });
});

test("who stays in a region goes nowhere else", () => {
  const stays = true;
  check({
    preference: { asked: "us-east", stays },
    down: ["us-east"],
    tried: ["us-east"],
    reason: "requested",
  });
  check({ preference: { stays }, tried: ["us-west"], reason: "own" });
  assert.throws(
    () => check({ preference: { asked: "eu-north", stays }, tried: [], reason: "" }),
    (error: { problems?: { msg: string }[] }) =>
      error.problems?.[0]?.msg === "The agent is in 'us-west', 'eu-central', 'us-east' and not in 'eu-north'",
  );
});

test("where everything is down that is what is said; what is only not ready is said as ever", () => {
  const refusal = (...wrong: [string, PassedOver][]) => refusalOf(new Map(wrong));
  const one = refusal(["eu-north", "down"]);
  assert.deepEqual(
    [one.code, one.status, one.message],
    ["REGION_DOWN", 503, "The region 'eu-north' is down"],
  );
  const both = refusal(["eu-north", "down"], ["us-west", "not-ready"]);
  assert.match(both.message, /eu-north is down, us-west is not-ready$/);
  assert.equal(refusal(["us-west", "not-ready"]).code, "AGENT-1001");
});
