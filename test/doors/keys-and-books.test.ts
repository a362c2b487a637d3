import { beforeAll, describe, expect, it } from 'vitest';
import { sha256Hex } from '../../schema/digest.ts';
import { verifyReceipt } from '../../subgraphs/receipt/verify/receipt.ts';
import { verifyRefusal } from '../../subgraphs/receipt/verify/refusal.ts';
import { askToStream, listen } from '../harness/doors/listen.ts';
import { ask, CHAT, type Chat, type Service, sharedService } from '../harness/doors/open-service.ts';
import { policyDoorsOf, type RefusedCallBody } from '../harness/doors/policies.ts';

type Agent = Awaited<ReturnType<Service['newAgent']>>;

let service: Service;
let shop: ReturnType<typeof policyDoorsOf>;
beforeAll(async () => {
  service = await sharedService();
  shop = policyDoorsOf(service);
});

const withSession = ({ session }: Agent) => ({ 'X-API-Key': 'a-live-key', 'X-SVC-Session': session });
const byKey = (agent: Agent, body = ask('On my book')) => service.post<Chat>(CHAT, body, withSession(agent));
const refused = (agent: Agent) => service.post<RefusedCallBody>(CHAT, ask('Refused?'), withSession(agent));
const hubCalls = () => service.hubs.reduce((sum, hub) => sum + hub.requests.length, 0);

describe('a call by live key with a session', () => {
  it('lands on the book as UNVERIFIED: no ref, no amount, no payer, in no total', async () => {
    const agent = await service.newAgent();
    const before = await shop.bookOf(agent);
    const { status, body } = await byKey(agent);
    expect(status).toBe(200);
    expect(body.svc).toMatchObject({ claim_id: agent.agent_id, book_seq: 2, payment_ref: null });
    expect(verifyReceipt(body.svc, await service.jwks())).toMatchObject({ kind: 'valid', claim_id: agent.agent_id });
    const book = await shop.bookOf(agent);
    expect(book.entries[0]).toMatchObject({
      task_id: body.svc.task_id,
      evidence: 'UNVERIFIED',
      collected: false,
      payment: { ref: null, rail: null, amount: null },
      payer_wallet: null,
      route: { model: 'alpha-1', hub: 'alpha' },
      fulfillment: { job_kind: 'completions', output_commitment: { status: 'committed', kind: 'sha256' } },
    });
    for (const sum of ['spent', 'totals', 'remaining', 'cap'] as const) expect(book[sum]).toEqual(before[sum]);
  });

  it('streamed, lands there in the same way, and commits to what was said', async () => {
    const agent = await service.newAgent();
    const heard = await listen(service, askToStream('Streamed'), { headers: withSession(agent) });
    const { svc } = await heard.rest();
    const [entry] = (await shop.bookOf(agent)).entries;
    expect(entry).toMatchObject({ task_id: svc?.task_id, evidence: 'UNVERIFIED', payment: { amount: null } });
    expect(entry?.fulfillment).toMatchObject({ output_commitment: { status: 'committed' } });
  });

  it('is told to whoever follows the book, as any birth is', async () => {
    const agent = await service.newAgent();
    const { body } = await byKey(agent);
    const events = await service.query(
      'select kind, task_id, body from book_event where agent_id = $1 order by position',
      [agent.agent_id],
    );
    expect(events.at(-1)).toMatchObject({
      kind: 'born',
      task_id: body.svc.task_id,
      body: { evidence: 'UNVERIFIED', collected: false, amount: null },
    });
  });

  it('costs nothing, so no ceiling stops it: neither budget nor caps', async () => {
    const agent = await service.newAgent();
    await shop.setBudget(agent, '0');
    for (const cap of ['hourly_cap', 'daily_cap']) await shop.set(agent, cap, '0');
    expect((await byKey(agent)).status).toBe(200);
    expect((await service.buy(agent.account)).status).toBe(403);
  });

  it.each(['kill_switch', 'require_payment_ref'] as const)(
    '403 under %s: a signed refusal, and no work',
    async policy => {
      const agent = await service.newAgent();
      expect((await shop.set(agent, policy, true)).status).toBe(200);
      const before = hubCalls();
      const { status, body, headers } = await refused(agent);
      expect({ status, body }).toMatchObject({
        status: 403,
        body: { code: 'policy_blocked', refusal_code: 'policy_blocked', policy_code: policy, charged: false },
      });
      // No payment was required, so no amount is named.
      expect(body).not.toHaveProperty('requested_amount');
      expect(verifyRefusal(body, await service.jwks())).toMatchObject({ kind: 'valid' });
      expect(headers.get('x-svc-refusal-url')).toBe(body.refusal_url);
      expect((await service.get(`/task-status?task_id=${body.task_id}`)).body).toMatchObject({ status: 'refused' });
      const [entry] = (await shop.bookOf(agent)).entries;
      expect(entry).toMatchObject({ evidence: 'policy_blocked', policy_code: policy, payer_wallet: null });
      const streamed = await listen(service, askToStream('Refused?'), { headers: withSession(agent) });
      expect(streamed.status).toBe(403);
      expect(hubCalls()).toBe(before);
      expect(await service.query('select 1 from key_call')).toEqual([]);
    },
  );

  it('require_payment_ref lets pass what is paid for, by whichever key beside it', async () => {
    const agent = await service.newAgent();
    await shop.set(agent, 'require_payment_ref', true);
    expect((await service.buy(agent.account, ask('Paid'))).status).toBe(200);
    const payment = await service.payment(agent.account, CHAT);
    const { status, body } = await service.post<Chat>(CHAT, ask('Both'), { ...payment, ...withSession(agent) });
    expect(status).toBe(200);
    expect(body.svc).toMatchObject({
      claim_id: agent.agent_id,
      caller_binding: { payer_wallet: agent.account.address, api_key_hash: sha256Hex('a-live-key') },
    });
    expect((await shop.bookOf(agent)).entries[0]).toMatchObject({ evidence: 'collected' });
  });
});

describe('a call by live key without a session', () => {
  it('lands on no book: a receipt is all that there is of it', async () => {
    const { body } = await service.post<Chat>(CHAT, ask('Nobody'), { 'X-API-Key': 'a-live-key' });
    expect(body.svc).not.toHaveProperty('claim_id');
    expect(body.svc).not.toHaveProperty('book_seq');
    expect(await service.query('select 1 from book_row where task_id = $1', [body.svc.task_id])).toEqual([]);
  });
});
