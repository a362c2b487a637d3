import { beforeAll, describe, it } from 'vitest';
import { topics } from '../../gateway/rails/base/contracts.ts';
import type { Json, JsonObject } from '../../schema/canonical-json.ts';
import { openLyingChainService } from '../harness/faults/lying-chain-service.ts';
import type { Lies } from '../harness/lying-chain.ts';

/*
 * A node gives answers that differ from its chain. In every case of this file the money moves, so no answer may ask the payer to pay again,
 * and nothing may be recorded before the chain shows the right Transfer.
 */

let doubtful: Awaited<ReturnType<typeof openLyingChainService>>;
beforeAll(async () => {
  doubtful = await openLyingChainService();
});

type Log = JsonObject & { readonly topics: readonly string[] };
type Receipt = JsonObject & { readonly logs: readonly Log[] };

const receiptTold = (change: (receipt: Receipt) => JsonObject): Lies => ({
  eth_getTransactionReceipt: truth => (truth === null ? null : change(truth as Receipt)),
});
const logsTold = (change: (log: Log) => Log | null) =>
  receiptTold(receipt => ({ ...receipt, logs: receipt.logs.flatMap(log => change(log) ?? []) }));
const eventTold = (event: string, change: (log: Log) => Log | null) =>
  logsTold(log => (log.topics[0] === event ? change(log) : log));
const transferTold = (change: (log: Log) => Log) => eventTold(topics.transfer, change);
const useTold = (change: (log: Log) => Log | null) => eventTold(topics.authorizationUsed, change);
const withTopic = (at: number, value: string) => (log: Log) => ({ ...log, topics: log.topics.with(at, value) });

const stranger = `0x${'00'.repeat(12)}${'be'.repeat(20)}`;
const another = `0x${'cd'.repeat(32)}`;
/** Whether a call is `authorizationState(address,bytes32)`. */
const asksState = (params: readonly Json[]) => String((params[0] as JsonObject).data).startsWith('0xe94a0102');
const unspent: Lies = { eth_call: (truth, params) => (asksState(params) ? `0x${'0'.repeat(64)}` : truth) };
const failed = receiptTold(receipt => ({ ...receipt, status: '0x0', logs: [] }));
const bare = logsTold(() => null);

const lies: readonly [what: string, lies: Lies][] = [
  ['success without a log', bare],
  ['a Transfer to another payee', transferTold(withTopic(2, stranger))],
  ['a Transfer from another payer', transferTold(withTopic(1, stranger))],
  ['a Transfer of another amount', transferTold(log => ({ ...log, data: `0x${'1'.padStart(64, '0')}` }))],
  ['a Transfer of another token', transferTold(log => ({ ...log, address: `0x${'77'.repeat(20)}` }))],
  ['no AuthorizationUsed', useTold(() => null)],
  ['the use of another nonce', useTold(withTopic(2, another))],
  ['that it failed', failed],
  ['that it failed, and that the nonce is unspent', { ...failed, ...unspent }],
  ['success without a log, and that the nonce is unspent', { ...bare, ...unspent, eth_getLogs: () => [] }],
  ['the receipt of another transaction', receiptTold(receipt => ({ ...receipt, transactionHash: another }))],
  ['nothing, as one that lags behind', { eth_getTransactionReceipt: () => null, ...unspent }],
  ['what is no receipt', { eth_getTransactionReceipt: () => ({ status: 'ok' }) }],
];

describe('a node that tells of our transaction', () => {
  it.each(lies)('%s: 503 settlement_pending until it tells the truth, then 200; one transfer', async (what, told) => {
    await doubtful.expectPatience(what, () => doubtful.node.lie(told));
  });
});
