/** Version of this package, as clients see it. */
export const SDK_VERSION = "0.1.0";
