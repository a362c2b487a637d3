/** Formats of a streamed export of which a part can be told from the whole, row by row. */
export type RowFormat = 'csv' | 'ndjson';

const begins = { csv: /^(\d+),/, ndjson: /^\{"seq":(\d+),/ } as const satisfies Record<RowFormat, RegExp>;
/** Longer than what a row of either begins with, up to its seq. */
const BEGINNING_BYTES = 24;
const QUOTE = 0x22;
const LINE_FEED = 0x0a;

/**
 * Finds the rows in the bytes of a streamed export as they come: how many there are, and where the last whole one ends, so
 * that whoever was cut off goes on behind it. A line feed within quotation marks ends no row of CSV.
 */
export class ExportRows {
  rows = 0;
  /** Of the last whole row; 0 before the first. */
  last_seq = 0;
  /** How many bytes go before and with it, the line of names included. */
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

  /** Forgets what came behind the last whole row: it will come again. */
  cut(): void {
    this.#bytes = this.whole_bytes;
    this.#quoted = false;
    this.#beginning = '';
  }

  #end(): void {
    const [, seq] = begins[this.#format].exec(this.#beginning) ?? [];
    // The line of names is whole too; the last line of NDJSON is none of the rows, and comes anew.
    const names = this.#format === 'csv' && this.rows === 0;
    if (seq !== undefined) {
      this.rows++;
      this.last_seq = Number(seq);
    }
    if (seq !== undefined || names) this.whole_bytes = this.#bytes;
    this.#beginning = '';
  }
}
