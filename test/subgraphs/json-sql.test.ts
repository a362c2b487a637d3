import fc from 'fast-check';
import { GraphQLObjectType, getNamedType, isObjectType, parse } from 'graphql';
import { beforeAll, expect, it } from 'vitest';
import { InProcessSource } from '../../gateway/graph/source.ts';
import { withoutNulls } from '../../rest-compat/omit-nulls.ts';
import type { Json, JsonObject } from '../../schema/canonical-json.ts';
import { arrivalStatuses, evidences } from '../../schema/evidence.ts';
import { agentId } from '../../schema/ids.ts';
import { jsonText, RawJson } from '../../schema/json-text.ts';
import { wordList } from '../../schema/words.ts';
import { bookSubgraph } from '../../subgraphs/book/index.ts';
import { openBook } from '../../subgraphs/book/ledger/collect.ts';
import { type Database, insertRows } from '../../subgraphs/database.ts';
import type { NullOmissions } from '../../subgraphs/json-sql.ts';
import { issuer } from '../harness/ledger/fixture.ts';
import { freshStore } from '../harness/store.ts';

const subgraph = await bookSubgraph();
const source = new InProcessSource(subgraph);
const AGENT = agentId(7);
const ROWS = 40;
let database: Database;

const text = fc.string({ unit: 'binary', maxLength: 12 }).filter(it => it.isWellFormed() && !it.includes('\0'));
const maybe = <T>(it: fc.Arbitrary<T>) => fc.option(it, { nil: null });
const json = fc.jsonValue({ maxDepth: 2 }).filter(it => !JSON.stringify(it).includes('\\u0000'));
const object = fc.dictionary(fc.stringMatching(/^[a-z]{1,4}$/), json);
/** Facts of any row. Members that GraphQL shows may also have values of types that they should not have. */
const facts = fc.record(
  {
    event: fc.constant('policy_blocked'),
    reason: text,
    policy_key: fc.constantFrom('daily_cap', null),
    spent_atomic: fc.oneof(fc.nat().map(String), fc.integer()),
    refusal_id: text,
    bucket: text,
    allocation: fc.oneof(fc.nat().map(String), fc.integer()),
    corrects: text,
    inflow_claim: fc.oneof(object, fc.constant(null)),
    unheard_of: json,
  },
  { requiredKeys: [] },
);
const job_kind = fc.constantFrom('completions', 'other');
/** Both forms of a fulfillment, with optional members of either kind. */
const fulfillment = fc.record(
  {
    job_kind,
    resource: maybe(text),
    intent_id: maybe(text),
    attempt_index: maybe(fc.nat()),
    output_commitment: fc.record({
      status: fc.constantFrom('committed', 'UNVERIFIED'),
      hash: maybe(text),
      kind: maybe(fc.constantFrom('sha256', 'keccak256')),
      omission_rule: maybe(text),
    }),
    intent: fc.record({ job_kind, resource: maybe(text) }),
    authorization: fc.record({ payer_wallet: maybe(text), payment_ref: maybe(text) }),
  },
  { requiredKeys: [] },
);
const row = fc.record({
  evidence: fc.constantFrom(...wordList(evidences)),
  collected: fc.boolean(),
  payment_ref: maybe(fc.uuid()),
  rail: maybe(text),
  amount: maybe(fc.bigInt({ min: 0n, max: 2n ** 200n }).map(String)),
  collected_at: fc.date({ min: new Date(0), max: new Date('2100-01-01'), noInvalidDate: true }),
  model: maybe(text),
  hub: maybe(text),
  intent_id: maybe(fc.constantFrom('one', 'two')),
  attempt_index: maybe(fc.nat()),
  payer_wallet: maybe(text),
  settled_by: maybe(fc.constantFrom('observed_transfer', 'receipt')),
  parent_ref: maybe(text),
  recorded_by: maybe(fc.constant('settle')),
  fulfillment: maybe(fulfillment),
  facts,
  arrival_status: maybe(fc.constantFrom(...wordList(arrivalStatuses))),
  omission_rule: maybe(text),
  ingress_receipt: maybe(fc.record({ ref: text, confirmed_at: fc.constant('2026-03-01T10:30:00.000Z') })),
  replay_count: fc.constantFrom(0, 0, 2),
  prev_row_hash: text,
  row_hash: text,
});

