/** Formats in which the rows of an incomplete file can be counted. */
export type RowFormat = 'csv' | 'ndjson';

const begins = { csv: /^(\d+),/, ndjson: /^\{"seq":(\d+),/ } as const satisfies Record<RowFormat, RegExp>;
/** Number of characters kept of each line. In both formats it covers the beginning of a row up to its seq. */
const BEGINNING_BYTES = 24;
const QUOTE = 0x22;
const LINE_FEED = 0x0a;

/**
 * Counts the rows of a streamed export and finds the end of the last complete row, from which an interrupted export continues. A
 * line feed within quotation marks does not end a CSV row.
 */
export class ExportRows {
  rows = 0;
  /** Seq of the last complete row; 0 before the first. */
  last_seq = 0;
  /** Number of bytes up to the end of that row, including the CSV header. */
  whole_bytes = 0;
  readonly #format: RowFormat;
  #bytes = 0;
  #quoted = false;
  #beginning = '';

  constructor(format: RowFormat) {
    this.#format = format;
  }

  take(piece: Uint8Array): void {
    for (const byte of piece) {
      this.#bytes++;
      if (byte === QUOTE && this.#format === 'csv') this.#quoted = !this.#quoted;
      if (byte === LINE_FEED && !this.#quoted) this.#end();
      else if (this.#beginning.length < BEGINNING_BYTES) this.#beginning += String.fromCharCode(byte);
    }
  }

  /** Discards the bytes after the last complete row, because they will be sent again. */
  cut(): void {
    this.#bytes = this.whole_bytes;
    this.#quoted = false;
    this.#beginning = '';
  }

  #end(): void {
    const [, seq] = begins[this.#format].exec(this.#beginning) ?? [];
    // The CSV header counts as complete. The last line of NDJSON is not a row, so it is sent again.
    const names = this.#format === 'csv' && this.rows === 0;
    if (seq !== undefined) {
      this.rows++;
      this.last_seq = Number(seq);
    }
    if (seq !== undefined || names) this.whole_bytes = this.#bytes;
    this.#beginning = '';
  }
}
