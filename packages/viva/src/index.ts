// Sessions
export { Engine, openEngine, SAMPLE_RATES_HZ, type EngineFigures, type EngineOptions } from "./engine.ts";

// Models
export { readModel, type ModelHeader, type ModelName } from "./model-file.ts";
