import { beforeAll, describe, expect, it } from 'vitest';
import type { Door } from '../../rest-compat/door.ts';
import { everyDoor } from '../../rest-compat/every-door.ts';
import { canonicalJson, isJsonObject, type Json, type JsonObject } from '../../schema/canonical-json.ts';
import { sliceToken } from '../../schema/slice-token.ts';
import { bearerOf } from '../harness/doors/assignments.ts';
import { audio, audioForm } from '../harness/doors/audio-form.ts';
import { completionReport } from '../harness/doors/completions.ts';
import {
  answersOf,
  type FaceRefusal,
  type FaceRequest,
  refusedByGraph,
  refusedByRest,
} from '../harness/doors/faces.ts';
import { onGraph } from '../harness/doors/on-graph.ts';
import { ask, CHAT } from '../harness/doors/open-service.ts';
import { INBOUND, OPS, openPopulated, type Populated } from '../harness/doors/populated-service.ts';
import { bearer } from '../harness/doors/router.ts';
import { signaturesIn, signingDoors } from '../harness/doors/signing-doors.ts';
import { invoiceOf, transferOf } from '../harness/ingest/transfer-source.ts';
import { untilHolds } from '../harness/until-holds.ts';

/*
 * An endpoint gives the same answer through each face that offers it. This is tested for every endpoint that only reads, and for every
 * other one whose answer contains a signed document. What REST refuses, the graph must refuse too. Answers of A2A, and objects of which an
 * endpoint shows more, are in parity.test.ts.
 */

/** Endpoints of these kinds that are not compared, with the reason. */
const not_compared: Readonly<Record<string, string>> = {
  record_inflow: 'each call makes another row, whose claim get_agent_book shows',
  correct_inflow: 'each call makes another correction, which get_agent_book shows',
  start_reconciliation: 'its report is signed later, and get_reconciliation shows it',
  revoke_session: 'the signature in it is the payer’s, not ours: session-graph.test.ts',
  get_linked_approval: 'it is asked by a secret of its own: approval-graph.test.ts',
  get_job_output: 'it is there behind a whole job alone: jobs.test.ts',
  stream_book_export: 'it comes in pieces, and no other face has those',
  stream_book_journal: 'it comes in pieces, and no other face has those',
  follow_board_events: 'it has no end: board-events.test.ts',
  get_log_tile: 'it is bytes, which the graph has in base64: log.test.ts',
  get_log_entries: 'it is bytes, which the graph has in base64: log.test.ts',
};

/** Endpoints whose whole answer is compared, because a later call gets the same one. */
const compared = everyDoor.filter(
  door => signingDoors.includes(door) || (door.kind === 'document' && door.effect === 'reads'),
);

let populated: Populated;
let requests: Readonly<Record<string, readonly FaceRequest[]>>;
beforeAll(async () => {
  populated = await openPopulated();
  requests = await everything();
});

const agentId = () => populated.agent.agent_id;
const sessionOf = ({ session }: { readonly session: string }) => ({ 'X-SVC-Session': session });
/** A request for the agent's book with its session. */
const ofBook = (more: FaceRequest = {}): FaceRequest => ({
  headers: sessionOf(populated.agent),
  ...more,
  params: { agent_id: String(agentId()), ...more.params },
});

/** A request of the agent that has a waiting approval and a webhook. */
const ofWaiting = () =>
  ofBook({ params: { agent_id: String(populated.waiting.agent_id) }, headers: sessionOf(populated.waiting) });

/** Examples of each endpoint that sells work. Each has one payment, which was not sent yet. */
async function paidWork(): Promise<Record<string, readonly FaceRequest[]>> {
  const sold = signingDoors.filter(door => door.price !== null && door.challenge === 'first');
  const given = sold.map(async (door): Promise<[string, readonly FaceRequest[]]> => {
    const payer = await populated.service.chain.newWallet();
    const headers = await populated.service.payment(payer, door.path);
    const { example } = door;
    // A task must name its payer.
    const body = { ...example, ...(example && 'sender' in example && { sender: payer.address }) };
    if (door.takes === 'application/json') return [door.name, [{ headers, body }]];
    const file = audio('parity');
    const data = () => audioForm({ file, name: 'parity.wav' });
    return [
      door.name,
      [{ headers, form: { data, file: { name: 'parity.wav', base64: file.bytes.toString('base64') } } }],
    ];
  });
  return Object.fromEntries(await Promise.all(given));
}

