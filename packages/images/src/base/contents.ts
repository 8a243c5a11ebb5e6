/** Comes from the npm package of its platform, as the repository's own Node does. */
export const NODE_VERSION = "24.21.0";

export const NPM_VERSION = "11.19.1";

/** Debian packages: libraries of Node and native modules, a shell and the usual commands, certificates. */
export const DEBIAN_PACKAGES = [
  "base-files",
  "base-passwd",
  "ca-certificates",
  "coreutils",
  "dash",
  "gcc-12-base",
  "libacl1",
  "libattr1",
  "libc6",
  "libgcc-s1",
  "libgmp10",
  "libpcre2-8-0",
  "libselinux1",
  "libstdc++6",
  "netbase",
] as const;

/** Tells whether containers may read the file. Copyright notices stay. */
export function isWantedOfDebian(path: string): boolean {
  if (/^usr\/share\/doc\/[^/]+(\/copyright)?$/.test(path) || path === "usr/share/doc") return true;
  return !/^usr\/share\/(?:doc|man|info|locale|lintian|bug|common-licenses\/GFDL.*|menu|bash-completion)(?:\/|$)|^usr\/lib\/[^/]+\/(?:gconv|audit)(?:\/|$)|^usr\/libexec\//.test(
    path,
  );
}

/** Tells whether programs may load the file: types, maps, sources and tests are left out. */
export function isWantedOfNpm(path: string): boolean {
  return (
    !/\.(?:d\.[cm]?ts|map|md|markdown|tsbuildinfo|flow)$|\.ts$|(?:^|\/)(?:\.github|__tests__|\.package-lock\.json|\.bin)(?:\/|$)|\/(?:CHANGELOG|HISTORY)[^/]*$/i.test(
      path,
    ) || /(?:^|\/)(?:LICEN[CS]E|NOTICE|COPYING)[^/]*$/i.test(path)
  );
}
