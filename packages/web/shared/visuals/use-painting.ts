import { useEffect, useRef } from "react";
import { onThemeChange } from "../theme.ts";

export interface Picture {
  paint: CanvasRenderingContext2D;
  width: number;
  height: number;
  timeMs: number;
  palette: Palette;
  /** The user asked the system for less motion. */
  still: boolean;
}

const CALM_FRAME_MS = 30; // every second frame of an ordinary screen
const STILL_FRAME_MS = 100; // for people who asked for little motion; all canvases of a page at the same time

export interface Painter {
  draw(picture: Picture): void;
  /** Nothing moves fast: half the pace of the screen will do. */
  calm: boolean;
  /** Drawn once more, a still picture would be the same; until the component renders again. */
  isSettled?(): boolean;
}

/** Redraws a canvas at the pace of the screen; slower where motion is unwanted, and not at all once that has settled. */
export function usePainting(painter: Painter) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const latest = useRef(painter);
  const wake = useRef<() => void>(undefined);
  useEffect(() => {
    latest.current = painter;
    wake.current?.();
  });
  useEffect(() => {
    const element = canvas.current;
    if (!element) return undefined;
    const motion = matchMedia("(prefers-reduced-motion: reduce)");
    let palette: Palette | undefined;
    let frame = 0;
    let timer = 0;
    let drawnMs = 0;
    const redraw = (timeMs: number) => {
      frame = 0;
      const { draw, calm, isSettled } = latest.current;
      if (calm && timeMs - drawnMs < CALM_FRAME_MS) return onNextFrame();
      drawnMs = timeMs;
      const prepared = prepareCanvas(element);
      palette ??= readPalette(element);
      if (prepared) draw({ ...prepared, timeMs, palette, still: motion.matches });
      if (!motion.matches) onNextFrame();
      else if (!isSettled?.())
        timer = window.setTimeout(onNextFrame, STILL_FRAME_MS - (timeMs % STILL_FRAME_MS));
    };
    const onNextFrame = () => {
      clearTimeout(timer);
      frame ||= requestAnimationFrame(redraw);
    };
    const forget = onThemeChange(() => {
      palette = undefined;
      onNextFrame();
    });
    const sizes = new ResizeObserver(onNextFrame);
    sizes.observe(element);
    motion.addEventListener("change", onNextFrame);
    wake.current = onNextFrame;
    onNextFrame();
    return () => {
      clearTimeout(timer);
      cancelAnimationFrame(frame);
      forget();
      sizes.disconnect();
      motion.removeEventListener("change", onNextFrame);
      wake.current = undefined;
    };
  }, []);
  return canvas;
}

/** Colours of the page as the canvas needs them. */
interface Palette {
  ink: string;
  muted: string;
  edge: string;
  line: string;
  accent: string;
  accentDeep: string;
  accentSoft: string;
}

function readPalette(element: Element): Palette {
  const style = getComputedStyle(element);
  const read = (name: string) => style.getPropertyValue(name);
  return {
    ink: read("--ink"),
    muted: read("--muted"),
    edge: read("--edge"),
    line: read("--line"),
    accent: read("--accent"),
    accentDeep: read("--accent-deep"),
    accentSoft: read("--accent-soft"),
  };
}

/** Makes the canvas as sharp as the screen and clears it; sizes are CSS pixels from then on. */
function prepareCanvas(
  canvas: HTMLCanvasElement,
): { paint: CanvasRenderingContext2D; width: number; height: number } | undefined {
  const paint = canvas.getContext("2d");
  const width = canvas.clientWidth;
  const height = canvas.clientHeight;
  if (!paint || width === 0) return undefined;
  const ratio = Math.min(window.devicePixelRatio || 1, 3);
  if (canvas.width !== Math.round(width * ratio)) canvas.width = Math.round(width * ratio);
  if (canvas.height !== Math.round(height * ratio)) canvas.height = Math.round(height * ratio);
  paint.setTransform(ratio, 0, 0, ratio, 0, 0);
  paint.clearRect(0, 0, width, height);
  return { paint, width, height };
}
