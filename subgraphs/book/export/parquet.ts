import { ByteWriter, type ColumnSource, ParquetWriter } from 'hyparquet-writer';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import { type ExportField, exportFields, streamedFieldNames } from '../../../schema/export-row.ts';

/*
 * Rows as a Parquet file, one row group at a time. Amounts are decimal digits in text columns, because no Parquet decimal holds the
 * 30 decimals of XNO and a float would round. DuckDB reads them with `amount::decimal(38, 0)`.
 */

type SchemaElement = ConstructorParameters<typeof ParquetWriter>[0]['schema'][number];

interface ParquetColumn {
  readonly name: string;
  readonly element: SchemaElement;
  value(row: JsonObject): unknown;
}

const kinds = {
  text: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
  integer: { type: 'INT32' },
  time: { type: 'INT64', converted_type: 'TIMESTAMP_MILLIS' },
} as const;

const asText = (name: string) => (row: JsonObject) => row[name] ?? null;
const asJsonText = (name: string) => (row: JsonObject) => {
  const value = row[name] ?? null;
  return value === null ? null : JSON.stringify(value);
};
const columnTypes = {
  text: { ...kinds.text, of: asText },
  digits: { ...kinds.text, of: asText },
  integer: { ...kinds.integer, of: asText },
  time: { ...kinds.time, of: (name: string) => (row: JsonObject) => new Date(String(row[name])) },
  json: { ...kinds.text, of: asJsonText },
  json_list: { ...kinds.text, of: asJsonText },
} as const satisfies Record<ExportField['type'], object>;

function columnOf(name: string, { type, nullable }: ExportField): ParquetColumn {
  const { of, ...primitive } = columnTypes[type];
  const element: SchemaElement = { name, ...primitive, repetition_type: nullable ? 'OPTIONAL' : 'REQUIRED' };
  return { name, element, value: of(name) };
}

const columns: readonly ParquetColumn[] = streamedFieldNames.map(name => columnOf(name, exportFields[name]));

/** Writes one file: call `group` for each row group, then `end`. Each call returns the new bytes. */
export class ParquetFile {
  readonly #bytes = new ByteWriter();
  readonly #writer: ParquetWriter;

  constructor() {
    this.#writer = new ParquetWriter({
      writer: this.#bytes,
      schema: [{ name: 'book', num_children: columns.length }, ...columns.map(({ element }) => element)],
    });
  }

  group(rows: readonly JsonObject[]): Uint8Array {
    // No page index is written, because it would be in memory until the end and row groups are small.
    const columnData: ColumnSource[] = columns.map(({ name, value }) => ({
      name,
      data: rows.map(value),
      offsetIndex: false,
    }));
    this.#writer.write({ columnData, rowGroupSize: rows.length });
    return this.#taken();
  }

  /** `said` is written to the metadata at the end of the file. */
  end(said: Readonly<Record<string, string>>): Uint8Array {
    this.#writer.kvMetadata = Object.entries(said).map(([key, value]) => ({ key, value }));
    this.#writer.finish();
    return this.#taken();
  }

  /** Returns the bytes written since the last call, and reuses the buffer. */
  #taken(): Uint8Array {
    const taken = this.#bytes.getBytes().slice();
    this.#bytes.index = 0;
    return taken;
  }
}
