import type { FieldNode, GraphQLResolveInfo } from 'graphql';
import type { AgentId } from '../../../schema/ids.ts';
import type { Written } from '../../../schema/written.ts';
import type { Database } from '../../database.ts';
import {
  asPrinted,
  asText,
  asTime,
  type LeftOut,
  preparedIfFew,
  selected,
  type Writing,
  writtenBy,
  writtenText,
} from '../../json-sql.ts';
import { replaysCounted, replaysText } from './replays-json.ts';

/** A birth fact that is text, as it stands in the row's facts. */
const fact = (name: string) => factOf('string', name);
const factOf = (type: 'string' | 'object' | 'array', name: string) =>
  `case jsonb_typeof(r.facts->'${name}') when '${type}' then r.facts->>'${name}' end`;
const textFact = (name: string) => asText(fact(name));

/** A row of a book, field by field, over `book_row r` and what is counted of it, `c`: row.entity.ts and row.resolver.ts say the same in JavaScript. */
const rowWriting: Writing = {
  type: 'BookRow',
  fields: {
    agentId: asPrinted('r.agent_id'),
    seq: asPrinted('r.seq'),
    taskId: asText('r.task_id'),
    evidence: asText('r.evidence'),
    collected: asPrinted('r.collected'),
    collectedAt: asTime('r.collected_at'),
    intentId: asText('r.intent_id'),
    attemptIndex: asPrinted('r.attempt_index'),
    payerWallet: asText('r.payer_wallet'),
    settledBy: asText('r.settled_by'),
    parentRef: asText('r.parent_ref'),
    recordedBy: asText('r.recorded_by'),
    fulfillment: asPrinted('r.fulfillment'),
    arrivalStatus: asText('r.arrival_status'),
    omissionRule: asText('r.omission_rule'),
    ingressReceipt: asPrinted('r.ingress_receipt'),
    replayCount: asPrinted('(r.replay_count + coalesce(c.count, 0))'),
    prevRowHash: asText('r.prev_row_hash'),
    rowHash: asText('r.row_hash'),
    payment: {
      type: 'RowPayment',
      fields: { ref: asText('r.payment_ref'), rail: asText('r.rail'), amount: asText('r.amount::text') },
    },
    route: { type: 'RowRoute', fields: { model: asText('r.model'), hub: asText('r.hub') } },
    receipt: { type: 'Receipt', fields: { taskId: asText('r.task_id') }, where: 'r.payment_ref is not null' },
    replayEvents: `case r.replay_count when 0 then '[]' else ${replaysText('r.agent_id', 'r.seq')} end`,
    event: textFact('event'),
    policyCode: textFact('policy_code'),
    reason: textFact('reason'),
    policyKey: textFact('policy_key'),
    spentAtomic: textFact('spent_atomic'),
    capAtomic: textFact('cap_atomic'),
    periodStart: textFact('period_start'),
    refusalId: textFact('refusal_id'),
    bucket: textFact('bucket'),
    inflowClaim: factOf('object', 'inflow_claim'),
    inflowCorrections: factOf('array', 'inflow_corrections'),
  },
  always: [
    ...['agentId', 'seq', 'taskId', 'evidence', 'collected', 'collectedAt'],
    ...['replayCount', 'replayEvents', 'prevRowHash', 'rowHash'],
  ],
  rare: {
    none: `r.facts = '{}'`,
    fields: [
      ...['event', 'policyCode', 'reason', 'policyKey', 'spentAtomic', 'capAtomic', 'periodStart', 'refusalId'],
      ...['bucket', 'inflowClaim', 'inflowCorrections'],
    ],
  },
};

/** The newest rows of book $1, at most $2 of them, as one JSON text, each with what is selected of it. */
function rowsText({ fieldNodes, fragments }: Selected, key: string, leftOut: LeftOut): string {
  // A caller chooses the key: `constructor` is one like any other.
  const kept = Object.hasOwn(leftOut, key) ? leftOut[key] : undefined;
  const row = writtenBy(rowWriting, { fieldNodes, fragments }, kept ?? null);
  return `(select '['||coalesce(string_agg(${row},',' order by r.seq desc),'')||']'
    from (select * from book_row where agent_id = $1 order by seq desc limit $2) r
    left join ${replaysCounted('$1')} c using (seq))`;
}
type Selected = Pick<GraphQLResolveInfo, 'fieldNodes' | 'fragments'>;

/** Per field of a document: documents that are asked again and again are the same object, and leave out the same. */
const texts = new WeakMap<FieldNode, string | null>();

/**
 * The rows that a page selects, to be read in the statement that reads its head. Null where nobody takes text, and where
 * rows are selected not at all or under several names: then each name has a statement of its own.
 */
export function rowsOfPage({ fieldNodes, fragments, rootValue }: GraphQLResolveInfo): string | null {
  const [node] = fieldNodes;
  if (!node || rootValue === undefined) return null;
  const known = texts.get(node);
  if (known !== undefined) return known;
  const [rows, ...others] = [...selected(fieldNodes, fragments)].filter(([, [it]]) => it?.name.value === 'entries');
  const once = rows && others.length === 0;
  const text = once ? rowsText({ fieldNodes: rows[1], fragments }, rows[0], rootValue as LeftOut) : null;
  texts.set(node, text);
  return text;
}

export async function writeNewestRows(
  database: Database,
  { agentId, limit }: { readonly agentId: AgentId; readonly limit: number },
  info: GraphQLResolveInfo,
): Promise<Written> {
  const text = `select ${rowsText(info, String(info.path.key), info.rootValue as LeftOut)} as rows`;
  const [found] = await database.query<{ rows: string }>({ ...preparedIfFew(text), values: [agentId, limit] });
  return writtenText(found?.rows ?? '[]');
}
