import { setTimeout as sleep } from 'node:timers/promises';
import { developmentFacilitators, usdcAdmin } from '../../../gateway/development/chain/accounts.ts';
import { rpcBatch } from '../../../gateway/development/chain/rpc.ts';
import { usdcContracts } from '../../../gateway/development/chain/usdc.ts';
import { openStore } from '../../../gateway/parts.ts';
import type { Hex } from '../../../gateway/rails/base/abi.ts';
import { authorizationDigest, baseClaimKey } from '../../../gateway/rails/base/authorization.ts';
import { openBase } from '../../../gateway/rails/base/open-base.ts';
import type { SettleItem } from '../../../gateway/rails/base/settle/batch.ts';
import { openSettler } from '../../../gateway/rails/base/settle/settler.ts';
import { signatureOf } from '../../../gateway/rails/base/signature.ts';
import type { SettleOutcome } from '../../../gateway/rails/outcome.ts';
import { settlerDefaults } from '../../../gateway/rails/settler.ts';
import { limits } from '../../../schema/limits.ts';
import { systemClock, systemRandom } from '../../../subgraphs/clock.ts';
import { newPayer, signAuthorization } from '../authorizations.ts';
import { serveTasks, startOptions } from '../child/answer.ts';

export interface SettlersGiven {
  readonly database_url: string;
  readonly rpc_url: string;
}

export interface SettledTotals {
  readonly settlements: number;
  readonly blocks: number;
  readonly gas: number;
}

/** Number of payments that each key settles in one transaction. */
const BATCH = 25;
/**
 * Few payers, because most payers pay more than once. The second payment of a payer in a transaction finds its storage slots warm
 * (EIP-2929).
 */
const PAYERS = 10;
const BLOCK_SECONDS = 2;
/** A round begins within this time after a block, so that the whole round is mined in the next one. */
const YOUNG_MS = 700;
const POLL_MS = 25;

const { database_url, rpc_url } = startOptions<SettlersGiven>();
const database = await openStore(database_url);
const chain = openBase({ rpc_url });
const payers = Array.from({ length: PAYERS }, newPayer);
const treasury = newPayer().address;
const keys = developmentFacilitators.map(({ private_key }) => private_key);
let journalled = 0;

const open = (keys: readonly string[]) =>
  openSettler<SettleItem>({
    ...settlerDefaults,
    chain,
    database,
    keys,
    clock: systemClock,
    random: systemRandom,
    fee_bounds: {
      fee_max_atomic: limits.settle_fee_atomic_default,
      fee_day_max_atomic: limits.settle_fee_day_atomic_default,
    },
    eth_price: { given: null, profile: 'development' },
    poll_ms: POLL_MS,
    commitSettling: async (_tx, items) => {
      journalled += items.length;
      return new Set(items.map(item => item.claim_key));
    },
  });
const plural = open(keys);
const singular = keys.map(key => open([key]));

const holders = [treasury, ...payers.map(({ address }) => address)];
await rpcBatch(rpc_url, held(holders));
await rpcBatch(rpc_url, [
  { method: 'evm_setAutomine', params: [false] },
  { method: 'evm_setIntervalMining', params: [BLOCK_SECONDS] },
]);
const blocks = watchBlocks();

/** Storage of USDC balances. The treasury gets one too, because the first payment to an address costs more gas than later ones. */
function held(addresses: readonly Hex[]) {
  const holdings = addresses.map(address => ({ address, amount_atomic: 1_000_000_000n }));
  const contracts = usdcContracts(usdcAdmin.address, holdings);
  const cells = contracts.flatMap(({ address, storage }) =>
    Object.entries(storage).map(([slot, value]) => [address, slot, value]),
  );
  return cells.map(params => ({ method: 'anvil_setStorageAt', params }));
}

function watchBlocks() {
  const head = { number: -1, since_ms: Number.NEGATIVE_INFINITY };
  const look = async () => {
    const [number] = (await rpcBatch(rpc_url, [{ method: 'eth_blockNumber', params: [] }])) as [string];
    if (Number(number) !== head.number) Object.assign(head, { number: Number(number), since_ms: performance.now() });
  };
  const timer = setInterval(() => void look().catch(() => {}), POLL_MS);
  return {
    async young(): Promise<void> {
      while (performance.now() - head.since_ms > YOUNG_MS) await sleep(POLL_MS);
    },
    stop: () => clearInterval(timer),
  };
}

function items(): SettleItem[] {
  return Array.from({ length: BATCH }, (_, index) => {
    const payer = payers[index % PAYERS] as (typeof payers)[number];
    const { authorization, signature } = signAuthorization(payer, treasury);
    return {
      claim_key: baseClaimKey(authorization),
      authorization,
      signature: signatureOf(payer.address, authorizationDigest(authorization), signature),
    };
  });
}

/**
 * Settles all payments of a round, each batch in one transaction. The next batch is handed over after the previous one was signed and
 * written.
 */
async function together(): Promise<SettledTotals> {
  const before = journalled;
  const settling: Promise<SettleOutcome>[] = [];
  for (let lot = 1; lot <= keys.length; lot++) {
    settling.push(...items().map(item => plural.settle(item)));
    while (journalled < before + lot * BATCH) await sleep(1);
  }
  return sumOf(await Promise.all(settling));
}

/** The same settlers with the same keys, but each sends one authorization and waits for its receipt. */
async function alone(): Promise<SettledTotals> {
  const waiting = items();
  return sumOf(await Promise.all(singular.map((settler, index) => settler.settle(waiting[index] as SettleItem))));
}

async function sumOf(settlements: readonly SettleOutcome[]): Promise<SettledTotals> {
  const hashes = new Set<Hex>();
  const blocks = new Set<number>();
  for (const settlement of settlements) {
    if (settlement.kind !== 'transferred') throw new Error(`a payment was not settled: ${JSON.stringify(settlement)}`);
    hashes.add(settlement.tx_hash as Hex);
    blocks.add(settlement.block_number);
  }
  const asked = [...hashes].map(hash => ({ method: 'eth_getTransactionReceipt', params: [hash] }));
  const receipts = (await rpcBatch(rpc_url, asked)) as { readonly gasUsed: string }[];
  const gas = receipts.reduce((sum, { gasUsed }) => sum + Number(gasUsed), 0);
  return { settlements: settlements.length, blocks: blocks.size, gas };
}

serveTasks({}, { young: blocks.young, together, alone }, async () => {
  blocks.stop();
  await Promise.all([plural, ...singular].map(settler => settler.close()));
  await chain.close();
  await database.close();
});
