/** Parameters of a phone stream that name the agent, ours first; the value is `{agent}.{organization}`. */
const SERVICE_HOST_PARAMETERS = ["_serviceHost", "_pipecatCloudServiceHost"] as const;

/** Who a call is for, as its stream's own parameters say. */
export function serviceHostIn(parameters: Readonly<Record<string, unknown>>): string | undefined {
  const values = SERVICE_HOST_PARAMETERS.map((name) => parameters[name]);
  return values.find((value): value is string => typeof value === "string" && value !== "");
}
