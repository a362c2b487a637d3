import type { FieldNode, GraphQLResolveInfo } from 'graphql';
import { z } from 'zod';
import { IngressReceiptNoun, RowFulfillmentNoun } from '../../../schema/book/row-members.ts';
import { rowFacts } from '../../../schema/book-row.ts';
import { camel } from '../../../schema/camel.ts';
import { withReceipt } from '../../../schema/evidence.ts';
import type { RawJson } from '../../../schema/json-text.ts';
import { inflowLimits, rowLimits } from '../../../schema/limits.ts';
import { graphName, memberShape } from '../../../schema/noun-shape.ts';
import type { RowFact, RowGroup } from '../../../schema/row-fact.ts';
import type { Database } from '../../database.ts';
import { typeNameOf } from '../../graph-type.ts';
import {
  asJson,
  asPrinted,
  asText,
  asTime,
  fieldSql,
  type NullOmissions,
  preparedIfFew,
  selectedFields,
  type Writing,
  writtenText,
} from '../../json-sql.ts';
import type { BookRow } from '../ledger/row.entity.ts';
import { SESSION_OF_ROW } from '../ledger/session-of-row.ts';
import { parentRefOf } from '../lineage/parent.ts';
import './row.type.ts';
import type { Replay } from './row.type.ts';
import type { RowScope } from './row-scope.ts';

/* SQL by which Postgres writes rows as JSON, field by field, and parts of it that exports also use. */

/** SQL of the newest replays of one row, as a table `e` of events. */
const newestReplays = (agent_id: string, seq: string) => `(select * from book_event
  where agent_id = ${agent_id} and seq = ${seq} and kind = 'replay' order by position desc limit ${rowLimits.replays_shown_max}) e`;

/** SQL of the members of a replay `e` as JSON text. An event of combined replays has their last and first time and their number. */
export const replayJson = {
  at: `case when e.body ? 'count' then ${asJson(`e.body->'at'`)} else ${asTime('e.at')} end`,
  firstAt: asJson(`e.body->'first_at'`),
  count: asJson(`e.body->'count'`),
  settlementStatus: asJson(`e.body->'settlement_status'`),
  replayOf: asJson(`e.body->'replay_of'`),
} as const;

/**
 * SQL of the newest replays of `book_row r`, as the text of one list.
 * @param list aggregate over `e`
 */
export const replaysListed = (list: string) =>
  `case r.replay_count when 0 then '[]' else (select ${list} from ${newestReplays('r.agent_id', 'r.seq')}) end`;

const replayEvents: Writing = {
  type: 'BookReplay',
  fields: replayJson,
  always: ['at', 'settlementStatus'],
  list: each => replaysListed(`'['||coalesce(string_agg(${each},',' order by e.position),'')||']'`),
};

/**
 * SQL of the replays of a book that no event records yet, by `seq`. They are added to the counts, so that these are always exact.
 */
export function replaysCounted(agent_id: string): string {
  return `(select seq, count from book_counted where agent_id = ${agent_id} and kind = 'replay')`;
}

export async function replaysOf(database: Database, { agentId, seq }: BookRow): Promise<Replay[]> {
  const text = `select e.at, e.body from ${newestReplays('$1', '$2')} order by e.position`;
  const events = await database.query<{ at: Date; body: Omit<Replay, 'at'> }>({
    name: 'replays of row',
    text,
    values: [agentId, seq],
  });
  return events.map(({ at, body }) => ({ at: at.toISOString(), ...body }));
}

/** SQL that writes a column as JSON, by the type of the fact. */
const columnJson: { readonly [T in RowFact['type']]: (column: string) => string } = {
  text: asText,
  digits: asText,
  integer: asPrinted,
  boolean: asPrinted,
  amount: column => asText(`${column}::text`),
  time: asTime,
  json: asPrinted,
  json_list: asPrinted,
  text_list: asPrinted,
};

/** JSON type that a member of `facts` must have to be shown, by the type of the fact. */
const factTypes: { readonly [T in RowFact['type']]?: string } = {
  text: 'string',
  digits: 'string',
  boolean: 'boolean',
  json: 'object',
  json_list: 'array',
  text_list: 'array',
};

/** SQL of a member of `facts` as text, over `book_row r`. Null if it has another JSON type. */
export function factText(name: string, type: RowFact['type']): string {
  return `case jsonb_typeof(r.facts->'${name}') when '${factTypes[type]}' then r.facts->>'${name}' end`;
}

