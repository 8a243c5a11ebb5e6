/** Base of the REST API, from the address of a service with or without `/v1`. */
export function toBaseUrl(address: string): string {
  return `${toServiceUrl(address)}/v1`;
}

/** Address of the service itself, where the dashboard is. */
export function toServiceUrl(address: string): string {
  return address.replace(/\/+$/, "").replace(/\/v1$/, "");
}
