/**
 * What certificates of the two kinds are made out to, whatever machine they are on: a gateway's key opens no controller
 * to other gateways, and addresses may change without new certificates.
 */
export const peerNames = {
  controller: "controller.vocalhost.internal",
  gateway: "gateway.vocalhost.internal",
} as const;
