import { Link } from "@tanstack/react-router";
import type { Instance, Pool } from "@vocalhost/protocol";
import { toAgo, useNow } from "../ui/time.tsx";

const looks = {
  busy: { word: "Busy", cell: "border-accent bg-accent" },
  ready: { word: "Warm", cell: "border-accent bg-accent-soft" },
  starting: { word: "Starting", cell: "border-warn bg-warn-soft animate-pulse" },
  draining: { word: "Draining", cell: "border-edge bg-sunken" },
} as const;

/** One square per instance, and room for those that could be. */
export function PoolPicture({ pool, agentName }: { pool: Pool; agentName: string }) {
  const { counts, instances, maxAgents, minAgents } = pool;
  const nowMs = useNow(5_000);
  const order = ["busy", "ready", "starting", "draining"] as const;
  const sorted = order.flatMap((kind) => instances.filter((each) => kindOf(each) === kind));
  const free = Math.max(0, maxAgents - sorted.filter((each) => kindOf(each) !== "draining").length);
  return (
    <div className="grid gap-4">
      <ul className="flex flex-wrap gap-1.5">
        {sorted.map((instance) => (
          <li key={instance.id}>
            <Cell instance={instance} agentName={agentName} nowMs={nowMs} />
          </li>
        ))}
        {Array.from({ length: free }, (_, index) => (
          <li
            key={`free-${index}`}
            aria-hidden="true"
            className="size-6 rounded-md border border-dashed border-line"
          />
        ))}
      </ul>
      <dl className="flex flex-wrap gap-x-6 gap-y-2 text-sm">
        <Count kind="busy" count={counts.busy} />
        <Count kind="ready" count={counts.warm} />
        <Count kind="starting" count={counts.starting} />
        <Count kind="draining" count={counts.draining} />
        <div className="ml-auto text-muted">
          <dt className="sr-only">Bounds</dt>
          <dd>
            {minAgents} kept warm, {maxAgents} at most
          </dd>
        </div>
      </dl>
    </div>
  );
}

function Count({ kind, count }: { kind: keyof typeof looks; count: number }) {
  const { word, cell } = looks[kind];
  return (
    <div className="flex items-center gap-2">
      <span aria-hidden="true" className={`size-3 rounded border ${cell}`} />
      <dt className="text-muted">{word}</dt>
      <dd className="font-semibold tabular-nums">{count}</dd>
    </div>
  );
}

function Cell({ instance, agentName, nowMs }: { instance: Instance; agentName: string; nowMs: number }) {
  const { word, cell } = looks[kindOf(instance)];
  const doing = instance.waitsFor ?? `${word} since ${toAgo(nowMs - Date.parse(instance.stateAt))}`;
  const text = `${doing}, instance ${instance.id.slice(0, 8)}`;
  const look = `block size-6 rounded-md border ${cell}`;
  if (instance.sessionId === null) {
    return (
      <span className={look} title={text}>
        <span className="sr-only">{text}</span>
      </span>
    );
  }
  return (
    <Link
      to="/agents/$name/sessions/$sessionId"
      params={{ name: agentName, sessionId: instance.sessionId }}
      className={look}
      title={`${text}: see its session`}
    >
      <span className="sr-only">{text}: see its session</span>
    </Link>
  );
}

function kindOf({ state }: Instance): keyof typeof looks {
  return state === "requested" ? "starting" : state;
}
