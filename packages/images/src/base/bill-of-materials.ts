import { digestOf } from "../digest.ts";
import type { Platform } from "../platform.ts";
import { NODE_VERSION, NPM_VERSION } from "./contents.ts";
import type { DebianPackage } from "./debian-root.ts";
import type { InstalledPackage } from "./npm-packages.ts";

export interface Materials {
  name: string;
  version: string;
  platform: Platform;
  debian: readonly DebianPackage[];
  npm: readonly InstalledPackage[];
}

/** Lists everything an image contains as an SPDX 2.3 document. The same image gives the same document. */
export function writeBillOfMaterials({ name, version, platform, debian, npm }: Materials): string {
  const packages = [
    ...debian.map((one) =>
      spdxPackage({
        ...one,
        license: undefined, // in /usr/share/doc/<package>/copyright of the image
        url: `pkg:deb/debian/${encodeURIComponent(one.name)}@${encodeURIComponent(one.version)}?arch=${one.architecture}`,
      }),
    ),
    ...uniqueBy([
      { name: "node", version: NODE_VERSION, license: "MIT" },
      { name: "npm", version: NPM_VERSION, license: "Artistic-2.0" },
      ...npm,
    ]).map((one) =>
      spdxPackage({
        ...one,
        url: `pkg:npm/${one.name.replace("@", "%40")}@${encodeURIComponent(one.version)}`,
      }),
    ),
  ];
  const contents = digestOf(JSON.stringify(packages)).slice("sha256:".length);
  const image = {
    SPDXID: "SPDXRef-image",
    name,
    versionInfo: version,
    downloadLocation: "NOASSERTION",
    filesAnalyzed: false,
  };
  const document = {
    spdxVersion: "SPDX-2.3",
    dataLicense: "CC0-1.0",
    SPDXID: "SPDXRef-DOCUMENT",
    name: `${name}:${version} for ${platform.os}/${platform.architecture}`,
    documentNamespace: `https://github.com/vocalhost/vocalhost/sbom/${contents}`,
    creationInfo: { created: "1970-01-01T00:00:00Z", creators: ["Tool: vocalhost"] },
    packages: [image, ...packages],
    relationships: [
      { spdxElementId: "SPDXRef-DOCUMENT", relationshipType: "DESCRIBES", relatedSpdxElement: image.SPDXID },
      ...packages.map(({ SPDXID }) => ({
        spdxElementId: image.SPDXID,
        relationshipType: "CONTAINS",
        relatedSpdxElement: SPDXID,
      })),
    ],
  };
  return `${JSON.stringify(document, undefined, 2)}\n`;
}

function spdxPackage({ name, version, license, url }: InstalledPackage & { url: string }) {
  return {
    SPDXID: `SPDXRef-${url.replace(/[^a-zA-Z0-9.-]+/g, "-")}`,
    name,
    versionInfo: version,
    downloadLocation: "NOASSERTION",
    filesAnalyzed: false,
    licenseDeclared: isLicenseExpression(license) ? license : "NOASSERTION",
    externalRefs: [{ referenceCategory: "PACKAGE-MANAGER", referenceType: "purl", referenceLocator: url }],
  };
}

/** Manifests say all kinds of things; SPDX takes its own identifiers only. */
function isLicenseExpression(license: string | undefined): license is string {
  return (
    license !== undefined && /^\(?[A-Za-z0-9.+-]+(?: (?:OR|AND|WITH) [A-Za-z0-9.+-]+)*\)?$/.test(license)
  );
}

function uniqueBy(packages: InstalledPackage[]): InstalledPackage[] {
  return [...new Map(packages.map((one) => [`${one.name}@${one.version}`, one])).values()].toSorted(
    (one, other) => (`${one.name}@${one.version}` < `${other.name}@${other.version}` ? -1 : 1),
  );
}
