/** Groups of names that reach each other along the arrows, each as `a ↔ b`. */
export function circlesIn(arrows: Record<string, readonly string[]>): string[] {
  const reached = new Map(Object.keys(arrows).map((name) => [name, reachableFrom(name, arrows)]));
  const circles = [...reached].flatMap(([name, others]) => {
    const circle = [...others].filter((other) => reached.get(other)?.has(name));
    return circle.length > 0 ? [circle.sort().join(" ↔ ")] : [];
  });
  return [...new Set(circles)].sort();
}

function reachableFrom(start: string, arrows: Record<string, readonly string[]>): Set<string> {
  const reached = new Set<string>();
  const waiting = [...(arrows[start] ?? [])];
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    if (reached.has(name)) continue;
    reached.add(name);
    waiting.push(...(arrows[name] ?? []));
  }
  return reached;
}
