import type { Hex } from '../../gateway/rails/base/abi.ts';
import type { BaseChain } from '../../gateway/rails/base/chain.ts';
import type { OpenSettling } from '../../gateway/rails/open-rails.ts';
import { type ClaimItem, commitSettling } from '../../gateway/rails/settler.ts';
import type { Database } from '../../subgraphs/database.ts';
import { GroupCommit } from '../../subgraphs/group-commit.ts';
import { type openHubs } from '../../subgraphs/receipt/inference/hubs/open.ts';

/*
 * A chain on which every transaction has already succeeded, so that a paid call consists of our own work only. The claim still becomes
 * `settling` in a separate commit, because that commit is part of a paid call.
 */

/** The hub's answer on both sides. Neither side sends an HTTP request for it. */
export const completion = {
  choices: [{ index: 0, message: { role: 'assistant', content: 'Answered at once.' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 3, total_tokens: 4 },
} as const;

const answer = Buffer.from(JSON.stringify(completion));

/** Hubs that answer without HTTP, as on the other side, because a call to a hub would cost both sides the same. */
export const standStillHubs: typeof openHubs = settings => ({
  settings,
  routes: false,
  routerModels: async () => ({ ids: [], more: false }),
  routerTells: async () => false,
  routerMayHave: async () => false,
  standings: [],
  away: [],
  waiting: [],
  async put(question, { candidates: [candidate] }) {
    const value = question.read(answer);
    if (!candidate || !value) return { kind: 'failed', attempts: [] };
    return { kind: 'answered', ...candidate, value, answered_model: null };
  },
  stream: async () => ({ kind: 'failed', attempts: [] }),
  close: async () => {},
});

const block = { number: 1, hash: `0x${'0'.repeat(64)}` as Hex, timestamp_seconds: 0, base_fee_wei: 1n };
const ok = async <T>(value: T) => ({ kind: 'ok' as const, value });

export function standStillChain(): BaseChain {
  return {
    chainId: () => ok(8453),
    readiness: () => ok({ balance_atomic: 10n ** 12n, used: false, has_code: false, blacklisted: false }),
    holdings: (_payer, nonces) => ok({ balance_atomic: 10n ** 12n, used: nonces.map(() => false) }),
    simulate: () => ok('0x' as Hex),
    isUsed: () => ok(false),
    receipts: hashes => Promise.all(hashes.map(() => ok(null))),
    calldata: () => ok(null),
    block: () => ok(block),
    authorizationUse: () => ok({ kind: 'unseen', searched_to: block.number }),
    transfersTo: () => ok([]),
    transfersFrom: () => ok([]),
    transfersInto: () => ok([]),
    broadcast: () => ok({ kind: 'taken' }),
    market: addresses =>
      ok({
        head: block,
        priority_fee_wei: 1n,
        eth_round: { kind: 'absent' },
        l1_fee_wei: 0n,
        keys: addresses.map(address => ({ address, nonce_pending: 0, balance_wei: 10n ** 20n })),
      }),
    transactionCount: () => ok(0),
    code: () => ok('0x' as Hex),
    close: async () => {},
  };
}

export const openStandStillSettling: OpenSettling = ({ database }) => {
  const queue = new GroupCommit<ClaimItem, boolean>(database as Database, settleAll, 64);
  return {
    async settle(item) {
      if (!(await queue.submit(item))) return { kind: 'not_sent', reason: 'claim_lost' } as never;
      return {
        kind: 'transferred',
        tx_hash: item.authorization.nonce,
        block_number: 1,
        block_hash: block.hash,
        transfer_index: 0,
        by: 'us',
      };
    },
    rebroadcast: async () => {},
    close: async () => {},
  };
};

async function settleAll(tx: Parameters<typeof commitSettling>[0], items: readonly ClaimItem[]): Promise<boolean[]> {
  const moved = await commitSettling(tx, items, { settlement_id: null, from_block: 0, replaces: [] });
  return items.map(item => moved.has(item.claim_key));
}
