import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { verifyReceipt } from '../../subgraphs/receipt/verify/receipt.ts';
import { ask, CHAT, type Service, sharedService } from '../harness/doors/open-service.ts';
import {
  type DelegatedSession,
  delegate,
  headerOf,
  hex32,
  nowSeconds,
  signGrant,
} from '../harness/session/delegate.ts';
import {
  type BoundSession,
  bindChild,
  bindRoot,
  newKey,
  payUnder,
  revoke,
  sessionPath,
} from '../harness/session/trees.ts';

/* Rows name the session of their call. A grant with an API key is checked like one with a payment. */

type Agent = Awaited<ReturnType<Service['newAgent']>>;

let service: Service;
let owner: Agent;
let session: BoundSession;
let second: string;
beforeAll(async () => {
  service = await sharedService();
  owner = await service.newAgent();
  session = await bindRoot(service, owner.account, { models: ['alpha-1', 'beta-1'] });
  second = await payUnder(service, session, 'A second one');
  await service.buy(owner.account, ask('Under none'));
});

const by = ({ session }: Pick<Agent, 'session'>) => ({ 'X-SVC-Session': session });
const bookPath = (beneath = '') => `/v1/agents/${owner.agent_id}/book${beneath}`;
const bookOf = async (query = '') =>
  (await service.get<JsonObject & { entries: JsonObject[] }>(bookPath(query), by(owner))).body;
const named = (rows: readonly JsonObject[]) =>
  rows.filter(row => row.delegation_hash === session.delegation_hash).map(({ task_id }) => task_id);
const both = () => [session.task_id, second];
const only = () => `delegation_hash=${session.delegation_hash}`;

describe('a session in the book of its payer', () => {
  it('is named by the rows of its calls, and by no other', async () => {
    const { entries } = await bookOf();
    expect(named(entries).toSorted()).toEqual(both().toSorted());
    for (const row of entries.filter(({ task_id }) => !both().includes(String(task_id))))
      expect(row).not.toHaveProperty('delegation_hash');
    const query = `{ book(agentId: ${owner.agent_id}) { entries { taskId delegationHash } rows(first: 50) {
      edges { node { taskId delegationHash } } } row(taskId: "${second}") { delegationHash } } }`;
    const { body } = await service.post<{ data: { book: Record<string, never> } }>('/graphql', { query }, by(owner));
    const {
      entries: written,
      rows,
      row,
    } = body.data.book as never as {
      entries: JsonObject[];
      rows: { edges: { node: JsonObject }[] };
      row: JsonObject;
    };
    expect(row).toEqual({ delegationHash: session.delegation_hash });
    expect(rows.edges.map(({ node }) => node)).toEqual(written);
  });

  it('narrows the book: sums beside the rows are of the session alone, in any spelling of its hash', async () => {
    for (const hash of [session.delegation_hash, `0x${session.delegation_hash.slice(2).toUpperCase()}`]) {
      const book = await bookOf(`?delegation_hash=${hash}`);
      expect(book).toMatchObject({ matching_count: 2, matching_usdc_sum: '4000', totals_cover: 'whole_book' });
      expect(book.entries.map(({ task_id }) => task_id).toSorted()).toEqual(both().toSorted());
    }
    expect(await bookOf(`?delegation_hash=${hex32()}`)).toMatchObject({ matching_count: 0, entries: [] });
    const wrong = await service.get(bookPath('?delegation_hash=0x12'), by(owner));
    expect(wrong).toMatchObject({ status: 400, body: { error: { param: 'delegation_hash' } } });
  });

  it('narrows each export, which names it by row; a published one takes no such filter', async () => {
    const pack = await service.get<{ rows: JsonObject[]; row_count: number }>(
      bookPath(`/export?format=json&${only()}`),
      by(owner),
    );
    expect([pack.body.row_count, named(pack.body.rows).toSorted()]).toEqual([2, both().toSorted()]);
    const csv = (await service.get<string>(bookPath(`/export?${only()}`), by(owner))).text.trim().split('\n');
    expect([csv.length, csv[0]?.split(',').includes('delegation_hash')]).toEqual([3, true]);
    expect(csv[1]).toContain(session.delegation_hash);
    const all = await service.get<{ rows: JsonObject[] }>(bookPath('/export?format=json'), by(owner));
    expect(named(all.body.rows)).toHaveLength(2);
    expect(all.body.rows.length).toBeGreaterThan(2);
    const page = await service.get<string>(bookPath(`/export?format=html&${only()}`), by(owner));
    expect(page.text).toContain(`session ${session.delegation_hash}`);
    const stream = await fetch(service.url + bookPath(`/export/stream?format=ndjson&${only()}`), {
      headers: by(owner),
    });
    const lines = (await stream.text())
      .trim()
      .split('\n')
      .map(line => JSON.parse(line) as JsonObject);
    expect(named(lines)).toHaveLength(2);
    expect(lines.at(-1)).toMatchObject({ end: { filters: { delegation_hash: session.delegation_hash } } });
    const journal = await service.get<string>(bookPath(`/export/journal?format=ledger&${only()}`), by(owner));
    expect(journal.text).toContain(second);
    const publish = { delegation_hash: session.delegation_hash };
    expect((await service.post(bookPath('/export/publish'), publish, by(owner))).status).toBe(400);
    const query = `mutation { publishExport(agentId: ${owner.agent_id}, filter: { delegationHash: "${session.delegation_hash}" }) { slug } }`;
    const { body } = await service.post<JsonObject>('/graphql', { query }, by(owner));
    expect(body).toMatchObject({ errors: [{ extensions: { code: 'invalid_request' } }] });
  });
});

