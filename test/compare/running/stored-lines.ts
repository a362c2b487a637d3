import { hashedColumns, hashedFacts } from '../../../schema/book-row.ts';
import { canonicalHash, canonicalJson, type Json, type JsonObject } from '../../../schema/canonical-json.ts';
import { sha256Hex } from '../../../schema/digest.ts';
import { openVault } from '../../../subgraphs/vault.ts';
import { type FixedService, SEAL_KEY } from './fixed-service.ts';
import { type SealedText, takeSealed } from './fixed-time.ts';
import type { RecordLine } from './teller.ts';

/* Data that a story stores permanently: rows, events, receipts, refusals and sealed texts. */

export type Lines = readonly RecordLine[];

/** Lines of the record by the name of their file. */
export async function storedLines({ query }: FixedService): Promise<Readonly<Record<string, Lines>>> {
  const of = async (table: string, key: string, order: string) => {
    const rows = await query<{ key: string; row: JsonObject }>(
      `select ${key} as key, to_jsonb(t) as row from ${table} t order by ${order}`,
    );
    return rows.map(({ key: name, row }): RecordLine => ({ at: `${table} ${name}`, to: row }));
  };
  const rows = await of('book_row', "agent_id || '/' || seq", 'agent_id, seq');
  const events = await of('book_event', "agent_id || '/' || position", 'agent_id, position');
  return {
    'book-rows': rows.map(({ at, to }) => ({ at, to: withCanonical(to as JsonObject, events) })),
    'book-events': events,
    'board-events': await of('board_event', 'position::text', 'position'),
    receipts: (await of('receipt', 'leaf_index::text', 'leaf_index')).map(withPayload),
    refusals: (await of('refusal', 'task_id', 'task_id')).map(withPayload),
  };
}

/**
 * A row with the text that its row_hash covers. The first values of a row that has changed its state are in the event of its first
 * transition.
 */
function withCanonical(row: JsonObject, events: Lines): JsonObject {
  const first = events
    .map(({ to }) => to as JsonObject)
    .find(event => event.agent_id === row.agent_id && event.seq === row.seq && event.kind === 'transition');
  const born = ((first?.body as JsonObject | undefined)?.born ?? {}) as JsonObject;
  const amount = row.amount === null ? null : String(row.amount);
  const collected_at = new Date(String(row.collected_at)).toISOString();
  const facts = { ...row, amount, collected_at, ...born } as JsonObject;
  const hashed = hashedFacts(Object.fromEntries(hashedColumns.map(name => [name, (facts[name] ?? null) as Json])));
  const hash_holds = canonicalHash(hashed) === row.row_hash;
  return { row, canonical: canonicalJson(hashed), hash_holds };
}

/** A line with its payload as JSON, so that a difference names its member, and with the result of checking the stored hash. */
function withPayload({ at, to }: RecordLine): RecordLine {
  const { payload, ...row } = to as JsonObject;
  const text = String(payload);
  const { payload_hash } = row;
  const hash_holds = payload_hash === undefined || payload_hash === sha256Hex(text);
  return { at, to: { ...row, payload: JSON.parse(text) as Json, canonical: text, hash_holds } };
}

/** Tables and columns of sealed texts, with the columns that name each text. */
const BOXES = `select table_name as table, column_name as column from information_schema.columns
  where table_schema = 'public' and data_type = 'bytea' and column_name like '%box' order by 1, 2`;

/** All texts that were sealed, by label. Those that are still stored are also opened with the key and compared with the sealed ones. */
export async function sealedLines({ query }: FixedService): Promise<Lines> {
  const sealed = takeSealed();
  const vault = openVault(SEAL_KEY);
  const standing = new Map<string, string>();
  for (const { table, column } of await query<{ table: string; column: string }>(BOXES)) {
    const boxes = await query<{ box: Buffer }>(`select ${column} as box from ${table} where length(${column}) > 0`);
    for (const { box } of boxes) standing.set(box.subarray(0, 12).toString('hex'), `${table}.${column} ${opened(box)}`);
  }
  function opened(box: Buffer): string {
    const known = sealed.find(({ nonce }) => nonce === box.subarray(0, 12).toString('hex'));
    if (!known) return 'was never seen sealed';
    return vault.open(box, known.label).toString('utf8') === known.plain ? 'opens' : 'opens as something else';
  }
  return sealed
    .toSorted((one, other) => compare(one.label, other.label) || compare(one.plain, other.plain))
    .map(({ label, plain, nonce }: SealedText, index, all) => {
      const count = all.slice(0, index).filter(other => other.label === label).length;
      return { at: `${label} ${count}`, to: { plain: jsonIn(plain), stands_in: standing.get(nonce) ?? null } };
    });
}

const compare = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);

function jsonIn(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}
