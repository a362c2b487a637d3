import { parquetMetadata, parquetReadObjects } from 'hyparquet';
import { beforeAll, expect, it } from 'vitest';
import { atomicAmount } from '../../../../schema/amount.ts';
import type { JsonObject } from '../../../../schema/canonical-json.ts';
import { agentId } from '../../../../schema/ids.ts';
import { spanOf } from '../../../../subgraphs/book/export/pages.ts';
import { bookStreams } from '../../../../subgraphs/book/export/stream.ts';
import { bookOf } from '../../../harness/export/book.ts';
import { freshStore } from '../../../harness/store.ts';

const base_url = 'http://127.0.0.1:4000';
let store: Awaited<ReturnType<typeof freshStore>>;
const agent_id = agentId(1);
/** More than 2^64, and more digits than a double or a decimal of Parquet has. */
const huge = atomicAmount(123_456_789_012_345_678_901_234_567_890_123_456_789_012n);
const ROWS = 4_500;

beforeAll(async () => {
  store = await freshStore();
  const kinds = [{ amount: huge }, { model: 'naïve "model", 模型', intent_id: 'x\ny' }, { amount: null, rail: null }];
  await bookOf(
    store,
    agent_id,
    Array.from({ length: ROWS }, (_, index) => kinds[index] ?? {}),
  );
});

async function pieces(format: 'parquet' | 'ndjson') {
  const found: { text: string | null; bytes: Uint8Array | null; last_seq: number }[] = [];
  for await (const piece of bookStreams[format]({ database: store, span: await spanOf(store, agent_id, 0), base_url }))
    found.push(piece);
  return found;
}

it('hyparquet reads every row back as the other forms show it, amounts to the last digit', async () => {
  const bytes = Buffer.concat((await pieces('parquet')).map(it => it.bytes ?? Buffer.alloc(0)));
  const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
  const read = await parquetReadObjects({ file });
  const lines = (await pieces('ndjson'))
    .map(({ text }) => text)
    .join('')
    .trimEnd()
    .split('\n');
  const rows = lines.slice(0, -1).map(line => JSON.parse(line) as JsonObject);
  expect(read).toHaveLength(ROWS);
  expect(
    read.map(row => ({
      ...row,
      collected_at: (row.collected_at as Date).toISOString(),
      replay_events: JSON.parse(String(row.replay_events)),
    })),
  ).toEqual(rows.map(row => ({ ...row })));
  expect(read[0]?.amount).toBe(String(huge));
  const { key_value_metadata, row_groups } = parquetMetadata(file);
  expect(key_value_metadata).toEqual([
    { key: 'rows_total', value: String(ROWS) },
    { key: 'last_seq', value: String(ROWS) },
  ]);
  expect(row_groups.map(({ num_rows }) => Number(num_rows))).toEqual([4_000, 500]);
});

it('an empty book is a file without rows', async () => {
  await bookOf(store, agentId(2), []);
  const span = await spanOf(store, agentId(2), 0);
  const parts: Uint8Array[] = [];
  for await (const { bytes } of bookStreams.parquet({ database: store, span, base_url })) if (bytes) parts.push(bytes);
  const whole = Buffer.concat(parts);
  expect(
    await parquetReadObjects({ file: whole.buffer.slice(whole.byteOffset, whole.byteOffset + whole.length) }),
  ).toEqual([]);
});
