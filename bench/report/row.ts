/** One line of the table. */
export interface Row {
  what: string;
  target?: string;
  measured: string;
  /** Something simpler measured in the same run, to divide by. */
  baseline?: string;
  /** Undefined where there is no target. */
  met?: boolean;
  /** What limits the figure, or how far to trust it. */
  note?: string;
}

/** A group of rows that is measured together. */
export interface Benchmark {
  name: string;
  about: string;
  /** What takes minutes tells each row as soon as it is there, and so keeps it if a later one cannot be measured. */
  run(told: (row: Row) => void): Promise<Row[]>;
}
