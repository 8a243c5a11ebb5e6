/** Source descriptions that promise more than is in them, alone and behind a report. */
export function invalidSourceDescriptions(ssrc: number): Buffer[] {
  const truncated = Buffer.from([0x81, 202, 0, 2, 0, 0, 0, 0, 1, 200, 0x41, 0x42]);
  truncated.writeUInt32BE(ssrc, 4);
  const report = Buffer.from([0x80, 201, 0, 1, 0, 0, 0, 0]);
  report.writeUInt32BE(ssrc, 4);
  return [truncated, Buffer.concat([report, truncated])];
}
