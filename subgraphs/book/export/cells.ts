import { rowFacts } from '../../../schema/book-row.ts';
import { explorers } from '../../../schema/explorers.ts';
import {
  type ExportField,
  type ExportFieldName,
  exportFields,
  streamedFieldNames,
} from '../../../schema/export-row.ts';
import type { RowFact } from '../../../schema/row-fact.ts';
import { asTime } from '../../json-sql.ts';
import { SESSION_OF_ROW } from '../ledger/session-of-row.ts';
import { parentRefOf } from '../lineage/parent.ts';
import {
  CORRECTIONS_COUNT,
  factText,
  HAS_RECEIPT,
  INFLOW_CORRECTIONS,
  replayJson,
  replaysListed,
} from '../page/row-json.ts';

/** Placeholder for the base URL of the service. A statement replaces it by a parameter. */
export const BASE_URL = ':base_url';

/** One field of an exported row, as SQL over `book_row r` and its counts `c`. */
export interface Cell {
  readonly name: string;
  /**
   * `open`: text that a caller may have chosen. `closed`: text of this service, which has only letters, digits, dashes and colons.
   */
  readonly kind: 'open' | 'closed' | 'integer' | 'json';
  /** SQL expression of type text. It may contain BASE_URL, and is null if the field is null. */
  readonly sql: string;
  readonly nullable: boolean;
  /** True if only rows with rare facts have a value. */
  readonly in_facts: boolean;
}

/** Members of an exported replay, in order. */
const replayMembers = {
  replay_of: replayJson.replayOf,
  settlement_status: replayJson.settlementStatus,
  recorded_at: replayJson.at,
  first_at: replayJson.firstAt,
  count: replayJson.count,
};

/** SQL of the newest replays, oldest first, without null members. */
const REPLAYS = replaysListed(`coalesce(json_agg(json_strip_nulls(json_build_object(
    ${Object.entries(replayMembers)
      .map(([name, json]) => `'${name}', (${json})::json`)
      .join(', ')})) order by e.position), '[]')::text`);

/** SQL of a JSON text without its quotation marks. */
function withoutQuotes(json: string): string {
  return `btrim(${json}, '"')`;
}

const EXPLORER = `case split_part(r.payment_ref, ':', 1) ${Object.entries(explorers)
  .map(([network, { tx_url }]) => `when '${network}' then '${tx_url}' || split_part(r.payment_ref, ':', 2)`)
  .join(' ')} end`;

/** A refused row links to its refusal instead of a receipt. Corrections, and rows that have neither, have no link. */
const VERIFY = `case when ${HAS_RECEIPT} then ${BASE_URL} || '/receipt/' || r.task_id
  when r.evidence = 'policy_blocked' then ${BASE_URL} || '/refusal/' || (r.facts->>'refusal_id') end`;
const AUDITOR = `case when ${HAS_RECEIPT}
  then ${BASE_URL} || '/receipt/' || r.task_id || '?format=auditor' end`;

const computed: { readonly [K in ExportFieldName]?: string } = {
  collected_at: withoutQuotes(asTime('r.collected_at')),
  replay_count: '(r.replay_count + coalesce(c.count, 0))::text',
  replay_events: REPLAYS,
  inflow_corrections: `(${INFLOW_CORRECTIONS})::text`,
  inflow_corrections_count: `(${CORRECTIONS_COUNT})::text`,
  parent_ref: parentRefOf('r'),
  delegation_hash: SESSION_OF_ROW,
  verify_url: VERIFY,
  auditor_url: AUDITOR,
  explorer_url: EXPLORER,
};

/** Texts that only this service writes. */
const closed: readonly string[] = [
  'evidence',
  'arrival_status',
  'delegation_hash',
  'row_hash',
] satisfies ExportFieldName[];

const kinds = {
  text: 'open',
  digits: 'closed',
  integer: 'integer',
  time: 'closed',
  json: 'json',
  json_list: 'json',
} as const satisfies Record<ExportField['type'], Cell['kind']>;

function cellOf([name, { type, nullable }]: [string, ExportField]): Cell {
  const fact: RowFact | null = name in rowFacts ? rowFacts[name as keyof typeof rowFacts] : null;
  const stored = fact?.from === 'facts' ? factText(name, fact.type) : `r.${name}::text`;
  // Fields from later rows are set only for inflows, which have rare facts.
  const in_facts = (fact?.from === 'facts' && !fact.common) || fact?.from === 'rows';
  const kind = closed.includes(name) ? 'closed' : in_facts && kinds[type] === 'closed' ? 'open' : kinds[type];
  return { name, kind, nullable, in_facts, sql: computed[name as ExportFieldName] ?? stored };
}

/** All fields of an exported row, in order. */
export const cells: readonly Cell[] = Object.entries<ExportField>(exportFields).map(cellOf);

/** Fields of a streamed row. `seq`, by which a reader resumes, is the first. */
export const streamedCells: readonly Cell[] = streamedFieldNames.map(name => cellOf([name, exportFields[name]]));
