import { Link } from "@tanstack/react-router";
import type { LogLine } from "@vocalhost/protocol";
import { useCallback, useEffect, useState } from "react";
import { Button } from "../../shared/button.tsx";
import { useStore } from "../../shared/use-store.ts";
import { api } from "../data/api.ts";
import { toSentence } from "../data/problem.ts";
import { Facts } from "../ui/card.tsx";
import { CopyText, toShortId } from "../ui/copy-text.tsx";
import { Alert, Empty } from "../ui/notice.tsx";
import { say } from "../ui/toast.tsx";
import { createFollowedLog, readEarlier, withoutEmpty, type LogQuery } from "./follow-log.ts";
import { LINES_MAX, type LogBuffer } from "./log-buffer.ts";
import { LogList } from "./log-list.tsx";
import { startTimeOf, type LogRange } from "./log-range.ts";

interface LogViewProps {
  agentName: string;
  sessionId?: string;
  query?: string;
  range?: LogRange;
  height: string;
}

/** An agent's log as it grows: over all its instances, or of one session. */
export function LogView({ height, ...filters }: LogViewProps) {
  // Other filters are another log: nothing of the one before may stay.
  return <Followed key={JSON.stringify(filters)} filters={filters} height={height} />;
}

function Followed({ filters, height }: { filters: Omit<LogViewProps, "height">; height: string }) {
  const [query] = useState(() => toQuery(filters));
  const [{ buffer, state, follow }] = useState(() => createFollowedLog(query));
  useEffect(() => {
    const ending = new AbortController();
    void follow(ending.signal);
    return () => ending.abort();
  }, [follow]);
  const shown = useStore(buffer);
  const now = useStore(state);
  const [paused, setPaused] = useState(false);
  const [selected, setSelected] = useState<number>();
  const line = selected === undefined ? undefined : shown.lines[selected - shown.firstNumber];
  const pause = (next: boolean) => {
    setPaused(next);
    buffer.setPaused(next);
  };
  return (
    <div className="grid gap-3">
      {now.kind === "broken" && (
        <Alert tone="busy" title="The live log was interrupted; reconnecting">
          {now.why}
        </Alert>
      )}
      <div className="flex flex-wrap items-center gap-2">
        <Button size="small" icon={paused ? "play" : "pause"} onClick={() => pause(!paused)}>
          {paused ? "Resume" : "Pause"}
        </Button>
        <Button
          size="small"
          icon="download"
          onClick={() => void downloadLog(query).then((count) => say(`${count} lines downloaded`), complain)}
        >
          Download
        </Button>
        <Earlier query={query} buffer={buffer} />
        <span role="status" className="ml-auto text-[0.8125rem] text-muted tabular-nums">
          {paused ? `Paused, ${shown.waiting} new` : now.kind === "live" ? "Live" : "Connecting"} ·{" "}
          {shown.lines.length} {shown.lines.length === 1 ? "line" : "lines"}
        </span>
      </div>
      {shown.lines.length === 0 ? (
        <div className={`grid content-center rounded-xl border border-line bg-paper ${height}`}>
          <Empty icon="log" title={toEmptyTitle(query)}>
            Lines appear here as instances print them.
          </Empty>
        </div>
      ) : (
        <LogList shown={shown} label="Log lines" height={height} selected={selected} onSelect={setSelected} />
      )}
      {line && <LineDetails line={line} agentName={query.agentName} />}
    </div>
  );
}

/** The range is counted back from now and stays there: what is shown grows, and does not vanish while it is read. */
function toQuery({ range = "any", ...rest }: Omit<LogViewProps, "height">): LogQuery {
  return { ...rest, startTime: startTimeOf(range, Date.now()) };
}

function toEmptyTitle({ query, startTime }: LogQuery): string {
  if (query) return "No matching lines";
  return startTime === undefined ? "Nothing logged yet" : "Nothing logged in this period";
}

const EARLIER_LINES = 5_000;

function Earlier({ query, buffer }: { query: LogQuery; buffer: LogBuffer }) {
  // A range is read from its start; a tail begins with the newest lines.
  const readsAtOnce = query.startTime !== undefined;
  const [busy, setBusy] = useState(readsAtOnce);
  const { lines } = useStore(buffer);
  const hasLines = lines.length > 0;
  /** Gives how many there were. */
  const read = useCallback(async (): Promise<number> => {
    const [first] = buffer.get().lines;
    if (!first) return 0;
    const options = { before: first.timestamp, limit: EARLIER_LINES };
    const earlier = await readEarlier(query, options).finally(() => setBusy(false));
    const countBefore = buffer.get().lines.length;
    buffer.addEarlier(earlier);
    return buffer.get().lines.length - countBefore;
  }, [query, buffer]);
  useEffect(() => {
    if (hasLines && readsAtOnce) read().catch(complain);
  }, [hasLines, readsAtOnce, read]);
  if (!hasLines || lines.length >= LINES_MAX) return null;
  const none = `No earlier lines${readsAtOnce ? " in this period" : ""}`;
  return (
    <Button
      size="small"
      disabled={busy}
      onClick={() => {
        setBusy(true);
        void read().then(
          (added) => say(added === 0 ? none : `${added} earlier lines loaded above`),
          complain,
        );
      }}
    >
      {busy ? "Loading…" : "Load earlier lines"}
    </Button>
  );
}

function complain(error: unknown): void {
  say(toSentence(error), "bad");
}

function LineDetails({ line, agentName }: { line: LogLine; agentName: string }) {
  const { sessionId } = line;
  return (
    <div className="grid gap-3 rounded-xl border border-line p-4">
      <pre className="max-h-60 overflow-auto font-mono text-xs [overflow-wrap:anywhere] whitespace-pre-wrap">
        {line.log}
      </pre>
      <Facts
        facts={[
          { label: "Time", value: line.timestamp },
          {
            label: "Session",
            value: sessionId ? (
              <Link
                to="/agents/$name/sessions/$sessionId"
                params={{ name: agentName, sessionId }}
                className="font-mono text-[0.8125rem] text-accent-deep underline underline-offset-2"
              >
                {toShortId(sessionId)}
              </Link>
            ) : sessionId === null ? (
              "none"
            ) : (
              "–" // earlier lines come without it
            ),
          },
          {
            label: "Deployment",
            value: line.deploymentId ? (
              <CopyText text={line.deploymentId} shown={toShortId(line.deploymentId)} label="deployment id" />
            ) : (
              "–"
            ),
          },
        ]}
      />
    </div>
  );
}

const DOWNLOAD_LINES_MAX = 10_000; // as many as one answer holds

/** Saves the newest lines as a text file; gives how many. */
async function downloadLog({ agentName, ...filters }: LogQuery): Promise<number> {
  const { logs } = await api().agents.logs(agentName, {
    ...withoutEmpty(filters),
    order: "desc",
    limit: DOWNLOAD_LINES_MAX,
  });
  const text = logs
    .toReversed()
    .map(({ timestamp, log }) => `${timestamp} ${log}\n`)
    .join("");
  saveFile(`${agentName}.log.txt`, new Blob([text], { type: "text/plain" }));
  return logs.length;
}

/** As if it were a link to a file. */
function saveFile(name: string, content: Blob): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000); // the browser reads it in its own time
}