/** A chat whose request has members that GraphQL writes differently or does not have, and whose answer calls a tool. */
async function chatWithTools(): Promise<FaceRequest> {
  const tool = { name: 'weather', parameters: { type: 'object', properties: { in_city: { type: 'string' } } } };
  const headers = await populated.service.payment(await populated.service.chain.newWallet(), CHAT);
  const messages = [{ role: 'user', content: 'Weather?', name: 'Ann', a_weight: 1 }];
  const tools = [{ type: 'function', function: tool }];
  return { headers, body: { messages, tools, tool_choice: 'required', top_p: 0.5, top_k: 3 } };
}

async function everything(): Promise<Record<string, readonly FaceRequest[]>> {
  const { service, agent, book, near, before, world } = populated;
  const { account } = agent;
  const headers = sessionOf(agent);
  const { task_id, chat } = book;
  const rows = (await service.get<{ entries: JsonObject[] }>(`/v1/agents/${agent.agent_id}/book`, headers)).body
    .entries;
  const [newest] = rows;
  // The kill switch was on when the call was refused, and is off again.
  const refused = rows.find(({ evidence }) => evidence === 'policy_blocked');
  await service.query(
    `insert into log_break (found, reason, declared_at, kid, jws) values ('{"tree_size":1,"root_hash":"00"}', 'parity', now(), 'a-kid', $1)`,
    [`${'e'.repeat(40)}.${'e'.repeat(40)}.${'e'.repeat(40)}`],
  );
  const ingest = invoiceOf(world.show(transferOf({ payer: account.address }))) as JsonObject;
  const stamp = await service.payment(account, `/v1/agents/${agent.agent_id}/book/ingest`, headers);
  const signed_at = Math.floor(Date.now() / 1000);
  const signature = await account.signMessage({
    message: `svc.receipts|${service.url}|${account.address}|${signed_at}`,
  });
  const wallet = { wallet: account.address };
  // Receipts of a call, of the stamp of a registration, of a payment to another service and of a router's generation.
  const receipts = [task_id, agent.task_id, populated.completed, populated.generated];
  const work = await paidWork();
  return {
    ...work,
    chat_completions: [...(work.chat_completions ?? []), await chatWithTools()],
    count_message_tokens: [{ body: { system: 'Be short.', messages: [{ role: 'user', content: 'Hi' }] } }],
    list_models: [{}],
    retrieve_model: [{ params: { id: 'svc/auto' } }],
    get_agent_book: [
      ofBook(),
      { params: { agent_id: String(near.agent_id) }, headers: sessionOf(near) },
      ofBook({ query: { evidence: 'policy_blocked' } }),
      ofBook({ query: { intent_id: 'bill' } }),
      ofBook({ query: { from: '2026-01-01', to: String(newest?.collected_at) } }),
      ofBook({ query: { task_id } }),
      ofBook({ query: { seq: '3' } }),
      ofBook({ query: { payment_ref: chat.svc.payment_ref } }),
      ofBook({ query: { limit: '2', before: '5' } }),
      ofBook({ query: { limit: '2', after: '1' } }),
    ],
    get_book_policy: [ofBook(), ofBook({ query: { at: String(refused?.collected_at) } })],
    get_book_alerts: [ofBook()],
    get_book_lineage: [ofBook({ params: { task_id: agent.task_id }, query: { limit: '1' } })],
    simulate_book_policy: [ofBook({ body: { policy: { hourly_cap: '2000' }, limit: 1 } })],
    export_book: [ofBook({ query: { format: 'json' } })],
    get_published_export: [ofBook()],
    pull_book_export: [{ params: { slug: book.slug } }],
    get_book_gaps: [ofBook(), ofBook({ query: { task_id } })],
    ingest_foreign_x402: [ofBook({ body: ingest, headers: { ...headers, ...stamp } })],
    list_assignments: [ofBook()],
    get_book_slice: [
      { headers: bearerOf(book.token) },
      { headers: bearerOf(book.token), query: { before: '3' }, unsigned: true },
    ],
    list_approvals: [ofWaiting()],
    list_disputes: [ofBook()],
    file_dispute: [ofBook({ body: book.dispute })],
    get_dispute: [ofBook({ params: { dispute_id: book.dispute_id } })],
    get_dispute_status: [{ params: { dispute_id: book.dispute_id } }],
    list_a2a_escrows: [ofBook()],
    get_webhook: [ofWaiting()],
    list_dead_letters: [ofWaiting()],
    get_reconciliation: [ofBook({ params: { report_id: book.report_id } })],
    get_agent_record: [
      { params: { agent_id: String(before.agent_id) } },
      {
        params: { agent_id: String(before.agent_id) },
        query: { opt_in: '1' },
        headers: sessionOf(before),
      },
    ],
    get_session_types: [{}],
    get_session: populated.sessions.map((delegation_hash, index, { length }) => ({
      params: { delegation_hash },
      // Only the last session was ended by a signed revocation.
      ...(index < length - 1 && { unsigned: true }),
    })),
    list_sessions: [ofBook(), ofBook({ query: { limit: '2' } })],
    get_receipt: receipts.map(it => ({ params: { task_id: it } })),
    get_receipt_preimage: [{ params: { id: task_id } }],
    get_task_status: [{ query: { task_id } }, { query: { task_id: chat.id } }],
    prove_result: [{ query: { task_id, requested: 'true' } }, { query: { task_id: chat.id, requested: 'true' } }],
    list_wallet_receipts: [
      { params: wallet, body: { signed_at, signature } },
      { params: wallet, body: { signed_at, signature, limit: 1 } },
    ],
    get_settlement: [{ params: { payment_id: populated.nonce } }],
    get_refusal: [{ params: { refusal_id: book.refusal_id } }],
    get_log_checkpoint: [{}],
    get_log_verifier_keys: [{}],
    get_log_proof: [{ params: { task_id } }],
    get_log_inclusion: [{ query: { task_id } }],
    get_log_consistency: [{ query: { from: '1', to: '2' } }],
    get_log_totals: [{}],
    get_payment_proof: [{ params: { task_id } }],
    get_book_total: [ofBook({ query: { task_id } })],
    get_router_summary: [
      { params: { book_id: populated.router.book_id }, headers: bearer(populated.router.ingest_key) },
    ],
    list_jobs: [{}],
    get_job: [{ params: { id: 'job_one' } }],
    list_board_posts: [{}],
    get_board_post: [{ params: { id: 'post_one' } }],
    list_board_comments: [{ params: { id: 'post_one' } }],
    search_board: [{ query: { q: 'billed', limit: '1' } }],
    get_board_feed_atom: [{}],
    get_board_feed_json: [{}],
    list_board_flags: [{ headers: OPS, query: { limit: '2' } }],
    record_completion: populated.completions.map(body => ({ headers: INBOUND, body })),
    get_endpoint_score: [{ params: { host: 'api.example' } }],
    get_jwks: [{}],
    get_did_document: [{}],
    get_issuer_history: [{}, { query: { version: '1' } }],
    get_receipt_policy_history: [{}],
    get_revocations: [{}, { query: { limit: '1', cursor: '2' } }],
    get_stats: [{}],
    get_log_breaks: [{}],
    get_agent_card: [{}],
    get_legacy_agent_card: [{}],
  };
}

