/** One line of the table. */
export interface Row {
  what: string;
  target?: string;
  measured: string;
  /** Something simpler measured in the same run, to divide by. */
  baseline?: string;
  /** Undefined where there is no target. */
  met?: boolean;
  /** Limits of the figure, or how far to trust it. */
  note?: string;
}

/** A group of rows that is measured together. */
export interface Benchmark {
  name: string;
  about: string;
  /** A benchmark that takes minutes reports each row at once, and so keeps it if a later one fails. */
  run(told: (row: Row) => void): Promise<Row[]>;
}
