import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { beforeAll, describe, expect, test } from 'vitest';
import { identify, openKeyring } from '../../gateway/principal.ts';
import { agentId, type TaskId, taskId } from '../../schema/ids.ts';
import { nobody } from '../../schema/principal.ts';
import { parseRequest } from '../../schema/requests/parse.ts';
import { RegistrationRequest } from '../../schema/requests/registration.ts';
import { systemRandom } from '../../subgraphs/clock.ts';
import { type Context, ResponseHeaders } from '../../subgraphs/context.ts';
import type { Database } from '../../subgraphs/database.ts';
import { resolveAgent } from '../../subgraphs/session/agent/agent.resolver.ts';
import { agentOfSession, agentOfWallet, registrationPaid } from '../../subgraphs/session/index.ts';
import { issueSession } from '../../subgraphs/session/possession/issue.ts';
import { bookProof, proofWindow } from '../../subgraphs/session/possession/proof.ts';
import { controlText, requestHash } from '../../subgraphs/session/registration/control.ts';
import { RegistrationResolver } from '../../subgraphs/session/registration/registration.resolver.ts';
import { openVault } from '../../subgraphs/vault.ts';
import { freshStore } from '../harness/store.ts';

const NOW_MS = 1_790_000_000_000;
const vault = openVault('a secret for sealing');
const paid = registrationPaid({ vault, random: systemRandom });
const keyring = openKeyring({ live: ['live-key'], demo: [], waiver: [] });

let database: Database;
let context: Context;
beforeAll(async () => {
  database = await freshStore();
  context = {
    database,
    vault,
    random: systemRandom,
    clock: { now_ms: () => NOW_MS },
    live: { watch: async () => () => {}, close: async () => {} },
    charge: async () => Promise.reject(new Error('nothing is charged here')),
    base_url: 'http://127.0.0.1',
    profile: 'development',
    principal: nobody,
    payment: null,
    response: new ResponseHeaders(),
  };
});

type Account = ReturnType<typeof privateKeyToAccount>;
const newWallet = () => privateKeyToAccount(generatePrivateKey());
const newTask = () => taskId(NOW_MS, systemRandom.bytes(10));
const payerOf = ({ address }: Account) => ({ network: 'base', wallet: address }) as const;

async function requestOf(account: Account, members: { task_id?: string; request_hash?: string } = {}) {
  const at = NOW_MS / 1000;
  const text = controlText(account.address, at, members.task_id ?? null);
  const wallet_signature = await account.signMessage({ message: text });
  const body = { agentWallet: account.address, wallet_signature, signature_timestamp: at, ...members };
  return parseRequest(RegistrationRequest, body);
}

/** What the charge does around the declaration, without the money. */
async function register(account: Account, task_id: TaskId = newTask()) {
  const request = await requestOf(account);
  const payer = payerOf(account);
  await paid.admit?.(request, payer, context);
  const agent_id = (await paid.book?.(request, payer, context)) ?? null;
  const stamped = { task_id, payer, agent_id, payment_ref: 'base:0x1' };
  return database.transaction(tx => paid.commit(tx, request, stamped));
}

const identified = (shown: object) =>
  identify({ session: null, proof: null, api_key: null, address: '127.0.0.1', ...shown }, { ...context, keyring });