it('each door that reads or shows something signed is asked here, or said to be elsewhere, and no other', () => {
  const named = [...Object.keys(requests), ...Object.keys(not_compared)].sort();
  expect(named).toEqual(compared.map(({ name }) => name).sort());
});

it('each door that sells work is among them', () => {
  const sells = everyDoor.filter(({ price, tags }) => price !== null && tags.includes('inference'));
  expect(signingDoors).toEqual(expect.arrayContaining(sells));
});

/** Members that depend on when or how an answer was given. Only their presence is compared. */
const OF_THE_ANSWER: ReadonlySet<string> = new Set(['as_of', 'exported_at', 'settlement_status', 'cursor']);

function lasting(value: Json): Json {
  if (Array.isArray(value)) return value.map(lasting);
  if (!isJsonObject(value)) return value;
  const members = Object.entries(value);
  return Object.fromEntries(
    members.map(([name, member]) => [name, OF_THE_ANSWER.has(name) ? member !== null : lasting(member)]),
  );
}

/** An answer that is a list, or the list among its members. */
function listIn(answer: Json): readonly Json[] {
  const found = Array.isArray(answer)
    ? answer
    : isJsonObject(answer)
      ? Object.values(answer).find(Array.isArray)
      : null;
  if (!found) throw new Error('there is no list in it');
  return found as readonly Json[];
}

describe.each(compared.filter(({ name }) => !(name in not_compared)).map(door => [door.name, door] as const))(
  '%s',
  (name: string, door: Door) => {
    it('answers the same, and the same that is signed, by each face that offers it', async () => {
      for (const given of requests[name] ?? []) {
        // An allowance is signed again each second, and the log grows. All faces are therefore called until nothing changed between the
        // calls.
        await untilHolds(async () => {
          const { rest, ...others } = await answersOf(populated.service, door, given);
          const offered = Object.values(others).filter(answer => answer !== null);
          expect(offered.length).toBeGreaterThan(0);
          for (const answer of offered) expect(lasting(answer)).toEqual(lasting(rest));
          if (name.startsWith('list_')) for (const answer of [rest, ...offered]) expect(listIn(answer)).not.toEqual([]);
          if (!signingDoors.includes(door)) return;
          const signed = signaturesIn(rest);
          expect(canonicalJson(signed).length > 50, canonicalJson(given as JsonObject)).toBe(!given.unsigned);
          for (const answer of offered) expect(signaturesIn(answer)).toEqual(signed);
        });
      }
    });
  },
);

