import { z } from 'zod';
import { answered, map } from '../reached.ts';
import type { Reached, Rpc } from '../rpc.ts';
import { type ChainLog, count, logShape } from './base-shapes.ts';
import type { AuthorizationName, AuthorizationUse } from './chain.ts';
import { topic, topics, USDC } from './usdc.ts';

/** Nodes bound how much of the chain one eth_getLogs may search; 10,000 blocks is the usual bound. */
const LOG_BLOCKS_MAX = 9_000;

/** USDC's logs with these topics from a block to the head, page by page, until `enough`. */
export async function searchLogs(
  rpc: Rpc,
  filter: readonly unknown[],
  from_block: number,
  enough: (logs: readonly ChainLog[]) => boolean,
): Promise<Reached<{ readonly logs: readonly ChainLog[]; readonly head: number }>> {
  const head = answered(await rpc.call('eth_blockNumber', [], count));
  if (head.kind !== 'ok') return head;
  const found: ChainLog[] = [];
  for (let from = from_block; from <= head.value && !enough(found); from += LOG_BLOCKS_MAX) {
    const to = Math.min(from + LOG_BLOCKS_MAX - 1, head.value);
    const range = { fromBlock: `0x${from.toString(16)}`, toBlock: `0x${to.toString(16)}` };
    const page = answered(
      await rpc.call('eth_getLogs', [{ address: USDC, topics: filter, ...range }], z.array(logShape)),
    );
    if (page.kind !== 'ok') return page;
    found.push(...page.value);
  }
  return { kind: 'ok', value: { logs: found, head: head.value } };
}

/** Where an authorization's nonce was spent, from a block on. */
export async function authorizationUse(
  rpc: Rpc,
  { payer, nonce }: AuthorizationName,
  from_block: number,
): Promise<Reached<AuthorizationUse>> {
  const filter = [[topics.authorizationUsed, topics.authorizationCanceled], topic(payer), nonce];
  const searched = await searchLogs(rpc, filter, from_block, found => found.length > 0);
  return map(searched, ({ logs: [log], head }) => {
    if (!log) return { kind: 'unseen', searched_to: head };
    return log.topics[0] === topics.authorizationUsed ? { kind: 'used', tx_hash: log.tx_hash } : { kind: 'cancelled' };
  });
}
