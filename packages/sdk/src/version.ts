/** Version of this package, as reported to clients. */
export const SDK_VERSION = "0.1.0";
