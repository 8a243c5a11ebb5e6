/** Of this package, the SDK and the command alike; a test holds it against the manifests. */
export const version = "0.1.0";
