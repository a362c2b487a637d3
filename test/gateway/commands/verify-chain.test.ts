import { beforeAll, describe, expect, it } from 'vitest';
import { type ChainLook, lookAtChain } from '../../../gateway/commands/verify/chain-look.ts';
import { isJsonObject, type Json, type JsonObject } from '../../../schema/canonical-json.ts';
import { networks } from '../../../schema/network.ts';
import { verify } from '../../../subgraphs/receipt/verify/module.ts';
import { ask, type Service, sharedService } from '../../harness/doors/open-service.ts';
import { type LyingChain, type RpcBehaviour, startLyingChain } from '../../harness/lying-chain.ts';

/* `npm run verify -- RECEIPT --rpc URL`, on a payment that took place. */

let service: Service;
let chain: LyingChain;
let claims: JsonObject;
beforeAll(async () => {
  service = await sharedService();
  chain = await startLyingChain(service.chain.rpc_url);
  const agent = await service.newAgent();
  const { svc } = (await service.buy(agent.account, ask(), { 'X-SVC-Session': agent.session })).body;
  const { body: keys } = await service.get<JsonObject>('/.well-known/jwks.json');
  const verified = verify(svc, keys);
  if (!verified.claims) throw new Error(verified.fault?.sentence);
  claims = verified.claims;
});

const look = (url = service.chain.rpc_url, of = claims) => lookAtChain(url, of, undefined);
const payment = () => claims.payment as JsonObject;
const paying = (members: JsonObject): JsonObject => ({ ...claims, payment: { ...payment(), ...members } });

describe('the chain says', () => {
  it('that the USDC moved, where, and how deep it lies', async () => {
    const said = await look();
    expect(said).toMatchObject({ outcome: 'moved', tx_hash: String(payment().ref).slice('base:'.length) });
    if (said.outcome !== 'moved') throw new Error(said.code);
    expect(said.log_index).toBe(payment().transfer_index);
    expect(said.confirmations).toBeGreaterThan(0);
  });

  it('nothing of a call that a key stood in for', async () => {
    const { payment: _, ...waived } = claims;
    expect(await look(undefined, waived)).toMatchObject({ outcome: 'nothing_paid' });
  });

  it('the same of a transfer that a book chain signs in place of a payment', async () => {
    const { payment: _, ...rest } = claims;
    const { ref, transfer_index: index, network, rail, asset, payer, pay_to, gross_amount: amount } = payment();
    const chained = (members: JsonObject = {}): JsonObject => ({
      ...rest,
      payment_ref: ref ?? null,
      observed_transfer: { network, rail, asset, index, payer, pay_to, amount, ...members } as JsonObject,
    });
    expect(await look(undefined, chained())).toMatchObject({ outcome: 'moved' });
    expect(await look(undefined, chained({ amount: '2001' }))).toMatchObject({ code: 'transfer_missing' });
    expect(await look(undefined, chained({ network: 'nano' }))).toMatchObject({ code: 'network_unsupported' });
    expect(await look(undefined, { ...rest, payment_ref: ref ?? null })).toMatchObject({ code: 'transfer_unsigned' });
  });

  it.each<[code: ChainLook['code'], what: string, members: () => JsonObject]>([
    ['transfer_missing', 'another amount', () => ({ gross_amount: '2001' })],
    ['authorization_unused', 'another payer', () => ({ payer: payment().pay_to ?? null })],
    ['transfer_missing', 'another payee', () => ({ pay_to: payment().payer ?? null })],
    [
      'transfer_missing',
      'another place in the block',
      () => ({ transfer_index: Number(payment().transfer_index) + 1 }),
    ],
    ['asset_foreign', 'a token that is not USDC', () => ({ asset: payment().payer ?? null })],
  ])('%s of %s: the receipt is contradicted', async (code, _, members) => {
    expect(await look(undefined, paying(members()))).toMatchObject({ outcome: 'contradicted', code });
  });

  it('that another payment of the same payer is another, whatever is said of where this one was seen', async () => {
    const vouched = paying({
      payment_id: `0x${'1'.repeat(64)}`,
      transfer_index: null,
      ref: `base:0x${'2'.repeat(64)}`,
    });
    const seen = { ref: payment().ref ?? null, confirmed_at: '2026-01-02T03:04:05.000Z' };
    expect(await lookAtChain(service.chain.rpc_url, vouched, seen)).toMatchObject({
      outcome: 'contradicted',
      code: 'authorization_unused',
    });
    const own = paying({ transfer_index: null, ref: `base:0x${'2'.repeat(64)}` });
    expect(await lookAtChain(service.chain.rpc_url, own, seen)).toMatchObject({ outcome: 'moved' });
  });

  it('that the transaction was reverted', async () => {
    chain.lie({ eth_getTransactionReceipt: truth => ({ ...(truth as JsonObject), status: '0x0' }) });
    expect(await look(chain.url)).toMatchObject({ outcome: 'contradicted', code: 'transaction_reverted' });
    chain.lie({});
  });
});

