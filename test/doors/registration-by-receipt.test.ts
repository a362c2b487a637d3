import { beforeAll, describe, expect, it } from 'vitest';
import { keccak256 } from '../../schema/digest.ts';
import { bookProof, proofWindow } from '../../subgraphs/session/possession/proof.ts';
import { nowSeconds, registrationOf } from '../harness/buyer.ts';
import {
  ask,
  CHAT,
  type Chat,
  REGISTER,
  type ReceiptBody,
  type RegistrationAnswer,
  type Service,
  sharedService,
} from '../harness/doors/open-service.ts';

let service: Service;
beforeAll(async () => {
  service = await sharedService();
});

type Account = Awaited<ReturnType<Service['chain']['newWallet']>>;

/** A wallet that has paid for one chat and is not registered as an agent. */
async function buyer() {
  const account = await service.chain.newWallet();
  const { body } = await service.buy(account);
  return { account, task_id: body.svc.task_id };
}

const register = async (account: Account, task_id: string, members: object = {}) =>
  service.post<RegistrationAnswer>(REGISTER, { ...(await registrationOf(account, { task_id })), ...members });
const statusAndCode = ({ status, body }: { status: number; body: object }) => ({
  status,
  code: 'code' in body && body.code,
});
const book = (agent_id: number, session: string) =>
  service.get<{ entries: { task_id: string }[] }>(`/v1/agents/${agent_id}/book`, { 'X-SVC-Session': session });
const agentsOf = ({ address }: Account) => service.query('select agent_id from agent where wallet = $1', [address]);

describe('POST /v1/agents/register with the task_id of a collected receipt', () => {
  it('200 for nothing: agent, session and a book whose first row is that receipt, on which the next call lands', async () => {
    const { account, task_id } = await buyer();
    const { status, headers, body } = await register(account, task_id);
    expect({ status, body }).toEqual({
      status: 200,
      body: {
        agent_id: expect.any(Number),
        agentWallet: account.address,
        session: expect.stringMatching(/^svcs_/),
        task_id,
        validate_score: null,
        settlement_status: 'settled',
        idempotent_replay: false,
        request_hash: expect.stringMatching(/^0x[0-9a-f]{64}$/),
        replay_of: null,
      },
    });
    expect(headers.get('x-svc-settlement-status')).toBe('settled');
    expect(headers.get('PAYMENT-RESPONSE')).toBeNull();
    expect(await service.transfersFrom(account)).toHaveLength(1);
    const receipt = (await service.get<ReceiptBody>(`/receipt/${task_id}`)).body;
    const first = {
      task_id,
      evidence: 'collected',
      collected: true,
      arrival_status: 'confirmed',
      payment: { ref: receipt.payment_ref, rail: 'usdc', amount: '2000' },
      payer_wallet: account.address,
      route: { model: receipt.model, hub: receipt.hub },
      fulfillment: {
        job_kind: 'completions',
        resource: service.url + CHAT,
        output_commitment: { status: 'committed' },
      },
    };
    expect((await book(body.agent_id, body.session)).body).toMatchObject({
      entries: [first],
      totals: { count: 1, usdc_sum: '2000', by_rail: { usdc: { count: 1, amount: '2000' } } },
      spent: '2000',
    });
    const events = await service.query('select kind, position, seq from book_event where agent_id = $1', [
      body.agent_id,
    ]);
    expect(events).toEqual([{ kind: 'born', position: 1, seq: 1 }]);
    const next = await service.buy(account);
    expect(next.body.svc).toMatchObject({ claim_id: body.agent_id });
    const { entries } = (await book(body.agent_id, body.session)).body;
    expect(entries.map(entry => entry.task_id)).toEqual([next.body.svc.task_id, task_id]);
    expect(next.body.svc).toMatchObject({ book_seq: 2 });
  });

  it('200 with the request_hash of the signed text, the wallet in lower case', async () => {
    const { account, task_id } = await buyer();
    const at = nowSeconds();
    const text = `svc.register.recover|${task_id}|${account.address}|${at}`;
    const request_hash = `0x${Buffer.from(keccak256(Buffer.from(text))).toString('hex')}`;
    const heard = await service.post<RegistrationAnswer>(REGISTER, {
      ...(await registrationOf(account, { task_id, at })),
      agentWallet: account.address.toLowerCase(),
      request_hash,
    });
    expect(heard).toMatchObject({ status: 200, body: { agentWallet: account.address, settlement_status: 'settled' } });
  });

  it('200 by the receipt of a call that landed on the book of another', async () => {
    const [owner, account] = [await service.newAgent(), await service.chain.newWallet()];
    const { body } = await service.buy(account, undefined, { 'X-SVC-Session': owner.session });
    const registered = await register(account, body.svc.task_id);
    expect(registered).toMatchObject({ status: 200, body: { agentWallet: account.address, idempotent_replay: false } });
    expect(registered.body.agent_id).not.toBe(owner.agent_id);
  });

  it('200 idempotent_replay again: a new session, the old one is dead', async () => {
    const { account, task_id } = await buyer();
    const first = (await register(account, task_id)).body;
    const again = await register(account, task_id);
    expect(again.body).toEqual({
      ...first,
      session: expect.stringMatching(/^svcs_/),
      settlement_status: 'idempotent_replay',
      idempotent_replay: true,
      replay_of: task_id,
    });
    expect(again.headers.get('x-svc-settlement-status')).toBe('idempotent_replay');
    expect((await book(first.agent_id, first.session)).status).toBe(403);
    expect((await book(first.agent_id, again.body.session)).status).toBe(200);
  });

  it('200 to all of several at once: one book, and one session that lives', async () => {
    const { account, task_id } = await buyer();
    const heard = await Promise.all(Array.from({ length: 6 }, () => register(account, task_id)));
    expect(heard.map(({ status }) => status)).toEqual(Array.from({ length: 6 }, () => 200));
    expect(heard.filter(({ body }) => body.settlement_status === 'settled')).toHaveLength(1);
    expect(await agentsOf(account)).toHaveLength(1);
    const reads = await Promise.all(heard.map(({ body }) => book(body.agent_id, body.session)));
    expect(reads.map(({ status }) => status).sort()).toEqual([200, ...Array.from({ length: 5 }, () => 403)]);
  });
});

