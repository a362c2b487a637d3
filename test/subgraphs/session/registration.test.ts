import { beforeAll, describe, expect, it } from 'vitest';
import { agentId } from '../../../schema/ids.ts';
import { resolveAgent } from '../../../subgraphs/session/agent/agent.resolver.ts';
import { agentOfWallet } from '../../../subgraphs/session/agent/find.ts';
import { bookProof, proofWindow } from '../../../subgraphs/session/possession/proof.ts';
import { textHash } from '../../../subgraphs/session/registration/control.ts';
import { recoverRegistration } from '../../../subgraphs/session/registration/recover.ts';
import {
  NOW_MS,
  newTask,
  newWallet,
  openDesk,
  payerOf,
  requestOf,
  type SessionDesk,
} from '../../harness/session/desk.ts';
import { walletsAnswering } from '../../harness/session/wallets.ts';

let desk: SessionDesk;
beforeAll(async () => {
  desk = await openDesk();
});

describe('registering by stamp', () => {
  it('makes the agent, its book and its session at once', async () => {
    const account = newWallet();
    const task_id = newTask();
    const answer = await desk.register(account, task_id);
    expect(answer).toEqual({
      agent_id: expect.any(Number),
      agentWallet: account.address,
      session: expect.stringMatching(/^svcs_[A-Za-z0-9_-]{43}$/),
      task_id,
      validate_score: null,
    });
    expect(await agentOfWallet(desk.database, account.address)).toBe(answer.agent_id);
    expect(await desk.opens(answer.session)).toBe(answer.agent_id);
    const books = await desk.database.query({
      text: 'select 1 from book where agent_id = $1',
      values: [answer.agent_id],
    });
    expect(books).toHaveLength(1);
    expect(await resolveAgent({ agentId: answer.agent_id }, desk.context)).toMatchObject({
      agentId: answer.agent_id,
      wallet: account.address,
      requestHash: textHash(`svc.register.pay|${account.address}|${NOW_MS / 1000}`),
      registeredAt: expect.any(Date),
    });
  });

  it('keeps the session nowhere in the clear', async () => {
    const { session } = await desk.register(newWallet());
    const [dump] = await desk.database.query<{ all: string }>({
      text: `select string_agg(p::text, ' ') as all from possession p`,
    });
    expect(dump?.all).not.toContain(session);
    expect(dump?.all).not.toContain(Buffer.from(session).toString('hex'));
  });

  it.each([
    [
      'no address',
      400,
      'invalid_wallet',
      'agentWallet',
      { agentWallet: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v' },
    ],
    ['no signature', 401, 'control_proof_missing', 'wallet_signature', { wallet_signature: null }],
    ['no time', 401, 'control_proof_missing', 'signature_timestamp', { signature_timestamp: null }],
    [
      'no signature and no time',
      401,
      'control_proof_missing',
      'wallet_signature',
      { wallet_signature: null, signature_timestamp: null },
    ],
    [
      'another time than was signed',
      401,
      'control_proof_invalid',
      'wallet_signature',
      { signature_timestamp: NOW_MS / 1000 - 1 },
    ],
    ['a signature of nobody', 401, 'control_proof_invalid', 'wallet_signature', { wallet_signature: '0x00' }],
  ])('%s is refused before the claim, and its param is named', async (_, status, code, param, members) => {
    const account = newWallet();
    const request = { ...(await requestOf(account)), ...members };
    await expect(desk.paid.admit?.(request, payerOf(account), desk.context)).rejects.toMatchObject({
      code,
      status,
      extensions: { param },
    });
  });

  it('503 before the claim where the chain cannot say whose signature it is', async () => {
    const account = newWallet();
    const context = { ...desk.context, wallets: walletsAnswering('unreachable') };
    await expect(desk.paid.admit?.(await requestOf(account), payerOf(account), context)).rejects.toMatchObject({
      code: 'chain_unavailable',
      status: 503,
      extensions: { charged: false },
    });
  });

  it('another payer is refused before the claim: 403', async () => {
    const request = await requestOf(newWallet());
    for (const payer of [payerOf(newWallet()), { network: 'solana', wallet: request.agentWallet } as const]) {
      await expect(desk.paid.admit?.(request, payer, desk.context)).rejects.toMatchObject({
        code: 'payer_mismatch',
        status: 403,
      });
    }
  });

  it('a registered wallet is refused before the claim: 409, and its slot is the same in any spelling', async () => {
    const account = newWallet();
    await desk.register(account);
    const request = { ...(await requestOf(account)), agentWallet: account.address.toLowerCase() };
    await expect(desk.paid.admit?.(request, payerOf(account), desk.context)).rejects.toMatchObject({
      code: 'wallet_registered',
    });
    expect(desk.paid.slots?.(request, payerOf(account))).toEqual([`wallet:${account.address.toLowerCase()}`]);
  });
});

describe('registering again with the task id', () => {
  it('same wallet, same task: a new session, and the old one ends', async () => {
    const account = newWallet();
    const first = await desk.register(account);
    const again = await desk.registerBy(account, first.task_id);
    expect(again).toMatchObject({
      agentId: first.agent_id,
      settlementStatus: 'idempotent_replay',
      idempotentReplay: true,
      replayOf: first.task_id,
    });
    expect(again.session).not.toBe(first.session);
    expect(await desk.opens(first.session)).toBeNull();
    expect(await desk.opens(again.session)).toBe(first.agent_id);
  });

  it('another task 409, the task of another 403, an unknown one 403', async () => {
    const account = newWallet();
    const other = await desk.register(newWallet());
    await expect(desk.registerBy(account, newTask())).rejects.toMatchObject({ code: 'receipt_not_qualifying' });
    await expect(desk.registerBy(account, other.task_id)).rejects.toMatchObject({ code: 'payer_mismatch' });
    await desk.register(account);
    await expect(desk.registerBy(account, newTask())).rejects.toMatchObject({ code: 'wallet_registered' });
  });

  it('twenty at once leave one live session', async () => {
    const { agent_id, agentWallet, task_id } = await desk.register(newWallet());
    const registered = { agent_id: agentId(agent_id), wallet: agentWallet, task_id, validate_score: null };
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        recoverRegistration(registered, { text_hash: `0x${n}`, signed_at_seconds: 0 }, desk.context),
      ),
    );
    const live = await Promise.all(answers.map(({ session }) => desk.opens(session)));
    expect(live.filter(found => found !== null)).toEqual([agent_id]);
  });
});

