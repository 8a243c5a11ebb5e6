import { toDelay } from "../duration.ts";
import type { Picture } from "./use-painting.ts";
import { HISTORY_MS, SLOT_MS, type VoiceHistory } from "../voice/voice-history.ts";

const SLOTS_PER_BAR = 2;
const LABEL_ROOM_PX = 24;

/** The last seconds of talk: the user above the line, the bot below, newest at the right. */
export function drawRibbon(
  picture: Picture,
  talk: { history: VoiceHistory; nowMs: number; gaps: { fromMs: number; toMs: number }[] },
): void {
  const { paint, width, height, palette } = picture;
  const middle = height / 2;
  const xOf = (atMs: number) => width * (1 - (talk.nowMs - atMs) / HISTORY_MS);
  const barMs = SLOT_MS * SLOTS_PER_BAR;
  const barWidth = Math.max(1.5, (width / HISTORY_MS) * barMs * 0.55);
  paint.lineCap = "round";
  paint.lineWidth = barWidth;
  const newest = Math.floor(talk.history.newestSlot / SLOTS_PER_BAR);
  const oldest = newest - HISTORY_MS / barMs;
  for (let bar = newest; bar > oldest; bar--) {
    const x = xOf((bar + 0.5) * barMs);
    if (x < 0 || x > width) continue;
    const { user, bot } = loudest(talk.history, bar * SLOTS_PER_BAR);
    const fade = Math.min(1, (x / width) * 5);
    drawBar(paint, {
      x,
      from: middle - 3,
      length: -user * (middle - 8),
      colour: palette.ink,
      fade: fade * 0.75,
    });
    drawBar(paint, { x, from: middle + 3, length: bot * (middle - 8), colour: palette.accent, fade });
  }
  paint.globalAlpha = 1;
  paint.lineWidth = 1;
  paint.strokeStyle = palette.line;
  strokeLine(paint, 0, width, middle);
  for (const gap of talk.gaps) drawGap(picture, gap, xOf);
  paint.globalAlpha = 1;
}

function drawBar(
  paint: CanvasRenderingContext2D,
  bar: { x: number; from: number; length: number; colour: string; fade: number },
): void {
  if (Math.abs(bar.length) < 0.5) return;
  paint.globalAlpha = bar.fade;
  paint.strokeStyle = bar.colour;
  paint.beginPath();
  paint.moveTo(bar.x, bar.from);
  paint.lineTo(bar.x, bar.from + bar.length);
  paint.stroke();
}

/** The wait between the two voices, with its length. */
function drawGap(
  { paint, height, palette, width }: Picture,
  gap: { fromMs: number; toMs: number },
  xOf: (atMs: number) => number,
): void {
  const from = xOf(gap.fromMs);
  const to = xOf(gap.toMs);
  if (to < 0 || from > width) return;
  const y = height / 2;
  paint.globalAlpha = Math.min(1, (to / width) * 5);
  paint.strokeStyle = palette.muted;
  paint.lineWidth = 2;
  strokeLine(paint, Math.max(0, from), Math.max(to, from + 2), y);
  if ((from + to) / 2 < LABEL_ROOM_PX) return;
  paint.fillStyle = palette.muted;
  paint.font = "500 11px ui-sans-serif, system-ui, sans-serif";
  paint.textAlign = "center";
  paint.fillText(toDelay(gap.toMs - gap.fromMs), (from + to) / 2, y - 8);
}

function strokeLine(paint: CanvasRenderingContext2D, from: number, to: number, y: number): void {
  paint.beginPath();
  paint.moveTo(from, y);
  paint.lineTo(to, y);
  paint.stroke();
}

function loudest(history: VoiceHistory, slot: number): { user: number; bot: number } {
  const loud = { user: 0, bot: 0 };
  for (let index = 0; index < SLOTS_PER_BAR; index++) {
    const { user, bot } = history.at(slot + index);
    loud.user = Math.max(loud.user, user);
    loud.bot = Math.max(loud.bot, bot);
  }
  return loud;
}