interface Row {
  readonly door: string;
  /** Name of the fault in the request. */
  readonly why: string;
  readonly given: () => FaceRequest;
  /** Variables of the operation on GraphQL, for requests that REST refuses before it runs an operation. */
  readonly variables?: () => JsonObject;
  readonly refused: FaceRefusal;
  /** Whether GraphQL returns null instead of an error. */
  readonly null_on_graph?: true;
}

const UNAUTHENTICATED = { status: 401, code: 'unauthenticated' };
const FORBIDDEN = { status: 403, code: 'forbidden' };
const INVALID = { status: 400, code: 'invalid_request' };
const NOT_FOUND = { status: 404, code: 'not_found' };

const refusals: readonly Row[] = [
  {
    door: 'retrieve_model',
    why: 'no such model',
    given: () => ({ params: { id: 'nobody-1' } }),
    refused: { status: 404, code: 'model_not_found', param: 'model' },
    null_on_graph: true,
  },
  {
    door: 'get_settlement',
    why: 'nobody’s payment',
    given: () => ({ params: { payment_id: `0x${'0'.repeat(64)}` } }),
    refused: NOT_FOUND,
    null_on_graph: true,
  },
  {
    door: 'get_settlement',
    why: 'no id',
    given: () => ({ params: { payment_id: '?' } }),
    variables: () => ({ paymentId: '?' }),
    refused: { ...INVALID, param: 'payment_id' },
  },
  {
    door: 'get_agent_record',
    why: 'no such agent',
    given: () => ({ params: { agent_id: '999999' } }),
    refused: NOT_FOUND,
    null_on_graph: true,
  },
  {
    door: 'get_agent_record',
    why: 'more of it, and nothing shown',
    given: () => ofBook({ query: { opt_in: '1' }, headers: {} }),
    refused: UNAUTHENTICATED,
  },
  {
    door: 'get_agent_record',
    why: 'more of it, by another book’s session',
    given: () => ofBook({ query: { opt_in: '1' }, headers: sessionOf(populated.stranger) }),
    refused: FORBIDDEN,
  },
  {
    door: 'get_book_gaps',
    why: 'no row of the book',
    given: () => ofBook({ query: { task_id: 'nothing' } }),
    refused: NOT_FOUND,
  },
  {
    door: 'get_book_lineage',
    why: 'a row of another book',
    given: () => ofBook({ params: { task_id: populated.stranger.task_id } }),
    refused: { status: 403, code: 'task_not_on_book' },
  },
  {
    door: 'get_book_lineage',
    why: 'no limit',
    given: () => ofBook({ params: { task_id: populated.agent.task_id }, query: { limit: '0' } }),
    variables: () => ({ agentId: agentId(), taskId: populated.agent.task_id, limit: 0 }),
    refused: INVALID,
  },
  {
    door: 'get_agent_book',
    why: 'a moment before time',
    given: () => ofBook({ query: { from: '0000-01-01' } }),
    variables: () => ({ agentId: agentId(), filter: { from: '0000-01-01T00:00:00Z' } }),
    refused: INVALID,
  },
  {
    door: 'set_book_alerts',
    why: 'too small a factor',
    given: () => ofBook({ body: { burn_factor: 1 } }),
    variables: () => ({ agentId: agentId(), burnFactor: 1 }),
    refused: { ...INVALID, param: 'burn_factor' },
  },
  {
    door: 'set_book_alerts',
    why: 'nothing to set',
    given: () => ofBook({ body: {} }),
    variables: () => ({ agentId: agentId() }),
    refused: INVALID,
  },
  {
    door: 'create_assignment',
    why: 'too many rows',
    given: () => ofBook({ body: { slice: { limit: 201 } } }),
    variables: () => ({ agentId: agentId(), input: { slice: { limit: 201 } } }),
    refused: { ...INVALID, param: 'slice.limit' },
  },
  {
    door: 'revoke_assignment',
    why: 'no such assignment',
    given: () => ofBook({ params: { assignment_id: 'none' } }),
    refused: NOT_FOUND,
  },
  { door: 'get_book_slice', why: 'nothing shown', given: () => ({}), refused: { status: 401, code: 'token_required' } },
  {
    door: 'get_book_slice',
    why: 'a session',
    given: () => ({ headers: sessionOf(populated.agent) }),
    refused: { status: 401, code: 'token_required' },
  },
  {
    door: 'get_book_slice',
    why: 'nobody’s token',
    given: () => ({ headers: bearerOf(sliceToken(new Uint8Array(32))) }),
    refused: { status: 403, code: 'token_invalid' },
  },
  {
    door: 'file_dispute',
    why: 'no task',
    given: () => ofBook({ body: { ...populated.book.dispute, task_id: '' } }),
    variables: () => ({ agentId: agentId(), input: { claimType: 'output_missing', taskId: '' } }),
    refused: INVALID,
  },
  {
    door: 'file_dispute',
    why: 'no row of the book',
    given: () => ofBook({ body: { ...populated.book.dispute, task_id: 'none' } }),
    refused: NOT_FOUND,
  },
  {
    door: 'ledger_escrow',
    why: 'no name',
    given: () => ofBook({ body: { action: 'status' } }),
    variables: () => ({ agentId: agentId(), escrow: {} }),
    refused: { ...INVALID, param: 'escrow_id' },
  },
  {
    door: 'get_revocations',
    why: 'no cursor',
    given: () => ({ query: { cursor: '0' } }),
    variables: () => ({ cursor: '0' }),
    refused: INVALID,
  },
  {
    door: 'search_board',
    why: 'what is no text',
    given: () => ({ query: { q: 'a\0' } }),
    variables: () => ({ query: 'a\0' }),
    refused: INVALID,
  },
  { door: 'list_board_flags', why: 'nothing shown', given: () => ({}), refused: UNAUTHENTICATED },
  {
    door: 'list_board_flags',
    why: 'a wrong secret',
    given: () => ({ headers: { 'X-SVC-Board-Ops': 'wrong' } }),
    refused: FORBIDDEN,
  },
  {
    door: 'hide_job',
    why: 'nothing shown',
    given: () => ({ params: { id: 'job_one' }, body: {} }),
    refused: UNAUTHENTICATED,
  },
  {
    door: 'hide_job',
    why: 'a wrong secret',
    given: () => ({ params: { id: 'job_one' }, body: {}, headers: { 'X-SVC-Board-Ops': 'wrong' } }),
    refused: FORBIDDEN,
  },
  {
    door: 'hide_job',
    why: 'no such job',
    given: () => ({ params: { id: 'job_none' }, body: {}, headers: OPS }),
    refused: { status: 404, code: 'job_not_found' },
  },
  {
    door: 'record_completion',
    why: 'nothing shown',
    given: () => ({ body: completionReport() }),
    refused: UNAUTHENTICATED,
  },
  {
    door: 'record_completion',
    why: 'a wrong secret',
    given: () => ({ body: completionReport(), headers: { 'X-SVC-Board-Inbound': 'wrong' } }),
    refused: FORBIDDEN,
  },
];

