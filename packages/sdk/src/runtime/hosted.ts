let hosted = false;

/** Makes the runner's `main()` do nothing: this process is an instance, and listens already. */
export function becomeHosted(): void {
  hosted = true;
}

export function isHosted(): boolean {
  return hosted;
}
