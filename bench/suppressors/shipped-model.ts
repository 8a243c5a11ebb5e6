import { readFileSync } from "node:fs";

export interface Layers {
  conv: number;
  hidden: number;
  holdHidden: number;
}

/** Sizes of the layers of the model that ships: the second line of its file is JSON. */
export function readModel(name: "tel" | "pro"): Layers {
  const path = new URL(`../../packages/viva/models/${name}.viva`, import.meta.url);
  const [, header = "{}"] = readFileSync(path).toString("latin1").split("\n", 2);
  return JSON.parse(header) as Layers;
}