/** Of the transfer, or of the use of the authorization, which has no data. */
const logs = (change: (log: JsonObject) => JsonObject, of_use: boolean) => (truth: Json) =>
  isJsonObject(truth) && Array.isArray(truth.logs)
    ? {
        ...truth,
        logs: truth.logs.map(log => (isJsonObject(log) && (log.data === '0x') === of_use ? change(log) : log)),
      }
    : truth;

describe('no log of another kind is taken for the transfer', () => {
  it.each<[what: string, change: (log: JsonObject) => JsonObject]>([
    ['of another contract', log => ({ ...log, address: networks.base.multicall3 })],
    ['that was taken back', log => ({ ...log, removed: true })],
    ['of another event', log => ({ ...log, topics: [`0x${'0'.repeat(64)}`, ...(log.topics as Json[]).slice(1)] })],
    ['with a topic more', log => ({ ...log, topics: [...(log.topics as Json[]), `0x${'0'.repeat(64)}`] })],
    ['of another transaction', log => ({ ...log, transactionHash: `0x${'0'.repeat(64)}` })],
    ['without an amount', log => ({ ...log, data: '0x' })],
  ])('%s', async (_, change) => {
    chain.lie({ eth_getTransactionReceipt: logs(change, false) });
    expect(await look(chain.url)).toMatchObject({ outcome: 'contradicted', code: 'transfer_missing' });
    chain.lie({});
  });

  it.each<[what: string, change: (log: JsonObject) => JsonObject]>([
    ['of another contract', log => ({ ...log, address: networks.base.multicall3 })],
    ['that was taken back', log => ({ ...log, removed: true })],
    ['with a topic more', log => ({ ...log, topics: [...(log.topics as Json[]), `0x${'0'.repeat(64)}`] })],
  ])('nor one %s for the use of its authorization', async (_, change) => {
    chain.lie({ eth_getTransactionReceipt: logs(change, true) });
    expect(await look(chain.url)).toMatchObject({ outcome: 'contradicted', code: 'authorization_unused' });
    chain.lie({});
  });

  it('nor the transfer of another authorization that was used after it', async () => {
    const behind = logs(log => ({ ...log, logIndex: `0x${(Number(log.logIndex) + 1).toString(16)}` }), false);
    const between = (truth: Json) => {
      const told = behind(truth) as JsonObject;
      const all = told.logs as readonly JsonObject[];
      const own = all.find(({ data }) => data !== '0x') as JsonObject;
      const other = { ...own, logIndex: `0x${(Number(own.logIndex) - 1).toString(16)}`, data: `0x${'0'.repeat(64)}` };
      return { ...told, logs: [...all, other] };
    };
    chain.lie({ eth_getTransactionReceipt: between });
    const unplaced = paying({ transfer_index: null });
    expect(await look(chain.url, unplaced)).toMatchObject({ outcome: 'contradicted', code: 'transfer_missing' });
    chain.lie({});
  });
});

describe('what is not answered is unknown, and never passes', () => {
  const unknown = (code: ChainLook['code']) => ({ outcome: 'unknown', code });

  it('a transaction that the node does not know', async () => {
    const other = paying({ ref: `base:0x${'1'.repeat(64)}` });
    expect(await look(undefined, other)).toMatchObject(unknown('transaction_unknown'));
  });

  it('another chain, and a network that is not looked at', async () => {
    chain.lie({ eth_chainId: () => '0x1' });
    expect(await look(chain.url)).toMatchObject(unknown('rpc_other_chain'));
    chain.lie({});
    expect(await look(undefined, paying({ network: 'solana' }))).toMatchObject(unknown('network_unsupported'));
  });

  it('a node whose newest block comes before the transfer', async () => {
    chain.lie({ eth_blockNumber: () => '0x0' });
    expect(await look(chain.url)).toMatchObject(unknown('transaction_unconfirmed'));
    chain.lie({});
  });

  it.each<[code: ChainLook['code'], lie: Json]>([
    ['rpc_malformed', 'x'],
    ['rpc_malformed', {}],
    ['rpc_malformed', { transactionHash: `0x${'1'.repeat(64)}`, status: '0x1', blockNumber: '0x1', logs: [] }],
  ])('%s: %j for the transaction', async (code, lie) => {
    chain.lie({ eth_getTransactionReceipt: () => lie });
    expect(await look(chain.url)).toMatchObject(unknown(code));
    chain.lie({});
  });

  it.each<[code: ChainLook['code'], manner: RpcBehaviour]>([
    ['rpc_unavailable', { kind: 'hang' }],
    ['rpc_malformed', { kind: 'huge', methods: ['eth_chainId'] }],
    ['rpc_malformed', { kind: 'no_json', methods: ['eth_getTransactionReceipt'] }],
    ['rpc_unavailable', { kind: 'cut' }],
  ])('%s of a node with which it is %j', async (code, manner) => {
    chain.behave(manner);
    expect(await look(chain.url)).toMatchObject(unknown(code));
    chain.behave({ kind: 'plain' });
  });
});
