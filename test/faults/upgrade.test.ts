import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { everyFeature } from '../../gateway/features/every-feature.ts';
import { tablesWith } from '../../gateway/parts.ts';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { sha256Hex } from '../../schema/digest.ts';
import { verifyConsistency } from '../../subgraphs/receipt/verify/merkle-proof.ts';
import { verifyReceipt } from '../../subgraphs/receipt/verify/receipt.ts';
import { verifyRefusal } from '../../subgraphs/receipt/verify/refusal.ts';
import type { Jwks } from '../../subgraphs/receipt/verify/signature.ts';
import { databaseBeforeBaselines, knownBeforeBaselines } from '../harness/before-baselines.ts';
import { payingFetch } from '../harness/buyer.ts';
import { freshChain } from '../harness/chain.ts';
import { valueAt } from '../harness/database.ts';
import { startTestHub } from '../harness/hub.ts';
import { ownFolder } from '../harness/scratch.ts';
import { openWorkerService, type RunningService } from '../harness/worker-gateway.ts';

/* A service of the version before the baselines, continued on its database and saved heads, with a new development chain. */

type UpgradedService = Awaited<ReturnType<typeof openUpgraded>>;

async function openUpgraded() {
  const [known, database_url, data_dir, chain, hub] = await Promise.all([
    knownBeforeBaselines(),
    databaseBeforeBaselines(),
    ownFolder(),
    freshChain(),
    startTestHub({ name: 'alpha', models: ['alpha-1'] }),
  ]);
  await writeFile(join(data_dir, 'log-head.json'), JSON.stringify(known.log_head));
  await writeFile(join(data_dir, 'book-heads.jsonl'), known.book_heads);
  const environment = {
    ...known.settings,
    DATABASE_URL: database_url,
    BASE_RPC_URL: chain.rpc_url,
    FACILITATOR_KEYS: chain.facilitator_keys.join(','),
    HUBS: JSON.stringify([hub.config]),
    API_KEYS: 'a-live-key',
    ROUTER_URL: '',
    LOG_LEVEL: 'warn',
  };
  const start = () => openWorkerService({ data_dir, environment });
  return { known, database_url, chain, start };
}

let upgraded: UpgradedService;
let service: RunningService;
beforeAll(async () => {
  upgraded = await openUpgraded();
  service = await upgraded.start();
});

const read = (sql: string) => valueAt(upgraded.database_url, sql);
const textAt = async (path: string) => (await fetch(service.url + path)).text();
const jsonAt = async <T = JsonObject>(path: string) => JSON.parse(await textAt(path)) as T;
const errors = () => service.logs.filter(line => /"level":[56]0/.test(line));

interface Log {
  readonly logHead: { readonly treeSize: number; readonly rootHash: string };
  readonly consistencyProof: readonly string[];
  readonly inclusionProof: { readonly leafIndex: number };
}

async function logSince(size: number, to: number, task_id: string): Promise<Log> {
  const query = `query ($from: Int!, $to: Int!, $task: String!) { logHead { treeSize rootHash }
    consistencyProof(from: $from, to: $to) inclusionProof(taskId: $task) { leafIndex } }`;
  const answer = await fetch(`${service.url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query, variables: { from: size, to, task: task_id } }),
  });
  const { data } = (await answer.json()) as { readonly data: Log };
  return data;
}

/** Sends a chat on the old book, paid by a wallet that is new to the service. */
async function ask(content: string): Promise<Response> {
  const pay = payingFetch(await upgraded.chain.newWallet());
  return pay(`${service.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'X-SVC-Session': upgraded.known.agent.session },
    body: JSON.stringify({ messages: [{ role: 'user', content }] }),
  });
}

async function buy(content: string): Promise<JsonObject> {
  const answer = await ask(content);
  expect(answer.status).toBe(200);
  const { svc } = (await answer.json()) as { readonly svc: JsonObject };
  return svc;
}

/** Reads the old book with its owner's session, or changes it. */
async function book(set?: JsonObject): Promise<JsonObject> {
  const { agent_id, session } = upgraded.known.agent;
  const headers = { 'content-type': 'application/json', 'X-SVC-Session': session };
  const sent = set ? { method: 'POST', body: JSON.stringify({ session, ...set }) } : {};
  const answer = await fetch(`${service.url}/v1/agents/${agent_id}/book`, { headers, ...sent });
  expect(answer.status).toBe(200);
  return (await answer.json()) as JsonObject;
}

