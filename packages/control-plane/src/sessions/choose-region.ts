import { AppError } from "@vocalhost/protocol";
import { badField } from "@vocalhost/base/refusals";
import type { AgentRow, SessionRow } from "@vocalhost/store/schema";

/** The region in which a caller wants a session. */
export interface RegionPreference {
  /** Null: in the agent's own. */
  asked: string | null;
  /** There or nowhere. */
  stays: boolean;
}

export const NO_PREFERENCE: RegionPreference = { asked: null, stays: false };

/** Why a session is not in a region that would be nearer. */
export type PassedOver = "down" | "full" | "not-ready" | "absent";

export interface RegionChoice<Agent> {
  agent: Agent;
  /** Its driver does not answer: only an instance that waits there already can take the session. */
  isDown: boolean;
}

export interface RegionView {
  preference: RegionPreference;
  /** Regions whose drivers do not answer. */
  down: ReadonlySet<string>;
  /** Other regions, the nearest first; those left out are farthest. */
  nearestTo(region: string): readonly string[];
}

type Placed = Pick<AgentRow, "region">;

/**
 * Returns agents of one name in the order in which a start tries them. `agents` has the agent's own region first. Regions
 * that are down come last; none of their instances can be made.
 */
export function regionsToTry<Agent extends Placed>(
  agents: readonly [Agent, ...Agent[]],
  { preference, down, nearestTo }: RegionView,
): [RegionChoice<Agent>, ...RegionChoice<Agent>[]] {
  const from = preference.asked ?? agents[0].region;
  const order = [from, ...nearestTo(from)];
  const distance = ({ region }: Placed): number => {
    const place = order.indexOf(region);
    return place === -1 ? order.length : place;
  };
  const isDown = ({ region }: Placed): boolean => down.has(region);
  const [first, ...rest] = agents
    .filter(({ region }) => !preference.stays || region === from)
    .toSorted((one, other) => Number(isDown(one)) - Number(isDown(other)) || distance(one) - distance(other))
    .map((agent) => ({ agent, isDown: isDown(agent) }));
  if (first) return [first, ...rest];
  const places = agents.map(({ region }) => `'${region}'`).join(", ");
  throw badField("region", `The agent is in ${places} and not in '${from}'`);
}

/**
 * Returns why a session is where it is, for header and record: `requested`, `own`, or `nearest` with what was wrong
 * with those before it: `nearest;eu-north=down;eu-central=full`.
 */
export function reasonFor<Agent extends Placed>(
  chosen: Placed,
  agents: readonly [Agent, ...Agent[]],
  { preference, down, passedOver }: RegionView & { passedOver: ReadonlyMap<string, PassedOver> },
): string {
  if (chosen.region === preference.asked) return "requested";
  if (preference.asked === null && chosen.region === agents[0].region) return "own";
  const wrong = new Map<string, PassedOver>(
    agents.flatMap(({ region }) => (down.has(region) ? [[region, "down"] as const] : [])),
  );
  for (const [region, why] of passedOver) wrong.set(region, why);
  if (preference.asked !== null && !agents.some(({ region }) => region === preference.asked))
    wrong.set(preference.asked, "absent");
  wrong.delete(chosen.region);
  return ["nearest", ...[...wrong].map(([region, why]) => `${region}=${why}`)].join(";");
}

/** Reads from `reasonFor`'s answer the region that was meant and why it was passed over; undefined where it was taken. */
export function meantBefore(reason: string): { from: string; why: string } | undefined {
  const [kind, first] = reason.split(";");
  const [from, why] = first?.split("=") ?? [];
  return kind === "nearest" && from && why ? { from, why } : undefined;
}

/** Returns the error for a start that no region takes although none is full. */
export function refusalOf(passedOver: ReadonlyMap<string, PassedOver>): AppError {
  if (![...passedOver.values()].includes("down")) return new AppError("AGENT-1001");
  const regions = [...passedOver.keys()].map((region) => `'${region}'`);
  const message =
    regions.length === 1
      ? `The region ${regions.join()} is down`
      : `None of the agent's regions can take a session: ${[...passedOver].map(([region, why]) => `${region} is ${why}`).join(", ")}`;
  return new AppError("REGION_DOWN", { message });
}

/** Returns the preference that a session's caller stated. */
export function preferenceOf({ regionAsked, staysInRegion }: SessionRow): RegionPreference {
  return { asked: regionAsked, stays: staysInRegion === 1 };
}
