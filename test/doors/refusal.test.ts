import { encodeFunctionData, parseAbi } from 'viem';
import { beforeAll, describe, expect, it } from 'vitest';
import { networks } from '../../schema/network.ts';
import { ask, CHAT, type Chat, openService, type Service } from '../harness/doors/open-service.ts';
import { policyDoorsOf } from '../harness/doors/policies.ts';

type Agent = Awaited<ReturnType<Service['newAgent']>>;

let service: Service;
let book: ReturnType<typeof policyDoorsOf>;
beforeAll(async () => {
  service = await openService({}, { mid_hour: true });
  book = policyDoorsOf(service);
});

interface Ceiling {
  readonly policy_code: string;
  readonly policy_key?: string;
  readonly cap_atomic?: string;
  /** Pattern of `period_start` in the row. */
  readonly period?: string;
}

describe('a call that its book refuses', () => {
  it('403 with the signed refusal: nothing is charged, no hub is asked', async () => {
    const agent = await book.newBlockedAgent();
    const asked = service.hubs[0].requests.length;
    const { heard } = await book.chatToRefusal(agent, ask('Let me in', { intent_id: 'again', attempt_index: 3 }));
    const { body } = heard;
    expect(body).toMatchObject({
      schema: 'svc402.refusal.v1',
      chain_id: 8453,
      refusal_code: 'policy_blocked',
      policy_code: 'kill_switch',
      agent_id: agent.agent_id,
      book_id: agent.agent_id,
      requested_amount: '2000',
      charged: false,
      profile: 'development',
      code: 'policy_blocked',
      error: { code: 'policy_blocked', type: 'permission_error' },
    });
    expect(body.nonce).toMatch(/^[0-9a-f]{32}$/);
    expect(heard.headers.get('x-svc-refusal-url')).toBe(body.refusal_url);
    expect(heard.headers.get('payment-response')).toBeNull();
    expect(await service.transfersFrom(agent.account)).toHaveLength(1);
    expect(service.hubs[0].requests.length).toBe(asked);
    const status = await service.get(`/task-status?task_id=${body.task_id}`);
    expect(status.body).toEqual({
      task_id: body.task_id,
      status: 'refused',
      proof_outcome: 'none',
      payment_ref: null,
      verify_url: body.refusal_url,
    });
    expect(await service.claimsOf(agent.account)).toMatchObject([
      { state: 'recorded' },
      { state: 'released', reason: 'blocked' },
    ]);
  });

  it('is anchored at a block of Base that stands', async () => {
    const { heard } = await book.chatToRefusal(await book.newBlockedAgent());
    const { base_anchor } = heard.body;
    if (base_anchor.status !== 'AVAILABLE') throw new Error('the chain was there');
    const block = await service.chain.call<{ hash: string; stateRoot: string }>(
      'eth_getBlockByNumber',
      `0x${base_anchor.block_number.toString(16)}`,
      false,
    );
    expect(base_anchor).toMatchObject({ block_hash: block.hash, state_root: block.stateRoot });
  });

  /** How each cap is set, and the members of its row that differ from those of other caps. */
  const ceilings: [string, (agent: Agent) => Promise<unknown>, Ceiling][] = [
    [
      'hourly_cap',
      agent => book.set(agent, 'hourly_cap', '3000'),
      {
        policy_code: 'hourly_cap_exceeded',
        policy_key: 'hourly_cap',
        cap_atomic: '3000',
        period: 'T\\d\\d:00:00.000Z',
      },
    ],
    [
      'daily_cap',
      agent => book.set(agent, 'daily_cap', '3000'),
      { policy_code: 'daily_cap_exceeded', policy_key: 'daily_cap', cap_atomic: '3000', period: 'T00:00:00.000Z' },
    ],
    ['budget', agent => book.setBudget(agent, '3000'), { policy_code: 'budget_exhausted', cap_atomic: '3000' }],
    ['kill_switch', agent => book.set(agent, 'kill_switch', true), { policy_code: 'kill_switch' }],
  ];

  it.each(ceilings)('by its %s stands on the book, in no sum, as an attempt that was blocked', async (_, set, is) => {
    const agent = await service.newAgent();
    await set(agent);
    const intent = { intent_id: 'treasury', attempt_index: 1 };
    const { heard } = await book.chatToRefusal(agent, ask('More', { model: 'beta-1', ...intent }));
    const { entries, totals, intents } = await book.bookOf(agent);
    const { period, ...said } = is;
    // Members that do not apply are absent: a kill switch has no cap, and a budget has no period.
    expect(entries[0]).toEqual({
      seq: 2,
      task_id: heard.body.task_id,
      evidence: 'policy_blocked',
      collected: false,
      event: 'policy_blocked',
      payment: { ref: null, rail: null, amount: null },
      route: { model: 'beta-1', hub: null, answered_model: null },
      collected_at: heard.body.timestamp,
      payer_wallet: agent.account.address,
      ...intent,
      refusal_id: heard.body.refusal_id,
      ...said,
      reason: expect.stringMatching(/^(2000 collected, 0 held .* 2000 asked for is more than the |The kill switch )/),
      spent_atomic: '2000',
      ...(period ? { period_start: expect.stringMatching(`^${heard.body.timestamp.slice(0, 10)}${period}$`) } : {}),
      replay_count: 0,
      replay_events: [],
    });
    expect(totals).toMatchObject({ count: 1, usdc_sum: '2000' });
    expect(intents.treasury).toMatchObject({ collected_count: 0, blocked_count: 1 });
    const text = 'select seq from book_row where task_id = $1';
    const rows = await service.query<{ seq: number }>(text, [heard.body.task_id]);
    expect(rows).toEqual([{ seq: heard.body.policy_blocked_seq }]);
  });

  it('says no figure of the book to whoever pays: that is for its owner', async () => {
    const agent = await service.newAgent();
    await book.setBudget(agent, '3456');
    const { heard } = await book.chatToRefusal(agent);
    expect(heard.body).toMatchObject({
      refusal_code: 'budget_exhausted',
      policy_code: 'budget_exhausted',
      code: 'budget_exhausted',
    });
    expect(heard.text).not.toContain('3456');
  });

  it('403 where the answer was to be streamed, too: nothing of it was sent', async () => {
    const agent = await book.newBlockedAgent();
    const { heard } = await book.chatToRefusal(agent, ask('Slowly', { stream: true }));
    expect(heard.body).toMatchObject({ policy_code: 'kill_switch', charged: false });
    expect(heard.headers.get('content-type')).toBe('application/problem+json; charset=utf-8');
    expect(await service.transfersFrom(agent.account)).toHaveLength(1);
  });
});

