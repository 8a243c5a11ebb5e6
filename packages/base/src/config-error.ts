/** A setting that the operator has to change; its message says which and how. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}