/** Replaces two unsigned instructions by their former wording. */
function asBefore(text: string): string {
  return text
    .replace(
      'For a key that the set marks `revoked`, only receipts that its log held by then count:',
      'Of a key that the set calls `revoked` only what its log held by then counts:',
    )
    .replace(
      'A refusal signed with a key that the set marks `revoked` proves nothing.',
      'By a key that the set calls `revoked` it proves nothing.',
    );
}

/** The baselines and the later migrations. */
const { migrations } = tablesWith(everyFeature);

describe('a service on the database of the version before the baselines', () => {
  it('stamps it at start', async () => {
    const names = await read(`select string_agg(name, ' ' order by name) from mikro_orm_migrations`);
    expect(names).toBe(
      migrations
        .map(({ name }) => name)
        .sort()
        .join(' '),
    );
    expect(errors()).toEqual([]);
  });

  it('serves each receipt, preimage, refusal and dispute byte for byte as that version did, but for two instructions', async () => {
    const { served } = upgraded.known;
    const now = await Promise.all(Object.keys(served).map(async path => [path, asBefore(await textAt(path))] as const));
    expect(Object.fromEntries(now.map(([path, text]) => [path, sha256Hex(text)]))).toEqual(served);
    expect(now).toHaveLength(14);
  });

  it('has them verified offline by its key set', async () => {
    const jwks = await jsonAt<Jwks>('/.well-known/jwks.json');
    const paths = Object.keys(upgraded.known.served);
    for (const path of paths.filter(it => it.endsWith('.json'))) {
      expect(verifyReceipt(await jsonAt(path), jwks)).toMatchObject({ kind: 'valid' });
    }
    for (const path of paths.filter(it => it.startsWith('/refusal/'))) {
      expect(verifyRefusal(await jsonAt(path), jwks)).toMatchObject({ kind: 'valid' });
    }
  });

  it('shows its book, its post and what its totals come to', async () => {
    const { spent, cap, entries } = await book();
    expect([spent, cap]).toEqual(['6000', '6000']);
    expect(entries).toHaveLength(5);
    const { posts } = await jsonAt<{ readonly posts: readonly JsonObject[] }>('/v1/board/posts');
    expect(posts).toMatchObject([{ backing: 'spend-backed', untrusted_text: 'It answered.' }]);
    const { tree_size } = upgraded.known.log_head;
    expect(await read('select tree_size::int from totals_state')).toBe(tree_size);
  });

  it('keeps to the budget that was used up, until its owner raises it', async () => {
    expect((await ask('Too much')).status).toBe(403);
    expect(await book({ budget: '1000000' })).toMatchObject({ cap: '1000000' });
  });

  it('puts the next paid call on top: the next leaf, the next row, and a log that the old head is a prefix of', async () => {
    const { agent, log_head } = upgraded.known;
    const last = await read(`select max(seq) from book_row where agent_id = ${agent.agent_id}`);
    const svc = await buy('After the upgrade');
    expect(svc).toMatchObject({ claim_id: agent.agent_id, book_seq: Number(last) + 1 });
    const size = log_head.tree_size + 1;
    const log = await logSince(log_head.tree_size, size, String(svc.task_id));
    expect(log).toMatchObject({ logHead: { treeSize: size }, inclusionProof: { leafIndex: log_head.tree_size } });
    const hash = (text: string) => Buffer.from(text, 'hex');
    const [old_root, root] = [hash(log_head.root_hash), hash(log.logHead.rootHash)];
    const claim = { old_size: log_head.tree_size, old_root, size, root };
    expect(verifyConsistency(claim, log.consistencyProof.map(hash))).toBe(true);
    const chained = `select n.prev_row_hash = o.row_hash from book_row n join book_row o using (agent_id)
      where agent_id = ${agent.agent_id} and n.seq = ${last} + 1 and o.seq = ${last}`;
    expect(await read(chained)).toBe(true);
  });

  it('starts a second time as on any database of its own', async () => {
    await service.stop();
    service = await upgraded.start();
    expect(errors()).toEqual([]);
    expect(await read('select count(*)::int from mikro_orm_migrations')).toBe(migrations.length);
    await buy('After the second start');
    expect(await read('select tree_size::int from log_head')).toBe(upgraded.known.log_head.tree_size + 2);
  });
});
