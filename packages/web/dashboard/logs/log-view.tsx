import { Link } from "@tanstack/react-router";
import type { LogLine } from "@vocalhost/protocol";
import { useEffect, useState } from "react";
import { Button } from "../../shared/button.tsx";
import { useStore } from "../../shared/use-store.ts";
import { toSentence } from "../data/problem.ts";
import { Facts } from "../ui/card.tsx";
import { CopyText, toShortId } from "../ui/copy-text.tsx";
import { Alert, Empty } from "../ui/notice.tsx";
import { say } from "../ui/toast.tsx";
import { downloadLog } from "./download-log.ts";
import { createFollowedLog, readEarlier, type LogWish } from "./follow-log.ts";
import { LINES_MAX, type LogBuffer } from "./log-buffer.ts";
import { LogList } from "./log-list.tsx";

interface LogViewProps {
  agentName: string;
  sessionId?: string;
  query?: string;
  height: string;
}

/** An agent's log as it grows: over all its instances, or of one session. */
export function LogView({ height, ...wish }: LogViewProps) {
  // Another wish is another log: nothing of the one before may stay.
  return <Followed key={JSON.stringify(wish)} wish={wish} height={height} />;
}

function Followed({ wish, height }: { wish: LogWish; height: string }) {
  const [{ buffer, state, follow }] = useState(() => createFollowedLog(wish));
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
        <Alert tone="busy" title="The live log is interrupted, trying again">
          {now.why}
        </Alert>
      )}
      <div className="flex flex-wrap items-center gap-2">
        <Button size="small" icon={paused ? "play" : "pause"} onClick={() => pause(!paused)}>
          {paused ? "Go on" : "Pause"}
        </Button>
        <Button
          size="small"
          icon="download"
          onClick={() =>
            void downloadLog(wish).then(
              (count) => say(`${count} lines downloaded`),
              (error: unknown) => say(toSentence(error), "bad"),
            )
          }
        >
          Download
        </Button>
        <Earlier wish={wish} buffer={buffer} />
        <span role="status" className="ml-auto text-[0.8125rem] text-muted tabular-nums">
          {paused ? `Paused, ${shown.waiting} new` : now.kind === "live" ? "Live" : "Connecting"} ·{" "}
          {shown.lines.length} {shown.lines.length === 1 ? "line" : "lines"}
        </span>
      </div>
      {shown.lines.length === 0 ? (
        <div className={`grid content-center rounded-xl border border-line bg-paper ${height}`}>
          <Empty icon="log" title={wish.query ? "No line contains this" : "Nothing printed yet"}>
            Lines show here as instances print them.
          </Empty>
        </div>
      ) : (
        <LogList shown={shown} label="Log lines" height={height} selected={selected} onSelect={setSelected} />
      )}
      {line && <LineDetails line={line} agentName={wish.agentName} />}
    </div>
  );
}

const EARLIER_LINES = 5_000;

function Earlier({ wish, buffer }: { wish: LogWish; buffer: LogBuffer }) {
  const [busy, setBusy] = useState(false);
  const { lines } = useStore(buffer);
  const first = lines[0];
  if (!first || lines.length >= LINES_MAX) return null;
  const read = async () => {
    const earlier = await readEarlier(wish, { before: first.timestamp, limit: EARLIER_LINES });
    const countBefore = buffer.get().lines.length;
    buffer.addEarlier(earlier);
    const added = buffer.get().lines.length - countBefore;
    say(added === 0 ? "There are no earlier lines" : `${added} earlier lines are above`);
  };
  return (
    <Button
      size="small"
      disabled={busy}
      onClick={() => {
        setBusy(true);
        read()
          .catch((error: unknown) => say(toSentence(error), "bad"))
          .finally(() => setBusy(false));
      }}
    >
      {busy ? "Reading …" : "Earlier lines"}
    </Button>
  );
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
            ) : (
              "none"
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