describe('totals of a book by session', () => {
  const TOTALS = `query ($agentId: Int!, $from: DateTime) { book(agentId: $agentId) { totalsBy(by: [SESSION, NETWORK], from: $from) {
    by period key rail count amount } } }`;
  const totals = async (variables: JsonObject = {}) => {
    const asked = { query: TOTALS, variables: { agentId: owner.agent_id, ...variables } };
    const { body } = await service.post<{ data: { book: { totalsBy: JsonObject[] } } }>('/graphql', asked, by(owner));
    return body.data.book.totalsBy;
  };

  it('are of each session the amounts of its rows, and of no session those of all others', async () => {
    const { entries } = await bookOf('?limit=200');
    const others = entries.filter(
      row => (row.payment as JsonObject | undefined)?.amount && !both().includes(String(row.task_id)),
    );
    const all = { by: 'SESSION', period: null, rail: 'usdc' };
    expect(
      (await totals())
        .filter(({ by }) => by === 'SESSION')
        .toSorted((a, b) => (a.key === null ? 1 : b.key === null ? -1 : 0)),
    ).toEqual([
      { ...all, key: session.delegation_hash, count: 2, amount: '4000' },
      { ...all, key: null, count: others.length, amount: String(2_000 * others.length) },
    ]);
    expect(others.length).toBeGreaterThan(0);
  });

  it('are of whole days, and come to what all totals come to', async () => {
    const { body } = await service.post<JsonObject>(
      '/graphql',
      { query: TOTALS, variables: { agentId: owner.agent_id, from: '2026-01-01T01:00:00Z' } },
      by(owner),
    );
    expect(body).toMatchObject({ errors: [{ extensions: { code: 'invalid_request', param: 'from' } }] });
    const sum = (found: readonly JsonObject[], by: string) =>
      found.filter(it => it.by === by).reduce((total, { amount }) => total + BigInt(String(amount)), 0n);
    const found = await totals();
    expect(sum(found, 'SESSION')).toBe(sum(found, 'NETWORK'));
  });
});

const KEY = { 'X-API-Key': 'a-live-key' };
const byKey = (content: string, { headers }: Pick<DelegatedSession, 'headers'>, more = {}) =>
  service.post<JsonObject & { svc: JsonObject }>(CHAT, ask(content, more), { ...KEY, ...by(owner), ...headers });
const newSession = (more = {}) => delegate(owner.account, owner.account, newKey(), more);