describe('who is calling', () => {
  const plain = (agent_id: number, value: string) => ({ agent_id, value, nonce: null, request: null });

  it('nobody, without anything shown', async () => {
    expect(await desk.identified({})).toEqual({
      possession: { kind: 'absent' },
      api_key: { kind: 'absent' },
      address: '127.0.0.1',
    });
  });

  it('the holder of a session, or of a proof made with it, or of both', async () => {
    const { agent_id, session } = await desk.register(newWallet());
    const proof = plain(agent_id, bookProof(session, agent_id, proofWindow(NOW_MS)));
    for (const shown of [{ sessions: [session] }, { proof }, { sessions: [session], proof }]) {
      expect((await desk.identified(shown)).possession).toMatchObject({ kind: 'proven', agent_id });
    }
  });

  it('wrong: an unknown session, a stale proof, an agent that is none, two that disagree', async () => {
    const { agent_id, session } = await desk.register(newWallet());
    const other = await desk.register(newWallet());
    const value = bookProof(session, agent_id, proofWindow(NOW_MS));
    const stale = bookProof(session, agent_id, proofWindow(NOW_MS) - 2);
    for (const shown of [
      { sessions: [''] },
      { sessions: [`svcs_${'A'.repeat(43)}`] },
      { proof: plain(agent_id, stale) },
      { proof: plain(other.agent_id, value) },
      ...[0, -1, 1.5, 2 ** 31 - 1, 2 ** 40, Number.NaN].map(id => ({ proof: plain(id, value) })),
      { sessions: [other.session], proof: plain(agent_id, value) },
    ]) {
      expect((await desk.identified(shown)).possession).toEqual({ kind: 'wrong' });
    }
  });

  it('an API key says nothing about possession', async () => {
    expect(await desk.identified({ api_key: 'live-key' })).toMatchObject({
      possession: { kind: 'absent' },
      api_key: { kind: 'live' },
    });
  });
});