function factJson(name: string, type: RowFact['type']): string {
  const text = factText(name, type);
  return factTypes[type] === 'string' ? asText(text) : text;
}

const entries = Object.entries<RowFact>(rowFacts).filter(([, { hidden }]) => !hidden);
const beside = ['facts', 'events', 'rows', 'session'];
const columns = entries.filter(([, { from, group }]) => !beside.includes(from) && !group);
const inFacts = entries.filter(([, { from, group }]) => from === 'facts' && !group);
const common = entries.flatMap(([name, fact]) => (fact.common ? [name] : []));

/** SQL of those members of `facts` of `book_row r` that few rows have. The result is `'{}'` for most rows. */
export const RARE_FACTS = `(r.facts - '{${common.join(',')}}'::text[])`;

const ofGroup = (type: string, group: RowGroup): Writing => ({
  type,
  fields: Object.fromEntries(
    entries.flatMap(([name, fact]) =>
      fact.group?.[0] === group
        ? [
            [
              camel(fact.group[1]),
              fact.from === 'facts' ? factJson(name, fact.type) : columnJson[fact.type](`r.${name}`),
            ],
          ]
        : [],
    ),
  ),
});

const WITH_RECEIPT = withReceipt.map(evidence => `'${evidence}'`).join(', ');

/** SQL condition that `book_row r` has its own receipt. */
export const HAS_RECEIPT = `r.evidence in (${WITH_RECEIPT}) and not r.facts ? 'corrects'`;

/** SQL of the task id of the newest correction that merges this row. A row that corrects nothing gets null without a lookup. */
function mergedBy(row: string): string {
  return `case when ${row}.facts ? 'corrects' then (select b.task_id from book_merge m
    join book_row b on b.agent_id = m.agent_id and b.seq = m.seq
    where m.agent_id = ${row}.agent_id and m.merged_seq = ${row}.seq order by m.seq desc limit 1) end`;
}
export const MERGED_BY = mergedBy('r');

/**
 * SQL of the corrections of an inflow `r` as one jsonb list: the newest, oldest first, each with its signed claim. Null for other
 * rows. They are found by the seq of the inflow. Corrections are free and a page has up to 200 rows, so the number of bytes is
 * bounded.
 */
export const INFLOW_CORRECTIONS = `case when r.facts ? 'inflow_claim' and not r.facts ? 'corrects' then (
  select coalesce(jsonb_agg(jsonb_build_object('seq', n.seq, 'task_id', n.task_id, 'corrects', n.facts->'corrects',
    'reason', n.facts->'reason', 'bucket', n.facts->'bucket', 'allocation', n.facts->'allocation',
    'recorded_at', (${asTime('n.collected_at')})::jsonb, 'inflow_claim', n.facts->'inflow_claim')
    || case when n.facts ? 'merges' then jsonb_build_object('merges', n.facts->'merges') else '{}' end
    || case when n.merged_by is null then '{}' else jsonb_build_object('merged_by', n.merged_by) end
    order by n.seq), '[]')
  from (select n.*, ${mergedBy('n')} as merged_by, sum(octet_length(n.facts::text)) over newer as bytes, row_number() over newer as number
    from (select seq from book_correction where agent_id = r.agent_id and original_seq = r.seq
      order by seq desc limit ${inflowLimits.corrections_shown_max}) newest
    join book_row n on n.agent_id = r.agent_id and n.seq = newest.seq
    window newer as (order by n.seq desc)) n
  where number = 1 or bytes <= ${inflowLimits.corrections_shown_bytes_max}) end`;

/** SQL of the number of all corrections of an inflow `r`, which is counted when they are recorded. Null for other rows. */
export const CORRECTIONS_COUNT = `case when r.facts ? 'inflow_claim' and not r.facts ? 'corrects' then coalesce(
  (select corrections from book_supersession where agent_id = r.agent_id and original_seq = r.seq), 0) end`;

/** Computed fields that are never null. */
const computed = {
  // Includes replays that no event records yet.
  replayCount: asPrinted('(r.replay_count + coalesce(c.count, 0))'),
  replayEvents,
};

/** Computed fields that are null for most rows. */
const computedOrNull = {
  parentRef: asText(parentRefOf('r')),
  inflowCorrections: asPrinted(`(${INFLOW_CORRECTIONS})`),
  inflowCorrectionsCount: asPrinted(`(${CORRECTIONS_COUNT})`),
  mergedBy: asText(`(${MERGED_BY})`),
  delegationHash: asText(SESSION_OF_ROW),
};