describe('a grant beside an API key', () => {
  it('200 within it: row and receipt name the session, which counts nothing and is bound by nothing', async () => {
    const before = await service.query('select spent_atomic from delegation where delegation_hash = $1', [
      session.delegation_hash,
    ]);
    const { status, body } = await byKey('By key', session, { model: 'alpha-1' });
    expect([status, body.svc.delegation_hash]).toEqual([200, session.delegation_hash]);
    const receipt = (await service.get<JsonObject>(`/receipt/${body.svc.task_id}.json`)).body;
    expect(receipt).toMatchObject({ caller_binding: { agent_pubkey: session.grant.agentPubkey } });
    expect(verifyReceipt(receipt, (await service.jwks()) as never)).toMatchObject({ kind: 'valid' });
    const { entries } = await bookOf(`?${only()}&evidence=UNVERIFIED`);
    expect(entries).toMatchObject([{ task_id: body.svc.task_id, delegation_hash: session.delegation_hash }]);
    const after = await service.query('select spent_atomic from delegation where delegation_hash = $1', [
      session.delegation_hash,
    ]);
    expect(after).toEqual(before);
    const unbound = await newSession();
    expect((await byKey('By key, and unbound', unbound)).status).toBe(200);
    expect((await service.get(sessionPath(unbound.delegation_hash))).status).toBe(404);
  });

  it.each([
    ['is malformed', 400, 'delegation_invalid', async () => ({ headers: headerOf({ grant: 'none' }) })],
    ['is not signed by its payer', 400, 'delegation_invalid', async () => delegate(newKey(), owner.account, newKey())],
    ['is for other endpoints', 403, 'grant_exceeded', async () => newSession({ doors: ['generate_image'] })],
    ['is for other models', 403, 'grant_exceeded', async () => newSession({ models: ['no-such'] })],
    ['is over', 403, 'session_not_active', async () => newSession({ sessionExpiry: nowSeconds() - 1 })],
    [
      'was revoked',
      403,
      'session_not_active',
      async () => {
        const bound = await bindRoot(service, owner.account);
        await revoke(service, owner.account, bound);
        return bound;
      },
    ],
    [
      'comes with an act, which approves a payment',
      400,
      'delegation_invalid',
      async () => {
        const { grant, signature } = session;
        const act = { nonce: hex32(), deadline: nowSeconds() + 100, signature: '0x01' };
        return { headers: headerOf({ grant, signature, act }) };
      },
    ],
  ] as const)('that %s is %i %s: nobody is asked for the answer', async (_, status, code, made) => {
    const { headers } = await made();
    const asked = service.hubs.map(hub => hub.requests.length);
    expect(await byKey('Refused by key', { headers })).toMatchObject({ status, body: { code, charged: false } });
    expect(service.hubs.map(hub => hub.requests.length)).toEqual(asked);
  });

  it('whose session is known is held to its signature: whoever knows its members alone is 400', async () => {
    const root = await bindRoot(service, owner.account);
    for (const [bound, signer] of [
      [root, owner.account],
      [await bindChild(service, root, owner.account), root.agent],
    ] as const) {
      const { grant, delegation_hash } = bound;
      for (const signature of [await signGrant(newKey(), grant), '0x01']) {
        const forged = await byKey('Signed by a stranger', { headers: headerOf({ grant, signature }) });
        expect(forged).toMatchObject({ status: 400, body: { code: 'delegation_invalid', charged: false } });
      }
      // The same signature in another encoding than the stored one.
      const signature = await signGrant(signer, grant);
      const spelt = `${signature.slice(0, -2)}${signature.endsWith('1b') ? '00' : '01'}`;
      const { status, body } = await byKey('Signed anew', { headers: headerOf({ grant, signature: spelt }) });
      expect([status, body.svc?.delegation_hash]).toEqual([200, delegation_hash]);
    }
  });

  it('limits which models svc/auto and failover may choose', async () => {
    const narrow = await newSession({ models: ['beta-1'] });
    const { status, body } = await byKey('Chosen within the grant', narrow);
    expect([status, body.model]).toEqual([200, 'beta-1']);
  });
});