describe('registering by stamp', () => {
  test('makes the agent, its book and its session at once', async () => {
    const account = newWallet();
    const task_id = newTask();
    const answer = await register(account, task_id);
    expect(answer).toEqual({
      agent_id: expect.any(Number),
      agentWallet: account.address,
      session: expect.stringMatching(/^svcs_[A-Za-z0-9_-]{43}$/),
      task_id,
      validate_score: null,
    });
    expect(await agentOfWallet(database, account.address)).toBe(answer.agent_id);
    expect(await agentOfSession(database, answer.session)).toBe(answer.agent_id);
    const books = await database.query({ text: 'select 1 from book where agent_id = $1', values: [answer.agent_id] });
    expect(books).toHaveLength(1);
    expect(await resolveAgent({ agentId: answer.agent_id }, context)).toMatchObject({
      agentId: answer.agent_id,
      wallet: account.address,
      requestHash: requestHash(`svc.register.pay|${account.address}|${NOW_MS / 1000}`),
      registeredAt: expect.any(Date),
    });
  });

  test('keeps the session nowhere in the clear', async () => {
    const { session } = await register(newWallet());
    const [dump] = await database.query<{ all: string }>({
      text: `select string_agg(p::text, ' ') as all from possession p`,
    });
    expect(dump?.all).not.toContain(session);
    expect(dump?.all).not.toContain(Buffer.from(session).toString('hex'));
  });

  test.each([
    ['no address', { agentWallet: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v' }, 'invalid_wallet', 400],
    ['no signature', { wallet_signature: null }, 'control_proof_missing', 401],
    ['no time', { signature_timestamp: null }, 'control_proof_missing', 401],
    ['another time than was signed', { signature_timestamp: NOW_MS / 1000 - 1 }, 'control_proof_invalid', 401],
    ['a signature of nobody', { wallet_signature: '0x00' }, 'control_proof_invalid', 401],
    ['another request hash', { request_hash: `0x${'1'.repeat(64)}` }, 'invalid_request', 400],
  ])('%s is refused before the claim', async (_, members, code, status) => {
    const account = newWallet();
    const request = { ...(await requestOf(account)), ...members };
    await expect(paid.admit?.(request, payerOf(account), context)).rejects.toMatchObject({ code, status });
  });

  test('another payer is refused before the claim: 403', async () => {
    const request = await requestOf(newWallet());
    for (const payer of [payerOf(newWallet()), { network: 'solana', wallet: request.agentWallet } as const]) {
      await expect(paid.admit?.(request, payer, context)).rejects.toMatchObject({
        code: 'payer_mismatch',
        status: 403,
      });
    }
  });

  test('a registered wallet is refused before the claim: 409, and its slot is the same in any spelling', async () => {
    const account = newWallet();
    await register(account);
    const request = { ...(await requestOf(account)), agentWallet: account.address.toLowerCase() };
    await expect(paid.admit?.(request, payerOf(account), context)).rejects.toMatchObject({ code: 'wallet_registered' });
    expect(paid.slots?.(request, payerOf(account))).toEqual([`wallet:${account.address.toLowerCase()}`]);
  });
});

describe('registering again with the task id', () => {
  const resolver = new RegistrationResolver();
  const recover = async (account: Account, task_id: string) => {
    const { wallet_signature: walletSignature, signature_timestamp: signatureTimestamp } = await requestOf(account, {
      task_id,
    });
    const input = { agentWallet: account.address, taskId: task_id, walletSignature, signatureTimestamp };
    return resolver.registerAgent(input, context);
  };

  test('same wallet, same task: a new session, and the old one ends', async () => {
    const account = newWallet();
    const first = await register(account);
    const again = await recover(account, first.task_id);
    expect(again).toMatchObject({
      agentId: first.agent_id,
      settlementStatus: 'idempotent_replay',
      idempotentReplay: true,
      replayOf: first.task_id,
    });
    expect(again.session).not.toBe(first.session);
    expect(await agentOfSession(database, first.session)).toBeNull();
    expect(await agentOfSession(database, again.session)).toBe(first.agent_id);
  });

  test('another task 409, the task of another 403, an unknown one 403', async () => {
    const account = newWallet();
    const other = await register(newWallet());
    await expect(recover(account, newTask())).rejects.toMatchObject({ code: 'receipt_not_qualifying' });
    await expect(recover(account, other.task_id)).rejects.toMatchObject({ code: 'payer_mismatch' });
    await register(account);
    await expect(recover(account, newTask())).rejects.toMatchObject({ code: 'wallet_registered' });
  });

  test('twenty at once leave one live session', async () => {
    const { agent_id } = await register(newWallet());
    const issue = () => database.transaction(tx => issueSession(tx, agentId(agent_id), context));
    const sessions = await Promise.all(Array.from({ length: 20 }, issue));
    const live = await Promise.all(sessions.map(session => agentOfSession(database, session)));
    expect(live.filter(found => found !== null)).toEqual([agent_id]);
  });
});

describe('who is calling', () => {
  test('nobody, without anything shown', async () => {
    expect(await identified({})).toEqual({
      possession: { kind: 'absent' },
      api_key: { kind: 'absent' },
      address: '127.0.0.1',
    });
  });

  test('the holder of a session, or of a proof made with it, or of both', async () => {
    const { agent_id, session } = await register(newWallet());
    const proof = { agent_id, value: bookProof(session, agent_id, proofWindow(NOW_MS)) };
    for (const shown of [{ session }, { proof }, { session, proof }]) {
      expect((await identified(shown)).possession).toEqual({ kind: 'proven', agent_id });
    }
  });

  test('wrong: an unknown session, a stale proof, an agent that is none, two that disagree', async () => {
    const { agent_id, session } = await register(newWallet());
    const other = await register(newWallet());
    const value = bookProof(session, agent_id, proofWindow(NOW_MS));
    const stale = bookProof(session, agent_id, proofWindow(NOW_MS) - 2);
    for (const shown of [
      { session: '' },
      { session: `svcs_${'A'.repeat(43)}` },
      { proof: { agent_id, value: stale } },
      { proof: { agent_id: other.agent_id, value } },
      ...[0, -1, 1.5, 2 ** 31 - 1, 2 ** 40, Number.NaN].map(id => ({ proof: { agent_id: id, value } })),
      { session: other.session, proof: { agent_id, value } },
    ]) {
      expect((await identified(shown)).possession).toEqual({ kind: 'wrong' });
    }
  });

  test('an API key says nothing about possession', async () => {
    expect(await identified({ api_key: 'live-key' })).toMatchObject({
      possession: { kind: 'absent' },
      api_key: { kind: 'live' },
    });
  });
});