/** SQL of a JSON column and its nested objects, as the GraphQL type of a noun. */
function shapeOf(noun: z.ZodObject, column: string): Writing {
  const fields = Object.entries(noun.shape).map(([name, shape]) => {
    const known = memberShape(shape);
    const member = `${column}->'${name}'`;
    const within = known.inner instanceof z.ZodObject ? shapeOf(known.inner, `(${member})`) : asJson(member);
    return [graphName(name, known), within] as const;
  });
  return { type: typeNameOf(noun), fields: Object.fromEntries(fields), where: `jsonb_typeof(${column}) = 'object'` };
}

const shapes = {
  fulfillment: shapeOf(RowFulfillmentNoun, 'r.fulfillment'),
  ingressReceipt: shapeOf(IngressReceiptNoun, 'r.ingress_receipt'),
} as const;

/**
 * SQL of the fields of a row, over `book_row r` and its counts `c`. The result is the same as that of row.entity.ts and
 * row.resolver.ts in JavaScript.
 */
const rowWriting: Writing = {
  type: 'BookRow',
  fields: {
    ...Object.fromEntries(columns.map(([name, { type }]) => [camel(name), columnJson[type](`r.${name}`)])),
    ...Object.fromEntries(inFacts.map(([name, { type }]) => [camel(name), factJson(name, type)])),
    ...computed,
    ...computedOrNull,
    ...shapes,
    fulfillmentDocument: columnJson.json('r.fulfillment'),
    payment: ofGroup('RowPayment', 'payment'),
    route: ofGroup('RowRoute', 'route'),
    receipt: {
      type: 'Receipt',
      fields: {
        taskId: asText('r.task_id'),
        // The row of this receipt is this row itself.
        get row(): Writing {
          return rowWriting;
        },
      },
      where: HAS_RECEIPT,
    },
  },
  always: [...columns.filter(([, { nullable }]) => !nullable).map(([name]) => camel(name)), ...Object.keys(computed)],
  // Only inflows and their corrections have the last three fields, and these rows have rare facts.
  rare: {
    none: `${RARE_FACTS} = '{}'`,
    fields: [...inFacts.map(([name]) => camel(name)), 'inflowCorrections', 'inflowCorrectionsCount', 'mergedBy'],
  },
};

/** Placeholder in SQL for the rows of a page, which the caller chooses. */
const PAGE_ROWS = ':rows';

/** SQL of the rows of a page of book $1, newest first, as one JSON text with the selected fields. */
export function rowsText({ fieldNodes, fragments }: FieldSelection, key: string, leftOut: NullOmissions): string {
  const row = fieldSql(rowWriting, { fieldNodes, fragments }, leftOut, key);
  return `(select '['||coalesce(string_agg(${row},',' order by r.seq desc),'')||']'
    from (${PAGE_ROWS}) r left join ${replaysCounted('$1')} c using (seq))`;
}

/** Replaces the placeholder by the SQL for the rows of one page. */
export function ofPage(text: string, { select }: Pick<RowScope, 'select'>): string {
  return text.replaceAll(PAGE_ROWS, () => select);
}

export type FieldSelection = Pick<GraphQLResolveInfo, 'fieldNodes' | 'fragments'>;

/** SQL by field node of a document. It is cached, because repeated documents are the same object. */
const texts = new WeakMap<FieldNode, string | null>();

/**
 * SQL of the selected rows, as a part of the statement that reads the head. Null if the caller does not take text, or if it selects
 * rows under several names, each of which has its own statement.
 */
export function rowsOfPage({ fieldNodes, fragments, rootValue }: GraphQLResolveInfo): string | null {
  const [node] = fieldNodes;
  if (!node || rootValue === undefined) return null;
  const known = texts.get(node);
  if (known !== undefined) return known;
  const [rows, ...others] = [...selectedFields(fieldNodes, fragments)].filter(
    ([, [it]]) => it?.name.value === 'entries',
  );
  const once = rows && others.length === 0;
  const text = once ? rowsText({ fieldNodes: rows[1], fragments }, rows[0], rootValue as NullOmissions) : null;
  texts.set(node, text);
  return text;
}

export async function writeRows(database: Database, scope: RowScope, info: GraphQLResolveInfo): Promise<RawJson> {
  const text = ofPage(
    `select ${rowsText(info, String(info.path.key), info.rootValue as NullOmissions)} as rows`,
    scope,
  );
  const [found] = await database.query<{ rows: string }>({ ...preparedIfFew(text), values: [...scope.values] });
  return writtenText(found?.rows ?? '[]');
}
