import { toSize } from "../../shared/byte-size.ts";
import { Disclosure } from "../../shared/disclosure.tsx";
import { toDelay } from "../../shared/duration.ts";
import { Figure, figureGrid } from "../../shared/figures/figure.tsx";
import type { LinkFigures } from "../../shared/figures/link-figures.ts";
import { medianNote } from "../../shared/figures/median-note.ts";
import { liveCells } from "../../shared/phone/call-cells.ts";
import { callFigures } from "../../shared/phone/phone-state.ts";
import { Violations } from "../../shared/phone/violations.tsx";
import { useStore } from "../../shared/use-store.ts";
import { summarize, type MetricRow } from "../state/bot-metrics.ts";
import { latency, linkFigures, metrics, timeline } from "../state/client-state.ts";
import { ConnectSteps } from "./connect-steps.tsx";

/** How fast the bot answers and how well the link carries it. */
export function FiguresPanel() {
  const { answered, voiceToVoice } = useStore(latency);
  const { totalMs, firstSoundMs } = useStore(timeline);
  const figures = useStore(linkFigures);
  return (
    <section aria-label="Figures" className="mx-auto w-full max-w-2xl">
      <dl className={figureGrid}>
        <Figure
          name="Answers in"
          hint="From the end of your turn, as your bot saw it, to its first word"
          value={toDelay(answered.at(-1))}
          note={medianNote(answered)}
        />
        <Figure
          name="Voice to voice"
          hint="From your last sound to the bot's first, as heard on this page"
          value={toDelay(voiceToVoice.at(-1))}
          note={medianNote(voiceToVoice)}
        />
        <Figure
          name="Connected in"
          hint="From pressing the button to the bot being ready"
          value={toDelay(totalMs)}
          note={firstSoundMs === undefined ? "" : `first sound ${toDelay(firstSoundMs)}`}
        />
        <LinkCells figures={figures} />
      </dl>
      <Disclosure title="Details">
        <div className="grid gap-5">
          <ConnectSteps />
          <MetricsTable />
        </div>
      </Disclosure>
    </section>
  );
}

function LinkCells({ figures }: { figures: LinkFigures | undefined }) {
  return (
    <>
      {figures?.gaps === undefined ? <PacketCells figures={figures} /> : <SocketCells figures={figures} />}
      <Figure
        name="Down"
        hint="From the bot to this page"
        value={toRate(figures?.downKbps)}
        note={toBytes(figures?.bytesDown)}
      />
      <Figure
        name="Up"
        hint="From this page to the bot"
        value={toRate(figures?.upKbps)}
        note={toBytes(figures?.bytesUp)}
      />
    </>
  );
}

function PacketCells({ figures }: { figures: LinkFigures | undefined }) {
  const { roundTripMs, jitterMs, lossPercent, bufferMs, route } = figures ?? {};
  return (
    <>
      <Figure
        name="Round trip"
        hint="Time for a packet to the bot's machine and back"
        value={toDelay(roundTripMs)}
        note={route ?? ""}
      />
      <Figure
        name="Jitter"
        hint="How unevenly packets arrive"
        value={jitterMs === undefined ? "–" : `${jitterMs.toFixed(1)} ms`}
        note={bufferMs === undefined ? "" : `buffer ${toDelay(bufferMs)}`}
      />
      <Figure
        name="Packet loss"
        hint="Voice packets that never arrived"
        value={lossPercent === undefined ? "–" : `${lossPercent.toFixed(1)} %`}
        note=""
      />
    </>
  );
}

/** A socket hides packets; what can be seen is how evenly the voice can be played. */
function SocketCells({ figures }: { figures: LinkFigures }) {
  return (
    <>
      <Figure name="Route" hint="How the voice travels" value={figures.route ?? "–"} note="one socket" />
      <Figure name="Buffer" hint="Bot audio waiting to be played" value={toDelay(figures.bufferMs)} note="" />
      <Figure
        name="Gaps"
        hint="Times the bot's voice cut out for lack of data"
        value={String(figures.gaps)}
        note=""
      />
    </>
  );
}

function toRate(kbps: number | undefined): string {
  return kbps === undefined ? "–" : `${Math.round(kbps)} kbit/s`;
}

function toBytes(bytes: number | undefined): string {
  return bytes === undefined ? "" : `${toSize(bytes)} in total`;
}

/** How the call is going. */
export function LiveFigures() {
  const figures = useStore(callFigures);
  const { answered } = useStore(latency);
  return (
    <section aria-label="Figures" className="mx-auto w-full max-w-2xl">
      <dl className={figureGrid}>
        {liveCells(figures, answered).map((cell) => (
          <Figure key={cell.name} {...cell} />
        ))}
      </dl>
      <Disclosure title="Details">
        <div className="grid gap-5">
          <ConnectSteps />
          <Violations violations={figures.violations} />
        </div>
      </Disclosure>
    </section>
  );
}

/** The bot's own metrics of its services, if it sends them. */
function MetricsTable() {
  const { rows, tokens } = useStore(metrics);
  if (rows.length === 0 && tokens.total === 0) {
    return (
      <p className="text-[0.8125rem] text-muted">
        A bot that sends metrics shows them here: time to first byte, processing time, tokens.
      </p>
    );
  }
  return (
    <div>
      <h3 className="mb-1 text-sm font-semibold">Measured by the bot</h3>
      <table className="w-full text-left text-[0.8125rem] tabular-nums">
        <thead className="text-muted">
          <tr>
            <th className="py-1 font-medium">Measurement</th>
            <th className="py-1 font-medium">Service</th>
            <th className="py-1 text-right font-medium">Last</th>
            <th className="py-1 text-right font-medium">Median or sum</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <Row key={`${row.name} ${row.processor}`} row={row} />
          ))}
        </tbody>
      </table>
      {tokens.total > 0 && (
        <p className="mt-2 text-[0.8125rem] text-muted tabular-nums">
          Tokens: {tokens.prompt} in, {tokens.completion} out, {tokens.total} in all
        </p>
      )}
    </div>
  );
}

function Row({ row }: { row: MetricRow }) {
  const { last, typical } = summarize(row);
  const show = (value: number) =>
    row.unit === "seconds" ? toDelay(value * 1000) : String(Math.round(value));
  return (
    <tr className="border-t border-line">
      <td className="py-1.5">{row.name}</td>
      <td className="py-1.5 break-all">{row.processor}</td>
      <td className="py-1.5 text-right">{show(last)}</td>
      <td className="py-1.5 text-right">{show(typical)}</td>
    </tr>
  );
}
