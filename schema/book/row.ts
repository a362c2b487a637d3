import { z } from 'zod';
import { type ColumnJson, type RowColumns, type RowFactName, rowFacts } from '../book-row.ts';
import { AtomicMember, JsonMember, withGraphClass } from '../noun.ts';
import type { RowFact, RowGroup } from '../row-fact.ts';
import { BookReplayNoun, IngressReceiptNoun } from './row-members.ts';

/* A row as it is shown: alone, in pages and with its correction. Derived from schema/book-row.ts. */

const types = {
  text: z.string(),
  digits: AtomicMember,
  integer: z.int(),
  boolean: z.boolean(),
  amount: AtomicMember.describe('Amount in atomic units of the rail.'),
  time: z.string(),
  json: JsonMember,
  json_list: z.array(JsonMember),
  text_list: z.array(z.string()),
} as const satisfies Record<RowFact['type'], z.ZodType>;

const shown = Object.entries<RowFact>(rowFacts).filter(([, { hidden, rest }]) => !hidden && rest !== 'none');

function schemaOf([name, { one_of, type }]: [string, RowFact]): z.ZodType {
  if (name === 'replay_events') return z.array(BookReplayNoun);
  if (name === 'observed_amount') return types.amount;
  if (name === 'ingress_receipt') return types[type].meta({ shows: IngressReceiptNoun });
  if (name === 'fulfillment') return types[type].meta({ graph: 'fulfillmentDocument' });
  if (one_of === undefined) return types[type];
  const [only, ...others] = one_of;
  return others.length === 0 ? z.literal(only ?? '') : z.enum(one_of);
}

/** Null members are left out, unless the table says `rest: 'null'`. Members of only some kinds of row may be left out too. */
function memberOf(entry: [string, RowFact]): z.ZodType {
  const [, { nullable, from, rest, description, rest_description = description }] = entry;
  const value = rest === 'null' ? schemaOf(entry).nullable() : schemaOf(entry);
  const always = rest === 'null' || (!nullable && ['place', 'birth', 'counted'].includes(from));
  const member = always ? value : value.optional();
  return rest_description === undefined ? member : member.describe(rest_description);
}

function inGroup(entry: [string, RowFact]): z.ZodType {
  const { description } = entry[1];
  const member = schemaOf(entry).nullable();
  return description === undefined ? member : member.describe(description);
}

const groupDescriptions: Readonly<Record<RowGroup, string>> = {
  payment: 'Payment of the row: reference, rail and amount, each null if the row has none.',
  route:
    'Model and hub of the row: the model that was asked for, the hub, and the model that the hub named, each null or empty if there is none.',
};

const members = new Map<string, z.ZodType>();
const groups = new Map<RowGroup, [string, RowFact][]>();
for (const entry of shown) {
  const [name, { group }] = entry;
  if (group === undefined) members.set(name, memberOf(entry));
  else {
    const before = groups.get(group[0]) ?? [];
    groups.set(group[0], [...before, entry]);
    const all = [...before, entry].map(it => [it[1].group?.[1] ?? '', inGroup(it)] as const);
    members.set(group[0], z.object(Object.fromEntries(all)).optional().describe(groupDescriptions[group[0]]));
  }
}

/** Members of the response as JSON. */
type RowAnswer = {
  readonly [K in RowFactName]?: K extends 'replay_events' ? z.output<typeof BookReplayNoun>[] : ColumnJson<K>;
};

/** A row in REST. The graph has its own type with every column (subgraphs/book/ledger/row.entity.ts). */
export const Row = withGraphClass<RowColumns>()(
  z.object(Object.fromEntries(members)) as z.ZodType as z.ZodType<RowAnswer>,
);

export const PageInfoNoun = z.object({
  has_next_page: z.boolean().describe('True if older matching rows follow this page.'),
  has_previous_page: z.boolean().describe('True if newer matching rows precede this page.'),
  start_cursor: z
    .string()
    .nullable()
    .describe('Cursor of the first edge: `before` of the page before. Null if the page is empty.'),
  end_cursor: z
    .string()
    .nullable()
    .describe('Cursor of the last edge: `after` of the next page. Null if the page is empty.'),
});

export const RowEdgeNoun = z.object({
  cursor: z.string().describe('Cursor of the row, to pass as `after` or `before`.'),
  node: Row.describe('The row that the cursor names.'),
});

/** Rows as a connection (https://relay.dev/graphql/connections.htm): newest first, so that the next page is older. */
export const RowConnectionNoun = z.object({
  edges: z.array(RowEdgeNoun).describe('Rows of the page, newest first.'),
  page_info: PageInfoNoun.describe('Cursors of the page, and whether there are rows beyond it.'),
});

/** An inflow with a correction that was appended to it. */
export const CorrectedInflowNoun = z.object({
  row: Row.describe(
    'The inflow at the start of the chain of corrections, with its newest corrections, also if an earlier correction was corrected.',
  ),
  correction: Row.describe('Row that records this correction.'),
  idempotent_replay: z
    .boolean()
    .describe(
      'True if the same correction of the same row had already been recorded. The existing row is returned and no row is added.',
    ),
});
