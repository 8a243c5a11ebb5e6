/**
 * Subject names in the certificates of controllers and gateways, the same on every machine. A gateway's key therefore
 * cannot impersonate a controller, and addresses may change without new certificates.
 */
export const peerNames = {
  controller: "controller.vocalhost.internal",
  gateway: "gateway.vocalhost.internal",
} as const;