const rows = fc
  .sample(row, { numRuns: ROWS, seed: 1 })
  .map((it, index) => ({ agent_id: AGENT, seq: index + 1, task_id: `task_${index}`, ...it }));
const replays = rows
  .flatMap(({ seq, task_id, replay_count }) => Array.from({ length: replay_count }, () => ({ seq, task_id })))
  .map(({ seq, task_id }, index) => ({
    agent_id: AGENT,
    position: index + 1_000,
    kind: 'replay',
    seq,
    task_id,
    body: {
      ...(index % 4 === 0 ? { at: '2026-03-01T10:00:59.000Z', first_at: '2026-03-01T10:00:00.000Z', count: 7 } : {}),
      settlement_status: 'idempotent_replay',
      replay_of: index % 3 === 0 ? null : task_id,
    },
    at: new Date(index),
    prev_hash: '',
    hash: '',
  }));

/** Every fourth row is corrected by the three rows that follow it. */
const corrections = rows
  .map(({ seq }) => ({ agent_id: AGENT, seq, original_seq: seq - (seq % 4), corrects_seq: seq - (seq % 4) }))
  .filter(({ seq, original_seq }) => original_seq > 0 && seq !== original_seq);

const countedOf = ({ seq, task_id }: (typeof rows)[number]) => {
  const [first_at, last_at] = [new Date(0), new Date(1)];
  const kind = seq % 2 === 0 ? 'replay' : 'blocked';
  return { agent_id: AGENT, seq, kind, task_id, body: {}, count: 3, first_at, last_at };
};

beforeAll(async () => {
  database = await freshStore();
  await database.transaction(async tx => {
    openBook(tx, AGENT);
    insertRows(tx, 'book_row', rows);
    insertRows(tx, 'book_event', replays);
    insertRows(tx, 'book_correction', corrections);
    // A count also includes replays that no event reports yet.
    insertRows(tx, 'book_counted', rows.filter(({ seq }) => seq % 5 === 0).map(countedOf));
    tx.write({ text: `insert into book_intent values ($1, 'one', 3, 1), ($1, 'two', 0, 0)`, values: [AGENT] });
  });
});

function typeNamed(name: string): GraphQLObjectType {
  const type = subgraph.schema.getType(name);
  if (!(type instanceof GraphQLObjectType)) throw new Error(`${name} is no object`);
  return type;
}

/** Selections of a type: its fields in any order, under any alias, in fragments and twice. */
function selections(type: GraphQLObjectType, depth = 3): fc.Arbitrary<string> {
  const shown = Object.values(type.getFields()).filter(({ type: of }) => depth > 1 || !isObjectType(getNamedType(of)));
  const fields = shown.map(({ name, type: of }) => {
    const beneath = getNamedType(of);
    const selected = isObjectType(beneath) ? selections(beneath, depth - 1) : fc.constant('');
    return fc.tuple(fc.constantFrom('', 'a', 'b_', '_C1'), selected).map(([alias, its]) => ({ name, alias, its }));
  });
  const one = fc.oneof(fc.constant({ name: '__typename', alias: '', its: '' }), ...fields);
  const several = fc.uniqueArray(one, { minLength: 1, maxLength: 12, selector: ({ name, alias }) => alias || name });
  return fc.tuple(several, fc.nat(11)).map(([members, from]) => {
    const said = members.map(({ name, alias, its }) => `${alias && `${alias}:`} ${name} ${its}`);
    return `{ ${said.slice(from).join(' ')} ... on ${type.name} { ${said.join(' ')} } }`;
  });
}

/** Every field of a type and of the types below it. */
function whole(type: GraphQLObjectType, depth = 3): string {
  const fields = Object.values(type.getFields()).flatMap(({ name, type: of }) => {
    const beneath = getNamedType(of);
    if (!isObjectType(beneath)) return [name];
    return depth > 1 ? [`${name} ${whole(beneath, depth - 1)}`] : [];
  });
  return `{ ${fields.join(' ')} }`;
}

