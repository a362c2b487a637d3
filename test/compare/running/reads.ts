import { everyDoor } from '../../../rest-compat/every-door.ts';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import { nowSeconds } from '../../harness/session/delegate.ts';
import { BASE_URL, secrets } from './fixed-service.ts';
import type { StoryAgents, StoryIds } from './story.ts';
import { sessionHeader, type Teller } from './teller.ts';
import { type DoorCall, doorByName } from './transport.ts';

/* Reads the data of the finished story through each endpoint that reads, in each of its forms. */

/** Endpoints that are not read here, because they never end, describe only the process, or use another protocol. */
const APART = new Set(['follow_board_events', 'a2a_get_task', 'a2a_list_tasks', 'list_wallet_receipts']);

type Form = Pick<DoorCall, 'query' | 'headers' | 'params' | 'body' | 'method'>;

/** Further forms of a read, in addition to the plain one, which may show nothing or only a part. */
function formsOf(cast: StoryAgents, things: StoryIds, tree_size: number): Readonly<Record<string, readonly Form[]>> {
  const task_id = String(things.task_id);
  const formats = (...names: string[]): Form[] => names.map(format => ({ query: { format } }));
  const accepts = (...types: string[]): Form[] => types.map(accept => ({ headers: { accept } }));
  const tasks = ['task_id', 'ingested_task_id', 'handed_task'] as const;
  const each = tasks.map((name): Form => ({ params: { task_id: String(things[name]) } }));
  return {
    get_receipt: [...each, ...formats('auditor', 'cose', 'vc'), ...accepts('text/html')],
    get_receipt_preimage: [{ params: { id: task_id } }],
    get_refusal: [{}, ...formats('auditor'), ...accepts('text/html')],
    get_task_status: [{ query: { task_id } }, { query: { task_id: String(things.handed_task) } }],
    prove_result: [{ query: { task_id, requested: 'true' } }],
    get_log_tile: [{ params: { level: '0', path: `000.p/${tree_size}` } }],
    get_log_entries: [{ params: { path: `000.p/${tree_size}` } }],
    get_log_inclusion: [{ query: { task_id } }],
    get_log_consistency: [{ query: { from: '3', to: String(tree_size) } }],
    get_agent_book: [
      {},
      { query: { limit: '2' } },
      ...[cast.bob, cast.carol, cast.dave, cast.erin].map(agent => ({
        params: { agent_id: agent.agent_id },
        headers: sessionHeader(agent),
      })),
    ].map(form => ({ method: 'GET', ...form })) as Form[],
    get_agent_record: [{}, { headers: {} }],
    export_book: [...formats('csv', 'json', 'html', 'bundle'), { query: { format: 'json', limit: '3' } }].map(form => ({
      method: 'GET',
      ...form,
    })),
    stream_book_export: formats('csv', 'ndjson', 'parquet'),
    stream_book_journal: [
      { query: { format: 'csv', per: 'row' } },
      { query: { format: 'ledger', per: 'row' } },
      { query: { format: 'ledger', per: 'day' } },
    ],
    pull_book_export: [{}, ...formats('csv')],
    get_book_slice: [{ headers: { authorization: `Bearer ${things.token}` } }],
    get_router_summary: [{ headers: { authorization: `Bearer ${things.ingest_key}` } }],
    list_board_flags: [{ headers: { 'X-SVC-Board-Ops': secrets.ops } }],
    search_board: [{ query: { q: 'answered' } }],
    get_endpoint_score: [{ params: { host: 'shop.example' } }],
    get_issuer_history: [{}],
    get_linked_approval: [],
    count_message_tokens: [{ body: { messages: [{ role: 'user', content: 'How many?' }] } }],
    list_a2a_escrows: [{}, { headers: sessionHeader(cast.bob), params: { agent_id: cast.bob.agent_id } }],
    retrieve_model: [{ params: { id: 'alpha-1' } }],
    simulate_book_policy: [],
    get_session: [{}, { params: { delegation_hash: String(things.revoked_hash) } }],
  };
}

/** Reads each endpoint as a step of the story, with its own label and time. */
export async function readAll(teller: Teller, cast: StoryAgents, things: StoryIds): Promise<void> {
  const { tell, service } = teller;
  const [{ tree_size = 0 } = {}] = await service.query<{ tree_size: number }>(
    'select max(tree_size)::int as tree_size from receipt',
  );
  const forms = formsOf(cast, things, tree_size);
  const names: StoryIds = { ...things, id: String(things.post_id) };
  for (const door of everyDoor) {
    if (door.kind !== 'document' || door.effect !== 'reads' || APART.has(door.name)) continue;
    const id = door.path.includes('/jobs/') ? String(things.job_id) : String(things.post_id);
    for (const [index, form] of (forms[door.name] ?? [{}]).entries()) {
      const headers = door.possession === 'none' ? {} : sessionHeader(cast.alice);
      const call = {
        ...form,
        door: door.name,
        params: { ...names, id, ...form.params },
        headers: { ...headers, ...form.headers },
      };
      await tell(`read ${index}`, call);
    }
  }
  const signed_at = nowSeconds();
  const wallet = cast.bob.account.address;
  const message = `svc.receipts|${BASE_URL}|${wallet}|${signed_at}`;
  const body: JsonObject = { signed_at, signature: await cast.bob.account.signMessage({ message }) };
  await tell('receipts of a wallet', { door: doorByName('list_wallet_receipts').name, params: { wallet }, body });
}

const EVENTS = `subscription($agentId: Int!) { bookRows(agentId: $agentId, after: 0) {
  agentId position kind seq taskId at body count hash prevHash alert { __typename } dispute { __typename } escrow givenUp { __typename }
  wouldBlock { __typename } row { taskId seq evidence collected collectedAt rowHash prevRowHash }
} }`;

/** Both feeds as they are sent over HTTP, up to the newest event. */
export async function readFeeds(
  { service }: Teller,
  cast: StoryAgents,
): Promise<Readonly<Record<string, readonly string[]>>> {
  const heads = await service.query<{ agent_id: number; position: number }>(
    'select agent_id, position::int as position from book',
  );
  const [board] = await service.query<{ position: number }>('select position::int as position from board_head');
  const url = service.gateway.url;
  const feeds: Record<string, readonly string[]> = {};
  feeds.board = await firstEvents(`${url}/v1/board/events?after=0`, {}, board?.position ?? 0);
  for (const [name, agent] of Object.entries(cast)) {
    const count = heads.find(({ agent_id }) => agent_id === agent.agent_id)?.position ?? 0;
    const body = JSON.stringify({ query: EVENTS, variables: { agentId: agent.agent_id } });
    const headers = { 'content-type': 'application/json', accept: 'text/event-stream', ...sessionHeader(agent) };
    feeds[name] = await firstEvents(`${url}/graphql/stream`, { method: 'POST', headers, body }, count);
  }
  return feeds;
}

async function firstEvents(url: string, init: RequestInit, count: number): Promise<readonly string[]> {
  const leaving = new AbortController();
  const answer = await fetch(url, { ...init, signal: AbortSignal.any([leaving.signal, AbortSignal.timeout(20_000)]) });
  const events: string[] = [];
  let rest = '';
  const pieces = (answer.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream());
  for await (const piece of pieces) {
    const parts = (rest + piece).split('\n\n');
    rest = parts.pop() ?? '';
    events.push(...parts.filter(part => /^data: ./m.test(part)));
    if (events.length >= count) break;
  }
  leaving.abort();
  return events.slice(0, count);
}
