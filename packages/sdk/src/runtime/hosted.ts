let hosted = false;

/** From now on `main()` of the runner does nothing: this process is an instance and listens already. */
export function becomeHosted(): void {
  hosted = true;
}

export function isHosted(): boolean {
  return hosted;
}
