import { Kind } from 'graphql';
import { expect } from 'vitest';
import { z } from 'zod';
import type { Door } from '../../../rest-compat/door.ts';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import { payingFetch } from '../buyer.ts';
import { bindRoot } from '../session/trees.ts';
import { untilHolds } from '../until-holds.ts';
import { approvalDoorsOf } from './approvals.ts';
import { insertPost } from './board-posts.ts';
import type { Service } from './open-service.ts';
import { policyDoorsOf } from './policies.ts';

/*
 * Helpers of the tests that visit every row of the door table (possession.test.ts, demo-key-writes.test.ts): an agent with one object of
 * each kind that a path can name (`DoorObjects`), bodies that each endpoint accepts from an authorised client, and a fingerprint of the
 * whole database. If a request for an existing object with a valid body is refused, neither was the reason. If the fingerprint is
 * unchanged, the request wrote nothing for any agent, except in the tables of `WRITTEN_ANYWAY`. No body contains a secret that authorises
 * one object only: its signatures of acts and of revocations are invalid.
 */

type Agent = Awaited<ReturnType<Service['newAgent']>>;

/** Objects of an agent, under the names that paths and bodies use for them. */
export interface DoorObjects {
  readonly agent_id: number;
  readonly agent_wallet: string;
  /** Task of the call that registered the agent, which is a row of its book. */
  readonly task_id: string;
  readonly inflow_task_id: string;
  readonly assignment_id: string;
  readonly dispute_id: string;
  readonly report_id: string;
  readonly post_id: string;
  readonly job_id: string;
  readonly commentId: string;
  /** An approval request that is open. */
  readonly approval_id: string;
  /** Hash of a session under which a call was paid. */
  readonly delegation_hash: string;
  /** An agent with which an escrow can be opened. */
  readonly counterparty_agent_id: number;
}

/** Creates the objects of that agent. All are free except the job, whose stamp the agent pays. */
export async function createObjects(service: Service, agent: Agent, counterparty: Agent): Promise<DoorObjects> {
  const { account, agent_id, session, task_id } = agent;
  const headers = { 'X-SVC-Session': session };
  const make = async (method: string, path: string, body: JsonObject, by?: ReturnType<typeof payingFetch>) => {
    const made = await service.knock<Record<string, string>>(method, path, { body, headers, ...(by && { by }) });
    if (made.status >= 300) throw new Error(`${method} ${path} was answered by ${made.status} ${made.text}`);
    return made.body;
  };
  const book = `/v1/agents/${agent_id}/book`;
  // Task ids are unique over all books.
  const inflow_task_id = `inflow-of-the-walk-${agent_id}`;
  await make('POST', `${book}/inflow`, { allocation: '5', task_id: inflow_task_id });
  const { assignment_id = '' } = await make('POST', `${book}/assign`, {});
  const { dispute_id = '' } = await make('POST', `${book}/dispute`, {
    task_id: inflow_task_id,
    claim_type: 'output_missing',
  });
  const blocks = { wallet: account.address, from_block: 0, to_block: 0 };
  const { report_id = '' } = await make('POST', `${book}/reconciliation`, blocks);
  await make('POST', `${book}/export/publish`, {});
  const { job_id = '' } = await make('POST', '/v1/board/jobs', jobBody(), payingFetch(account));
  const post_id = await insertPost(service, { agent_id });
  const commentId = await standingComment(service, { agent_id, post_id });
  const { delegation_hash } = await bindRoot(service, account);
  const approval_id = await waitingApproval(service, agent);
  // Last, so that it receives no event of the other objects.
  await make('PUT', `${book}/webhook`, { url: 'https://hooks.invalid/' });
  // A report is made in the background, and must not be mistaken for a write by the walk.
  await untilReported(service, report_id);
  return {
    agent_id,
    agent_wallet: account.address,
    task_id,
    inflow_task_id,
    assignment_id,
    dispute_id,
    report_id,
    post_id,
    job_id,
    commentId,
    approval_id,
    delegation_hash,
    counterparty_agent_id: counterparty.agent_id,
  };
}

async function standingComment({ query }: Service, { agent_id, post_id }: { agent_id: number; post_id: string }) {
  const comment_id = `comment_${'1'.repeat(26)}`;
  await query(
    `insert into board_comment (comment_id, post_id, agent_id, stamp_task_id, untrusted_text, hidden, posted_at)
      values ($1, $2, $3, 'task_none', 'So it is here.', false, now())`,
    [comment_id, post_id, agent_id],
  );
  return comment_id;
}

/** A call that waits for approval. Afterwards the book allows such calls without one again. */
async function waitingApproval(service: Service, agent: Agent): Promise<string> {
  const approvals = approvalDoorsOf(() => service);
  await approvals.warned(agent);
  const { request } = await approvals.callToApprove(agent, 'To be approved');
  await policyDoorsOf(service).set(agent, 'tier2_above', null);
  return request.approval_id;
}

async function untilReported({ query }: Pick<Service, 'query'>, report_id: string): Promise<void> {
  const text = `select 1 from reconciliation where report_id = $1 and state <> 'running'`;
  await untilHolds(async () => expect(await query(text, [report_id])).toHaveLength(1));
}

const jobBody = (): JsonObject => ({
  text: 'Sum up the three newest papers on tidal power',
  budget: '5000000',
  deadline: new Date(Date.now() + 86_400_000).toISOString(),
});

/**
 * The path with each of its names filled in: `{id}` is the id of a job or a post, depending on the segment before it. `any` is the id of no
 * object.
 */
export function pathWith(path: string, ids: Readonly<Record<string, string | number>>): string {
  return path
    .replace('/jobs/{id}', '/jobs/{job_id}')
    .replace('/posts/{id}', '/posts/{post_id}')
    .replaceAll(/\{(\w+)\}/g, (_, name: string) => String(ids[name] ?? 'any'));
}

