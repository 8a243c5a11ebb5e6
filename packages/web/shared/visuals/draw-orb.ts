import type { Picture } from "./use-painting.ts";

export type OrbMood = "resting" | "connecting" | "live" | "muted" | "dimmed";

export const ORB_BOT_BANDS = 4; // as many waves run around the body; more look ragged
export const ORB_USER_BANDS = 30;

/** The state of the orb, carried from frame to frame so that it moves smoothly. */
export class OrbState {
  mood: OrbMood = "resting";
  progress = 0;
  botLevel = 0;
  userLevel = 0;
  readonly botBands = new Float32Array(ORB_BOT_BANDS);
  readonly userBands = new Float32Array(ORB_USER_BANDS);
  presence = 0;
  #shownProgress = 0;
  #timeMs = 0;

  /** Rises fast, falls slowly, as the eye likes it. */
  follow(target: {
    botLevel: number;
    userLevel: number;
    botBands: Float32Array;
    userBands: Float32Array;
    timeMs: number;
  }): void {
    const frames = Math.min(MISSED_FRAMES_MAX, (target.timeMs - this.#timeMs) / FRAME_MS);
    this.#timeMs = target.timeMs;
    this.botLevel = ease(this.botLevel, target.botLevel, frames);
    this.userLevel = ease(this.userLevel, target.userLevel, frames);
    easeAll(this.botBands, target.botBands, frames);
    easeAll(this.userBands, target.userBands, frames);
    const wanted = this.mood === "dimmed" ? 0 : 1;
    this.presence += (wanted - this.presence) * share(0.08, frames);
    this.#shownProgress += (this.progress - this.#shownProgress) * share(0.1, frames);
  }

  get shownProgress(): number {
    return this.#shownProgress;
  }

  /** True in silence, once the picture has settled and frames no longer differ visibly. */
  get isSettled(): boolean {
    const presence = this.mood === "dimmed" ? 0 : 1;
    const away = [
      presence - this.presence,
      this.progress - this.#shownProgress,
      this.botLevel,
      ...this.botBands,
    ];
    return away.every((distance) => Math.abs(distance) < UNSEEN);
  }
}

const TICKS = 108;

/** The bot is the body in the middle, the user the ring of ticks around it. */
export function drawOrb(picture: Picture, orb: OrbState): void {
  const { paint, width, height } = picture;
  const size = Math.min(width, height);
  paint.translate(width / 2, height / 2);
  drawHalo(picture, orb, size);
  drawBody(picture, orb, size);
  drawTicks(picture, orb, size);
}

function drawHalo({ paint, palette }: Picture, orb: OrbState, size: number): void {
  const radius = size * (0.42 + 0.08 * orb.botLevel);
  const halo = paint.createRadialGradient(0, 0, size * 0.16, 0, 0, radius);
  halo.addColorStop(0, palette.accent);
  halo.addColorStop(1, transparent(palette.accent));
  paint.globalAlpha = (0.16 + 0.3 * orb.botLevel) * orb.presence;
  paint.fillStyle = halo;
  paint.fillRect(-size / 2, -size / 2, size, size);
}

function drawBody(picture: Picture, orb: OrbState, size: number): void {
  const { paint, palette, timeMs, still } = picture;
  const time = still ? 0 : timeMs / 1000;
  const breath = still ? 0 : 0.008 * Math.sin(time * 1.1);
  const radius = size * (0.255 + breath + 0.025 * orb.botLevel);
  const wobble = size * ((still ? 0 : 0.005) + (still ? 0.015 : 0.04) * orb.botLevel);
  const trace = (grow: number, phase: number) =>
    traceBlob(paint, {
      radius: radius * grow,
      wobble: wobble * grow,
      bands: orb.botBands,
      time: time + phase,
    });
  drawHollow(picture, radius, 1 - orb.presence);
  paint.fillStyle = palette.accent;
  for (const [grow, phase, alpha] of [
    [1.05 + 0.13 * orb.botLevel, 2.1, 0.14],
    [1.02 + 0.07 * orb.botLevel, 1, 0.26],
    [1, 0, 1],
  ] as const) {
    trace(grow, phase);
    paint.globalAlpha = alpha * orb.presence;
    paint.fill();
  }
  paint.save();
  paint.clip();
  drawLight(paint, radius, orb.presence);
  // Slow currents under the surface.
  paint.fillStyle = "white";
  for (const [x, y, grow, phase] of [
    [-0.3, 0.45, 0.95, 3.3],
    [0.4, 0.62, 0.85, 5.1],
  ] as const) {
    paint.translate(radius * x, radius * y);
    traceBlob(paint, {
      radius: radius * grow,
      wobble: wobble * 2 + size * 0.01,
      bands: orb.botBands,
      time: time * 0.7 + phase,
    });
    paint.globalAlpha = 0.07 * orb.presence;
    paint.fill();
    paint.translate(-radius * x, -radius * y);
  }
  paint.restore();
}

/** Light from above left, shade below right. */
function drawLight(paint: CanvasRenderingContext2D, radius: number, presence: number): void {
  const light = paint.createRadialGradient(
    -radius * 0.45,
    -radius * 0.55,
    0,
    -radius * 0.2,
    -radius * 0.25,
    radius * 1.5,
  );
  light.addColorStop(0, "rgb(255 255 255 / 0.38)");
  light.addColorStop(0.5, "rgb(255 255 255 / 0)");
  light.addColorStop(1, "rgb(0 20 16 / 0.34)");
  paint.globalAlpha = presence;
  paint.fillStyle = light;
  paint.fillRect(-radius * 1.6, -radius * 1.6, radius * 3.2, radius * 3.2);
}

/** Where the body was, or will be. */
function drawHollow({ paint, palette }: Picture, radius: number, strength: number): void {
  if (strength < 0.01) return;
  paint.beginPath();
  paint.arc(0, 0, radius, 0, 2 * Math.PI);
  paint.globalAlpha = 0.5 * strength;
  paint.fillStyle = palette.line;
  paint.fill();
  paint.globalAlpha = 0.7 * strength;
  paint.lineWidth = 1.5;
  paint.strokeStyle = palette.edge;
  paint.stroke();
}

function traceBlob(
  paint: CanvasRenderingContext2D,
  blob: { radius: number; wobble: number; bands: Float32Array; time: number },
): void {
  const steps = 90;
  paint.beginPath();
  for (let step = 0; step <= steps; step++) {
    const angle = (step / steps) * 2 * Math.PI;
    let offset = 0;
    for (let wave = 0; wave < blob.bands.length; wave++) {
      const strength = 0.25 + 0.75 * (blob.bands[wave] ?? 0);
      const turn = blob.time * (0.5 + wave * 0.23) * (wave % 2 ? -1 : 1);
      offset += (strength / (wave + 1.5)) * Math.sin((wave + 2) * angle + turn + wave * 1.7);
    }
    const radius = blob.radius + blob.wobble * offset;
    paint.lineTo(Math.cos(angle) * radius, Math.sin(angle) * radius);
  }
  paint.closePath();
}

function drawTicks({ paint, palette, timeMs, still }: Picture, orb: OrbState, size: number): void {
  const inner = size * 0.385;
  const sweep = still ? -1 : ((timeMs / 1800) % 1) * TICKS;
  paint.lineWidth = Math.max(1.5, size * 0.0062);
  paint.lineCap = "round";
  for (let tick = 0; tick < TICKS; tick++) {
    const angle = (tick / TICKS) * 2 * Math.PI - Math.PI / 2;
    // Mirrored left and right, low notes at the bottom where the voice seems to come from.
    const side = 1 - Math.abs((tick / TICKS) * 2 - 1);
    const strength = bandAt(orb.userBands, 1 - side) * (0.35 + 0.65 * orb.userLevel);
    const heard = orb.mood === "live" ? strength : 0;
    const length = size * (0.01 + 0.095 * heard);
    paint.strokeStyle = palette.ink;
    paint.globalAlpha = (orb.mood === "muted" || orb.mood === "dimmed" ? 0.16 : 0.28) + 0.6 * heard;
    if (orb.mood === "connecting") {
      const done = tick / TICKS <= orb.shownProgress;
      const glow = Math.max(0, 1 - ((sweep - tick + TICKS) % TICKS) / 26);
      if (done) paint.strokeStyle = palette.accent;
      paint.globalAlpha = Math.min(1, (done ? 0.85 : 0.18) + (still ? 0 : 0.5 * glow));
    }
    paint.beginPath();
    paint.moveTo(Math.cos(angle) * inner, Math.sin(angle) * inner);
    paint.lineTo(Math.cos(angle) * (inner + length), Math.sin(angle) * (inner + length));
    paint.stroke();
  }
  paint.globalAlpha = 1;
}

/** Fading to plain "transparent" would pass through grey. */
function transparent(colour: string): string {
  return `rgb(from ${colour} r g b / 0)`;
}

function bandAt(bands: Float32Array, share: number): number {
  const place = share * (bands.length - 1);
  const below = Math.floor(place);
  const low = bands[below] ?? 0;
  const high = bands[below + 1] ?? low;
  return low + (high - low) * (place - below);
}

const UNSEEN = 0.004; // of 1, as the steps of a colour
const FRAME_MS = 1000 / 60;
const MISSED_FRAMES_MAX = 12;

/** How much of the way is covered when frames were left out. */
function share(ofFrame: number, frames: number): number {
  return 1 - (1 - ofFrame) ** frames;
}

function ease(from: number, to: number, frames: number): number {
  return from + (to - from) * share(to > from ? 0.4 : 0.12, frames);
}

function easeAll(from: Float32Array, to: Float32Array, frames: number): void {
  for (let index = 0; index < from.length; index++) {
    from[index] = ease(from[index] ?? 0, to[index] ?? 0, frames);
  }
}