describe('the same payment after a refusal', () => {
  it('gets the same signed refusal for the same request, also once the switch is off, and no new row', async () => {
    const agent = await book.newBlockedAgent();
    const { payment, heard } = await book.chatToRefusal(agent);
    const again = await Promise.all(Array.from({ length: 20 }, () => book.chat(payment, ask())));
    await book.set(agent, 'kill_switch', null);
    const after = await book.chat(payment, ask());
    expect([...again, after].map(({ status, text }) => [status, text])).toEqual(Array(21).fill([403, heard.text]));
    expect((await book.bookOf(agent)).entries).toHaveLength(2);
    expect((await service.buy(agent.account)).status).toBe(200);
  });

  it('sent many times at once is refused once', async () => {
    const agent = await book.newBlockedAgent();
    const payment = await service.payment(agent.account, CHAT);
    const all = await Promise.all(Array.from({ length: 20 }, () => book.chat(payment, ask())));
    const last = await book.chat(payment, ask());
    const told = new Set(all.filter(({ status }) => status === 403).map(({ text }) => text));
    expect([...told]).toEqual([last.text]);
    expect(all.every(({ status }) => status === 403 || status === 409)).toBe(true);
    expect((await book.bookOf(agent)).entries).toHaveLength(2);
  });

  it('is judged anew for another request', async () => {
    const agent = await book.newBlockedAgent();
    const { payment, heard } = await book.chatToRefusal(agent);
    const other = await book.chat(payment, ask('Something else'));
    expect(other).toMatchObject({ status: 403, body: { policy_code: 'kill_switch' } });
    expect(other.body.refusal_id).not.toBe(heard.body.refusal_id);
    await book.set(agent, 'kill_switch', false);
    const paid = await service.post<Chat>(CHAT, ask('A third'), payment);
    expect(paid.status).toBe(200);
    // Both claims were released, but the refusals remain.
    for (const { refusal_url, task_id } of [heard.body, other.body]) {
      const { body } = await service.get(`/task-status?task_id=${task_id}`);
      expect(body).toMatchObject({ status: 'refused', proof_outcome: 'none', verify_url: refusal_url });
    }
    expect(await book.chat(payment, ask())).toMatchObject({ status: 409, body: { code: 'claim_already_settled' } });
    expect((await book.bookOf(agent)).entries.map(({ evidence }) => evidence)).toEqual([
      'collected',
      'policy_blocked',
      'policy_blocked',
      'collected',
    ]);
    expect(await service.transfersFrom(agent.account)).toHaveLength(2);
  });

  it('gets it also where the payer could pay no longer', async () => {
    const agent = await book.newBlockedAgent();
    const { payment, heard } = await book.chatToRefusal(agent);
    await spendAll(agent.account.address);
    expect(await book.chat(payment, ask())).toMatchObject({ status: 403, text: heard.text });
    expect((await book.chat(payment, ask('Another'))).status).toBe(402);
  });
});

/** Transfers the wallet's whole balance to another address. */
async function spendAll(from: string): Promise<void> {
  const { chain } = service;
  const balance = await chain.balanceOf(from);
  const abi = parseAbi(['function transfer(address to, uint256 amount)']);
  const data = encodeFunctionData({ abi, functionName: 'transfer', args: [`0x${'12'.repeat(20)}`, balance] });
  await chain.call('anvil_setBalance', from, '0xde0b6b3a7640000');
  await chain.call('anvil_impersonateAccount', from);
  await chain.call('eth_sendTransaction', { from, to: networks.base.usdc, data });
  await chain.mine();
  expect(await chain.balanceOf(from)).toBe(0n);
}