const HASH = '0'.repeat(64);
const SIGNATURE = `0x${'0'.repeat(130)}`;

/**
 * Bodies for endpoints whose schema does not describe every condition of a valid body, or that write only if an optional member is given.
 */
const bodies: Readonly<Record<string, (things: DoorObjects) => readonly JsonObject[]>> = {
  get_agent_book: () => [{ budget: '1' }],
  set_book_policy: () => [{ policy_type: 'kill_switch', value: true }],
  simulate_book_policy: () => [{ policy: { kill_switch: true } }],
  set_book_alerts: () => [{ burn_factor: 9 }],
  set_webhook: () => [{ url: 'https://hooks.invalid/elsewhere' }],
  correct_inflow: ({ inflow_task_id }) => [{ task_id: inflow_task_id, reason: 'It was less.' }],
  file_dispute: ({ inflow_task_id }) => [
    { task_id: inflow_task_id, claim_type: 'output_missing', evidence: { note: 'the walk' } },
  ],
  start_reconciliation: ({ agent_wallet }) => [{ wallet: agent_wallet, from_block: 0, to_block: 0 }],
  ledger_escrow: ({ task_id }) => ['open', 'release', 'clawback', 'status'].map(action => ({ action, task_id })),
  a2a_escrow: ({ task_id, counterparty_agent_id }) => [
    { action: 'open', job_spec_hash: HASH, amount: '1', parties: { counterparty_agent_id } },
    { action: 'fund', job_id: 'any', task_id },
    { action: 'submit', job_id: 'any', fulfillment_receipt_id: task_id, output_commitment: `sha256:${HASH}` },
    { action: 'challenge', job_id: 'any', claim_type: 'output_missing' },
    ...['release', 'clawback', 'status'].map((action): JsonObject => ({ action, job_id: 'any' })),
  ],
  post_job: () => [jobBody()],
  deliver_job: () => [{ output_sha256: HASH }],
  refuse_delivery: () => [{ output_sha256: HASH, reason: 'Not all of it' }],
  act_in_session: () => [
    { action: 'redeem', resource: 'receipt/any', signature: SIGNATURE, nonce: `0x${HASH}`, deadline: 1 },
  ],
  revoke_session: () => [{ at: 1, signature: SIGNATURE }],
};

/** Bodies that the endpoint accepts from an authorised client, one for each action if it has actions. */
export const bodiesOf = (door: Door, things: DoorObjects): readonly JsonObject[] =>
  bodies[door.name]?.(things) ?? [
    sampleOf(z.toJSONSchema(door.requests.body, { io: 'input', unrepresentable: 'any' }) as Shape) as JsonObject,
  ];

interface Shape {
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Shape[];
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly required?: readonly string[];
  readonly minimum?: number;
}

/** A value of that shape with its required members only. */
function sampleOf({ type, enum: words, anyOf, properties = {}, required = [], ...shape }: Shape): unknown {
  if (shape.const !== undefined) return shape.const;
  if (words) return words[0];
  if (anyOf?.[0]) return sampleOf(anyOf[0]);
  if (type === 'object') return Object.fromEntries(required.map(name => [name, sampleOf(properties[name] ?? {})]));
  if (type === 'array') return [];
  if (type === 'integer' || type === 'number') return Math.max(1, shape.minimum ?? 1);
  if (type === 'boolean') return true;
  return '1';
}

export const hasMutation = (door: Door): boolean =>
  door.kind === 'document' &&
  door.documents.some(({ definitions }) =>
    definitions.some(it => it.kind === Kind.OPERATION_DEFINITION && it.operation === 'mutation'),
  );

const COUNTED = 'counted from the log by a job';
/** Tables that the service writes even if it gets no request, each with the reason. */
const WRITTEN_ANYWAY: Readonly<Record<string, string>> = {
  process_lease: 'each process says that it lives',
  chain_epoch: 'the newest block that was seen',
  board_funding_head: 'how far payments to those who post were looked for',
  // Payments write this table too, but each of them also writes payment_claim.
  settlement: 'until its block is final',
  settlement_fee_day: 'what a block has cost, once it is known',
  // The fingerprint contains the receipts that these tables count.
  totals_book: COUNTED,
  totals_node: COUNTED,
  totals_page: COUNTED,
  totals_row: COUNTED,
  totals_seen: COUNTED,
  totals_state: COUNTED,
};

/** A fingerprint of each table of the database, except those that are written without any request. */
export async function fingerprints({ query }: Pick<Service, 'query'>): Promise<Readonly<Record<string, string>>> {
  const text = statements.get(query) ?? (await fingerprintOfAll(query));
  statements.set(query, text);
  const hashed = await query<{ table: string; rows: string }>(text, [], 'fingerprints');
  return Object.fromEntries(hashed.map(({ table, rows }) => [table, rows]));
}

/** Statements by service. They are prepared once, because planning one over all tables takes five times as long as running it. */
const statements = new WeakMap<Service['query'], string>();

async function fingerprintOfAll(query: Service['query']): Promise<string> {
  const found = await query<{ table: string }>(
    `select relname as table from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition`,
  );
  const all = found.map(({ table }) => table);
  expect(all).toEqual(expect.arrayContaining(Object.keys(WRITTEN_ANYWAY)));
  const tables = all.filter(table => !(table in WRITTEN_ANYWAY));
  expect(tables.length).toBeGreaterThan(60);
  const each = tables.map(
    table =>
      `select '${table}' as table, md5(coalesce(string_agg(t::text, '|' order by t::text), '')) as rows from "${table}" t`,
  );
  return each.join(' union all ');
}
