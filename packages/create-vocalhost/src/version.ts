/** Version of this package, the SDK and the command; a test compares it with the manifests. */
export const version = "0.1.0";
