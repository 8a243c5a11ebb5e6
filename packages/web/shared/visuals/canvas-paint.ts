/** Colours of the page as the canvas needs them. */
export interface Palette {
  ink: string;
  muted: string;
  edge: string;
  line: string;
  accent: string;
  accentDeep: string;
  accentSoft: string;
}

export function readPalette(element: Element): Palette {
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
export function prepareCanvas(
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
