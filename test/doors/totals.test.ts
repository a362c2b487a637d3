import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { verifyTotals } from '../../subgraphs/receipt/verify/totals.ts';
import { runCommand } from '../harness/commands/run.ts';
import { ask, openService, type Service } from '../harness/doors/open-service.ts';
import { ownFolder } from '../harness/scratch.ts';
import { untilHolds } from '../harness/until-holds.ts';

let service: Service;
let agent: Awaited<ReturnType<Service['newAgent']>>;
let session: Record<string, string>;
let jwks: JsonObject;
let task_id: string;
beforeAll(async () => {
  service = await openService({}, { meant: /does not extend what was signed|one payment backs two receipts/ });
  agent = await service.newAgent();
  session = { 'X-SVC-Session': agent.session };
  for (const content of ['one', 'two'])
    task_id = (await service.buy(agent.account, ask(content), session)).body.svc.task_id;
  await service.buy(await service.chain.newWallet(), ask('of no book'));
  await service.buy(agent.account, ask('by a key'), { ...session, authorization: 'Bearer a-live-key' });
  jwks = (await service.get('/.well-known/jwks.json')).body;
  await counted();
});

/** Waits until the newest statement of totals includes the newest leaf. */
async function counted(): Promise<void> {
  const [log] = await service.query<{ tree_size: string }>('select tree_size from log_head');
  const here = async () => (await service.get('/log/totals')).body?.tree_size;
  await untilHolds(async () => expect(await here()).toBe(Number(log?.tree_size)));
}

const total = (query = '', headers = session) =>
  service.get(`/v1/agents/${agent.agent_id}/book/total${query}`, headers);
const valid = (document: JsonObject) => verifyTotals(document, jwks, { base_url: service.url });

describe('a task that is named with a NUL, which no text of Postgres holds', () => {
  it('404 at GET /log/payment-proof/{task_id} and GET /v1/agents/{agent_id}/book/total, once there is a statement', async () => {
    expect(await service.get('/log/payment-proof/a%00')).toMatchObject({ status: 404 });
    expect(await total('?task_id=a%00')).toMatchObject({ status: 404 });
  });
});

describe('GET /log/totals', () => {
  it('200: a signed statement, kept for seconds, that shows nobody’s sum', async () => {
    const { status, headers, body } = await service.get('/log/totals');
    expect([status, headers.get('cache-control')]).toEqual([200, 'public, max-age=2']);
    expect(valid(body)).toMatchObject({ kind: 'valid' });
    expect(JSON.stringify(body)).not.toMatch(/"(rails|rows|total|sum|amount)"/);
  });

  it('404 before the first one', async () => {
    const fresh = await openService();
    expect(await fresh.get('/log/totals')).toMatchObject({ status: 404, body: { code: 'not_found' } });
  });
});

describe('GET /v1/agents/{agent_id}/book/total', () => {
  it('200: what its receipts came to, and that a row is in it, as a stranger verifies', async () => {
    const { status, body } = await total(`?task_id=${task_id}`);
    expect(status).toBe(200);
    expect(body).toMatchObject({ agent_id: agent.agent_id, row: { task_id, rail: 'usdc', amount: '2000' } });
    expect(valid(body)).toMatchObject({ kind: 'valid' });
    const [counters] = await service.query<{ spent: string }>(
      'select spent_atomic::text as spent from book where agent_id = $1',
      [agent.agent_id],
    );
    const [adopted] = await service.query<{ amount: string }>(
      'select coalesce(sum(r.amount), 0)::text as amount from book_row b join receipt r using (task_id) where b.agent_id = $1 and r.agent_id is null',
      [agent.agent_id],
    );
    const counts = BigInt(counters?.spent ?? 0) - BigInt(adopted?.amount ?? 0);
    expect(body.rails).toMatchObject([{ rail: 'usdc', total: counts.toString() }]);
  });

  it('200 without a task, and of a book without a collected receipt', async () => {
    const { body } = await total();
    expect(body).not.toHaveProperty('row');
    expect(valid(body)).toMatchObject({ kind: 'valid' });
  });

  it('404 for a row that is not in it', async () => {
    expect(await total('?task_id=task_unknown')).toMatchObject({ status: 404, body: { code: 'not_found' } });
    const other = await service.newAgent();
    await counted();
    const elsewhere = `/v1/agents/${other.agent_id}/book/total?task_id=${task_id}`;
    expect(await service.get(elsewhere, { 'X-SVC-Session': other.session })).toMatchObject({ status: 404 });
  });

  it('400 for a query that it does not know', async () => {
    expect(await total('?task=x')).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
  });
});

describe('GET /log/payment-proof/{task_id}', () => {
  it('200 for anybody: the payment backs this receipt', async () => {
    const { status, body } = await service.get(`/log/payment-proof/${task_id}`);
    const receipt = (await service.get(`/receipt/${task_id}.json`)).body;
    expect([status, body.payment]).toMatchObject([200, { payment_ref: receipt.payment_ref }]);
    expect(valid(body)).toMatchObject({ kind: 'valid' });
  });

  it('404 for what nobody paid for, and for no task', async () => {
    const [waived] = await service.query<{ task_id: string }>('select task_id from receipt where payment_ref is null');
    for (const id of [waived?.task_id, 'task_unknown'])
      expect(await service.get(`/log/payment-proof/${id}`)).toMatchObject({ status: 404, body: { code: 'not_found' } });
  });
});

describe('npm run verify', () => {
  it('verifies each of them offline, and names what is wrong with one that was altered', async () => {
    const folder = await ownFolder();
    const keys = join(folder, 'jwks.json');
    await writeFile(keys, JSON.stringify(jwks));
    const verifyLines = async (document: JsonObject) => {
      const path = join(folder, 'document.json');
      await writeFile(path, JSON.stringify(document));
      return (await runCommand('gateway/commands/verify.ts', [path, '--jwks', keys])).text;
    };
    const proven = (await total(`?task_id=${task_id}`)).body;
    expect(await verifyLines(proven)).toMatch(/ok .*The total includes the row.*Valid: totals over/s);
    const [rail] = proven.rails as [JsonObject];
    expect(await verifyLines({ ...proven, rails: [{ ...rail, total: '9999999' }] })).toContain('(total_not_stated)');
    expect(await verifyLines((await service.get(`/log/payment-proof/${task_id}`)).body)).toContain(
      'Valid: totals over',
    );
  });
});

/* Must be the last tests of the file, because the alarm does not end. */
describe('a payment that is counted a second time', () => {
  it('is an alarm: a metric says so, the log too, and nothing newer is signed', async () => {
    const before = (await service.get('/log/totals')).body;
    await service.query(
      `update totals_state set (tree_size, root_hash) = (select tree_size, root_hash from tree_head where tree_size = 1)`,
    );
    const conflicts = async () =>
      /^svc_totals_conflicts (\d)$/m.exec(await (await fetch(`${service.url}/metrics`)).text())?.[1];
    await expect.poll(conflicts).toBe('1');
    expect(service.gateway.logs.join('\n')).toContain('one payment backs two receipts');
    expect((await service.get('/log/totals')).body).toEqual(before);
  });
});
