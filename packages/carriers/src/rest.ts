export function basicAuthorization(user: string, password: string): string {
  return `Basic ${btoa(`${user}:${password}`)}`;
}

export function formBody(fields: Record<string, string | undefined>): string {
  const set = Object.entries(fields).filter((pair): pair is [string, string] => pair[1] !== undefined);
  return new URLSearchParams(set).toString();
}