describe.each(refusals.map(row => [row.door, row.why, row] as const))('%s: %s', (name, _, row) => {
  it('is refused alike at the door and on the graph', async () => {
    const door = everyDoor.find(door => door.name === name);
    if (door?.kind !== 'document') throw new Error(`${name} is no door of the graph`);
    const given = row.given();
    expect(await refusedByRest(populated.service, door, given)).toMatchObject(row.refused);
    const graph = await refusedByGraph(populated.service, door, given, row.variables?.());
    if (row.null_on_graph) expect(graph).toBeNull();
    else expect(graph).toMatchObject(row.refused);
  });
});

describe('chat_completions: no hub answers, and no other may be asked', () => {
  it('is refused alike at the door and on the graph, behind one attempt, and costs nothing', async () => {
    const { service } = populated;
    const payer = await service.chain.newWallet();
    const payment = await service.payment(payer, CHAT);
    const input = ask('Nobody', { svc: { failover: false } });
    for (const hub of service.hubs) hub.behave({ kind: 'status', status: 500 });
    const failed = { code: 'hub_failed', status: 502, charged: false, attempts: [{ reason: 'status_500' }] };
    expect((await service.post(CHAT, input, payment)).body).toMatchObject(failed);
    const query = 'mutation ($input: ChatCompletionInput!) { createChatCompletion(input: $input) { id } }';
    expect((await onGraph(service, query, { input }, payment)).refused).toMatchObject(failed);
    for (const hub of service.hubs) hub.behave({ kind: 'answer' });
    expect(await service.transfersFrom(payer)).toEqual([]);
  });
});
