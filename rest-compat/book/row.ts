import { z } from 'zod';
import { type ColumnJson, type RowFactName, rowFacts } from '../../schema/book-row.ts';
import { limits } from '../../schema/limits.ts';
import type { RowFact, RowGroup } from '../../schema/row-fact.ts';
import { Atomic, JsonMembers } from '../answer-shapes.ts';

/* A row of a book in REST answers: selection, OpenAPI and the nulls that stay, made of the one table of its facts. */

const Replay = z.object({
  at: z.string(),
  first_at: z.string().optional().describe('With `count`: of the first of them; `at` is the last.'),
  count: z
    .int()
    .optional()
    .describe(
      `Of an event that stands for several: beyond ${limits.replay_events_per_hour_max} in an hour, one a minute.`,
    ),
  settlement_status: z.literal('idempotent_replay'),
  replay_of: z.string(),
});

/** As the graph has it. */
const IngressReceipt = z.object({ ref: z.string(), confirmed_at: z.string() });

const types = {
  text: z.string(),
  digits: Atomic,
  integer: z.int(),
  boolean: z.boolean(),
  amount: Atomic.describe('Atomic units of the rail.'),
  time: z.string(),
  json: JsonMembers,
  json_list: z.array(JsonMembers),
  text_list: z.array(z.string()),
} as const satisfies Record<RowFact['type'], z.ZodType>;

const shown = Object.entries<RowFact>(rowFacts).filter(([, { hidden, rest }]) => !hidden && rest !== 'none');

function schemaOf([name, { one_of, type }]: [string, RowFact]): z.ZodType {
  if (name === 'replay_events') return z.array(Replay);
  if (name === 'observed_amount') return types.amount;
  if (name === 'ingress_receipt') return types[type].meta({ shows: IngressReceipt });
  if (name === 'fulfillment') return types[type].meta({ graph: 'fulfillmentDocument' });
  if (one_of === undefined) return types[type];
  const [only, ...others] = one_of;
  return others.length === 0 ? z.literal(only ?? '') : z.enum(one_of);
}

/** A null member is left out, but where the table has it stay; so is what only some kinds of row carry. */
function memberOf(entry: [string, RowFact]): z.ZodType {
  const [, { nullable, from, rest, rest_description }] = entry;
  const value = rest === 'null' ? schemaOf(entry).nullable() : schemaOf(entry);
  const always = rest === 'null' || (!nullable && ['place', 'birth', 'counted'].includes(from));
  const member = always ? value : value.optional();
  return rest_description === undefined ? member : member.describe(rest_description);
}

const members = new Map<string, z.ZodType>();
const groups = new Map<RowGroup, [string, RowFact][]>();
for (const entry of shown) {
  const [name, { group }] = entry;
  if (group === undefined) members.set(name, memberOf(entry));
  else {
    const before = groups.get(group[0]) ?? [];
    groups.set(group[0], [...before, entry]);
    const all = [...before, entry].map(it => [it[1].group?.[1] ?? '', schemaOf(it).nullable()] as const);
    members.set(group[0], z.object(Object.fromEntries(all)).optional());
  }
}

/** Members of the answer as JSON; those of a group stand in it. */
type RowAnswer = {
  readonly [K in RowFactName]?: K extends 'replay_events' ? z.output<typeof Replay>[] : ColumnJson<K>;
};

export const Row: z.ZodType<RowAnswer> = z.object(Object.fromEntries(members)) as z.ZodType as z.ZodType<RowAnswer>;

/** Members that stand there also when they are null. */
const rowNulls: readonly string[] = shown.filter(([, { rest }]) => rest === 'null').map(([name]) => name);
/** Of a replay only what several are told by is left out. */
const replayNulls = ['at', 'settlement_status', 'replay_of'];

/** By the list that they stand in. */
export const bookNulls = { entries: rowNulls, 'entries.replay_events': replayNulls, alerts: [] } as const;
/** Where the answer is a row itself. */
export const rowAnswerNulls = { '': rowNulls, replay_events: replayNulls } as const;
/** Where it has an inflow and a correction of it as members. */
export const correctedNulls = {
  row: rowNulls,
  'row.replay_events': replayNulls,
  correction: rowNulls,
  'correction.replay_events': replayNulls,
} as const;
