import { useEffect, useRef } from "react";
import { onThemeChange } from "../theme.ts";
import { prepareCanvas, readPalette, type Palette } from "./canvas-paint.ts";

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
const STILL_FRAME_MS = 100; // for people who asked for little motion

/** Redraws a canvas at the pace of the screen, at half of it where nothing moves fast, or slower where motion is unwanted. */
export function usePainting(draw: (picture: Picture) => void, { calm }: { calm: boolean }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const latest = useRef({ draw, calm });
  useEffect(() => {
    latest.current = { draw, calm };
  });
  useEffect(() => {
    const element = canvas.current;
    if (!element) return undefined;
    const motion = matchMedia("(prefers-reduced-motion: reduce)");
    let palette: Palette | undefined;
    let frame = 0;
    let timer = 0;
    let drawnMs = 0;
    const forget = onThemeChange(() => (palette = undefined));
    const redraw = (timeMs: number) => {
      if (motion.matches) timer = window.setTimeout(onNextFrame, STILL_FRAME_MS);
      else onNextFrame();
      if (latest.current.calm && timeMs - drawnMs < CALM_FRAME_MS) return;
      drawnMs = timeMs;
      const prepared = prepareCanvas(element);
      if (!prepared) return;
      palette ??= readPalette(element);
      latest.current.draw({ ...prepared, timeMs, palette, still: motion.matches });
    };
    const onNextFrame = () => {
      frame = requestAnimationFrame(redraw);
    };
    onNextFrame();
    return () => {
      clearTimeout(timer);
      cancelAnimationFrame(frame);
      forget();
    };
  }, []);
  return canvas;
}