describe('POST /v1/agents/register with the task_id of its own stamp', () => {
  it('200 recovers: a new session, and the old one is dead', async () => {
    const { account, agent_id, session, task_id } = await service.newAgent();
    const recovered = await register(account, task_id);
    expect(recovered).toMatchObject({
      status: 200,
      body: {
        agent_id,
        agentWallet: account.address,
        task_id,
        settlement_status: 'idempotent_replay',
        idempotent_replay: true,
        replay_of: task_id,
      },
    });
    expect(recovered.body.session).not.toBe(session);
    expect((await book(agent_id, session)).status).toBe(403);
    expect((await book(agent_id, recovered.body.session)).status).toBe(200);
    expect(await service.transfersFrom(account)).toHaveLength(1);
  });
});

describe('POST /v1/agents/register with task_id, refused', () => {
  it('400 on a wallet that is no address', async () => {
    const { account, task_id } = await buyer();
    const wallet = await register(account, task_id, { agentWallet: 'nobody' });
    expect(statusAndCode(wallet)).toEqual({ status: 400, code: 'invalid_wallet' });
  });

  it('400 on a proof that is wrong, and 200 on one by the session in force', async () => {
    const { account, task_id } = await buyer();
    const { agent_id, session } = (await register(account, task_id)).body;
    const wrong = await register(account, task_id, { proof: `sha256=${'ab'.repeat(32)}` });
    expect(statusAndCode(wrong)).toEqual({ status: 400, code: 'invalid_proof' });
    expect((await book(agent_id, session)).status).toBe(200);
    const proof = bookProof(session, agent_id, proofWindow(Date.now()));
    const { status, body } = await register(account, task_id, { proof });
    expect({ status, body }).toMatchObject({ status: 200, body: { agent_id, idempotent_replay: true } });
  });

  it.each([
    ['without a signature', { wallet_signature: null }, 'control_proof_missing'],
    ['without its time', { signature_timestamp: null }, 'control_proof_missing'],
    ['of another time', { signature_timestamp: nowSeconds() - 100 }, 'control_proof_invalid'],
  ])('401 %s', async (_, members, code) => {
    const { account, task_id } = await buyer();
    expect(statusAndCode(await register(account, task_id, members))).toEqual({ status: 401, code });
  });

  it('401 on the signature of a paid registration, of another task, and on one 301 seconds old', async () => {
    const { account, task_id } = await buyer();
    for (const signed of [
      await registrationOf(account),
      await registrationOf(account, { task_id: `task_${'0'.repeat(26)}` }),
      await registrationOf(account, { task_id, at: nowSeconds() - 301 }),
    ]) {
      const refused = await service.post(REGISTER, { ...signed, task_id });
      expect(statusAndCode(refused)).toEqual({ status: 401, code: 'control_proof_invalid' });
    }
    expect(await agentsOf(account)).toEqual([]);
  });

  it('403 on the receipt of another payer', async () => {
    const [{ task_id }, other] = [await buyer(), await service.chain.newWallet(0n)];
    expect(statusAndCode(await register(other, task_id))).toEqual({ status: 403, code: 'payer_mismatch' });
  });

  it('403 on the receipt that registered another wallet', async () => {
    const [{ task_id }, other] = [await service.newAgent(), await service.chain.newWallet(0n)];
    expect(statusAndCode(await register(other, task_id))).toEqual({ status: 403, code: 'payer_mismatch' });
  });

  it.each(['task_unknown', '', `task_${'0'.repeat(26)}`])('403 on a receipt that is not there: "%s"', async task_id => {
    const account = await service.chain.newWallet(0n);
    expect(statusAndCode(await register(account, task_id))).toEqual({ status: 403, code: 'receipt_not_qualifying' });
  });

  it('403 on a receipt that collected nothing, as one by a key does', async () => {
    const account = await service.chain.newWallet(0n);
    const { body } = await service.post<Chat>(CHAT, ask('by key'), { 'X-API-Key': 'a-live-key' });
    expect(statusAndCode(await register(account, body.svc.task_id))).toEqual({
      status: 403,
      code: 'receipt_not_qualifying',
    });
    expect(await agentsOf(account)).toEqual([]);
  });

  it('409 on another receipt of a registered wallet, however it was registered', async () => {
    const byStamp = await service.newAgent();
    const { body } = await service.buy(byStamp.account);
    const refused = await register(byStamp.account, body.svc.task_id);
    expect(statusAndCode(refused)).toEqual({ status: 409, code: 'wallet_registered' });
    const { account, task_id } = await buyer();
    const second = (await service.buy(account)).body.svc.task_id;
    await register(account, task_id);
    expect(statusAndCode(await register(account, second))).toEqual({ status: 409, code: 'wallet_registered' });
  });

  it('503 where the chain cannot say whose signature it is', async () => {
    const { account, task_id } = await buyer();
    service.gates.base.cut();
    const refused = await register(account, task_id).finally(() => service.gates.base.open());
    expect(refused).toMatchObject({ status: 503, body: { code: 'chain_unavailable', charged: false } });
    expect((await register(account, task_id)).status).toBe(200);
  });
});