async function page(selection: string, limit: number, written?: NullOmissions): Promise<Json> {
  const document = parse(`{ answer: book(agentId: ${AGENT}, limit: ${limit}) ${selection} }`);
  const possession = { kind: 'proven', agent_id: AGENT, session_hash: '', by: 'session' } as const;
  const context = { database, issuer, clock: { now_ms: () => 0 }, principal: { possession } };
  const { data, errors } = await source.execute({ document, variables: {}, context, ...(written ? { written } : {}) });
  expect(errors).toBeUndefined();
  return (JSON.parse(written ? jsonText(data) : JSON.stringify(data)) as JsonObject).answer ?? null;
}

it('whatever is selected of a row, Postgres writes what the resolvers say', async () => {
  const asked = fc.tuple(selections(typeNamed('BookRow')), fc.integer({ min: 1, max: ROWS + 5 }));
  await fc.assert(
    fc.asyncProperty(asked, async ([selection, limit]) => {
      const book = `{ entries ${selection} intents { intentId } intentsDocument spent allowance { remaining asOf } }`;
      expect(await page(book, limit, {})).toEqual(await page(book, limit));
    }),
    { numRuns: 60 },
  );
});

it('every field of a row at once, without the nulls that a door leaves out', async () => {
  const book = `{ entries ${whole(typeNamed('BookRow'))} }`;
  const nulls = { entries: ['payerWallet', 'bucket'], 'entries.replayEvents': ['at'] };
  expect(await page(book, ROWS, nulls)).toEqual(withoutNulls(await page(book, ROWS), nulls));
});

it('an inflow shows what was corrected of it, oldest first; a correction and any other row null', async () => {
  const { entries } = (await page('{ entries { seq inflowCorrections } }', ROWS, {})) as unknown as {
    entries: readonly { readonly seq: number; readonly inflowCorrections: readonly JsonObject[] | null }[];
  };
  const shown = entries.filter(({ inflowCorrections }) => inflowCorrections !== null);
  expect(shown.map(({ seq }) => seq).toReversed()).toEqual(
    rows.filter(({ facts: its }) => 'inflow_claim' in its && !('corrects' in its)).map(({ seq }) => seq),
  );
  for (const { seq, inflowCorrections } of shown) {
    const expected = corrections.filter(({ original_seq }) => original_seq === seq).map(it => it.seq);
    expect(inflowCorrections?.map(it => it.seq)).toEqual(expected);
  }
  expect(shown.some(({ inflowCorrections }) => inflowCorrections?.length === 3)).toBe(true);
});

it('rows under two names', async () => {
  const both = '{ a: entries { seq receipt { taskId } } b: entries { evidence } remaining }';
  expect(await page(both, 9, {})).toEqual(await page(both, 9));
});

it.each(['constructor', 'toString', 'hasOwnProperty'])('a caller may call them %s', async name => {
  const book = `{ ${name}: entries { ${name}: seq } }`;
  expect(await page(book, 3, {})).toEqual(await page(book, 3));
});

it('more members than Postgres takes arguments', async () => {
  const many = `{ entries { ${Array.from({ length: 250 }, (_, index) => `f${index}: bucket`).join(' ')} } }`;
  const plain = await page(many, ROWS);
  expect(await page(many, ROWS, {})).toEqual(plain);
  expect(await page(many, ROWS, { entries: [] })).toEqual(withoutNulls(plain, { entries: [] }));
});

it('what depends on variables is left to the resolvers', async () => {
  const plain = await page('{ entries { evidence } }', 3);
  expect(await page('{ entries { seq @skip(if: true) evidence } }', 3, {})).toEqual(plain);
});

it('text that is written goes out as it stands, and is JSON to whoever does not know it', () => {
  const holder = { a: [new RawJson('[1]')], b: { c: new RawJson('{"x": "é"}'), d: undefined }, e: new Date(0) };
  expect(jsonText(holder)).toBe('{"a":[[1]],"b":{"c":{"x": "é"}},"e":"1970-01-01T00:00:00.000Z"}');
  expect(JSON.parse(jsonText(holder))).toEqual(JSON.parse(JSON.stringify(holder)));
});
