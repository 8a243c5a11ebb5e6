import { toSize } from "../../shared/byte-size.ts";
import { Disclosure } from "../../shared/disclosure.tsx";
import { toDelay } from "../../shared/duration.ts";
import { useStore } from "../../shared/use-store.ts";
import { latency, linkFigures, timeline } from "../state/client-state.ts";
import { ConnectSteps } from "./connect-steps.tsx";
import { Figure, figureGrid } from "../../shared/figures/figure.tsx";
import type { LinkFigures } from "../../shared/figures/link-figures.ts";
import { MetricsTable } from "./metrics-table.tsx";
import { medianNote } from "../../shared/figures/median-note.ts";

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