describe('a stamp and a receipt of one wallet', () => {
  it('409 to the stamp of a wallet that registered by receipt: refused before settle', async () => {
    const { account, task_id } = await buyer();
    await register(account, task_id);
    const payment = await service.payment(account, REGISTER);
    const refused = await service.post(REGISTER, await registrationOf(account), payment);
    expect(statusAndCode(refused)).toEqual({ status: 409, code: 'wallet_registered' });
    expect(await service.transfersFrom(account)).toHaveLength(1);
  });

  it('409 to the receipt while a stamp is on its way, which then registers', async () => {
    const { account, task_id } = await buyer();
    const payment = await service.payment(account, REGISTER);
    await service.chain.setAutomine(false);
    try {
      const stamp = service.post<RegistrationAnswer>(REGISTER, await registrationOf(account), payment);
      await expect
        .poll(() =>
          service.query('select 1 from claim_slot where slot = $1', [`wallet:${account.address.toLowerCase()}`]),
        )
        .toHaveLength(1);
      expect(statusAndCode(await register(account, task_id))).toEqual({ status: 409, code: 'wallet_registered' });
      await service.chain.setAutomine(true);
      await service.chain.mine();
      expect(await stamp).toMatchObject({ status: 200, body: { settlement_status: 'settled' } });
    } finally {
      await service.chain.setAutomine(true);
    }
    expect(await agentsOf(account)).toHaveLength(1);
    expect(await service.transfersFrom(account)).toHaveLength(2);
  });

  it('at once: one agent, and no stamp is charged for nothing', async () => {
    const { account, task_id } = await buyer();
    const payments = await Promise.all([1, 2].map(() => service.payment(account, REGISTER)));
    const stamp = await registrationOf(account);
    const [byReceipt, ...stamps] = await Promise.all([
      register(account, task_id),
      ...payments.map(payment => service.post(REGISTER, stamp, payment)),
    ]);
    expect([byReceipt, ...stamps].map(({ status }) => status).sort()).toEqual([200, 409, 409]);
    expect(await agentsOf(account)).toHaveLength(1);
    // One transfer for the chat, and one for the stamp if the registration by stamp came first.
    expect(await service.transfersFrom(account)).toHaveLength(byReceipt.status === 200 ? 1 : 2);
  });
});
