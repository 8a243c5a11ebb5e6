/** An invalid setting. The message names the setting and how the operator corrects it. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}
