import { randomBytes } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { encodeFunctionData, type Hex, type PrivateKeyAccount, parseAbi } from 'viem';
import { developmentFacilitators, usdcAdmin } from '../../../gateway/development/chain/accounts.ts';
import { hex } from '../../../gateway/rails/base/abi.ts';
import {
  authorizationDigest,
  type BaseAuthorization,
  baseClaimKey,
} from '../../../gateway/rails/base/authorization.ts';
import { reconcileSettlement } from '../../../gateway/rails/base/base-rail.ts';
import type { BaseChain } from '../../../gateway/rails/base/chain.ts';
import { transferCall } from '../../../gateway/rails/base/contracts.ts';
import { openBase } from '../../../gateway/rails/base/open-base.ts';
import type { SettleItem } from '../../../gateway/rails/base/settle/batch.ts';
import type { SettlerOptions } from '../../../gateway/rails/base/settle/journal.ts';
import { openSettler } from '../../../gateway/rails/base/settle/settler.ts';
import { signatureOf } from '../../../gateway/rails/base/signature.ts';
import type { Decision } from '../../../gateway/rails/outcome.ts';
import { type Sending, type Settler, settlerDefaults } from '../../../gateway/rails/settler.ts';
import { atomicAmount } from '../../../schema/amount.ts';
import { limits } from '../../../schema/limits.ts';
import { networks } from '../../../schema/network.ts';
import { systemClock, systemRandom } from '../../../subgraphs/clock.ts';
import { type Database, openDatabase } from '../../../subgraphs/database.ts';
import {
  SettlementAttempt,
  SettlementFeeDay,
  SettlementRow,
  SettlerKeyRow,
} from '../../../subgraphs/receipt/claim/settlement/settlement.entity.ts';
import { ReceiptCoreBaseline } from '../../../subgraphs/receipt/migration.ts';
import type { Wallet } from '../buyer.ts';
import { freshChain, type TestChain } from '../chain.ts';
import { freshDatabase } from '../database.ts';
import { atEnd } from '../release.ts';
import { cancellation, signTransfer } from './wallet.ts';

const PRICE = 2000n;
const abi = parseAbi(['function blacklist(address account)']);

/** Claim keys that the settler cannot own (`lost`) or whose record fails (`broken`), and the settlements by claim key. */
interface Claims {
  readonly lost: Set<string>;
  readonly broken: Set<string>;
  readonly settlements: Map<string, Sending>;
}

/** A database that has only the tables of settlements. */
export async function settlementDatabase(): Promise<Database> {
  const database = await openDatabase({
    url: (await freshDatabase()).url,
    entities: [SettlerKeyRow, SettlementRow, SettlementAttempt, SettlementFeeDay],
    migrations: [ReceiptCoreBaseline],
    connections_max: 8,
  });
  atEnd(() => database.close());
  return database;
}

export type BaseGround = Awaited<ReturnType<typeof openBaseGround>>;

/** A real chain and a real database that only the test changes. */
export async function openBaseGround() {
  const chain = await freshChain();
  const database = await settlementDatabase();
  const base = openBase({ rpc_url: chain.rpc_url });
  atEnd(() => base.close());
  const pay_to: Hex = hex(randomBytes(20));
  const claims: Claims = { lost: new Set(), broken: new Set(), settlements: new Map() };
  const payment = (payer: Wallet, changed: Partial<BaseAuthorization> = {}) => signedItem(payer, pay_to, changed);
  return {
    chain,
    database,
    base,
    pay_to,
    claims,
    payment,
    wallet: (amount_atomic = 1_000_000_000n) => fundedWallet(chain, amount_atomic),
    payments: async (count: number) => {
      const payer = await fundedWallet(chain, 1_000_000_000n);
      return Promise.all(Array.from({ length: count }, () => payment(payer)));
    },
    settler: (changed: Partial<SettlerOptions<SettleItem>> = {}) => testSettler(chain, database, base, claims, changed),
    reconcile: ({ claim_key, authorization }: SettleItem): Promise<Decision> => {
      const settlement = claims.settlements.get(claim_key);
      const { settlement_id = null, from_block = 0 } = settlement ?? {};
      return reconcileSettlement({ database, chain: base }, { authorization, settlement_id, from_block });
    },
    /** Submits the authorization from another account, as EIP-3009 allows any account with gas to do. */
    submitElsewhere: (item: SettleItem) => sendAs(chain, transferCall(item.authorization, item.signature)),
    cancel: async (payer: PrivateKeyAccount, { authorization: { nonce } }: SettleItem) =>
      sendAs(chain, await cancellation(payer, nonce)),
    blacklist: ({ address }: PrivateKeyAccount) =>
      sendAs(chain, encodeFunctionData({ abi, functionName: 'blacklist', args: [address] }), usdcAdmin.address),
    /** Sets the code of an account, as EIP-7702 allows. */
    setCode: ({ address }: PrivateKeyAccount, code: Hex) => chain.call('anvil_setCode', address, code),
    /** Sends another transaction of the settlers' first key, so that what was signed with that nonce can never be mined. */
    useUpNonce: () => {
      const from = developmentFacilitators[0]?.address ?? '';
      return mined(chain, { from, to: from, value: '0x1' });
    },
    attempts: () =>
      database.query<{ settlement_id: string; key_address: string; nonce: number; tx_hash: Hex; max_fee_wei: bigint }>({
        text: `select settlement_id, key_address, nonce, tx_hash, max_fee_wei
          from settlement_attempt a join settlement using (settlement_id) order by nonce, a.created_at`,
      }),
    /** Recorded fees of the day, and the sum of the fees of its settlements. */
    feeDay: async () => {
      const [day] = await database.query<{ fee_atomic: bigint; counted: bigint; authorizations: number }>({
        text: `select coalesce(sum(fee_atomic), 0) as fee_atomic, coalesce(sum(authorizations), 0)::bigint as authorizations,
          (select coalesce(sum(fee_atomic), 0) from settlement) as counted from settlement_fee_day`,
      });
      return {
        fee_atomic: BigInt(day?.fee_atomic ?? -1),
        counted: BigInt(day?.counted ?? -1),
        of: day?.authorizations,
      };
    },
    states: async () =>
      (await database.query<{ state: string }>({ text: 'select state from settlement order by created_at' })).map(
        ({ state }) => state,
      ),
  };
}

/** Fee limits in atomic USDC, each at its default unless given. */
export function feeBounds(changed: { fee_max_atomic?: bigint; fee_day_max_atomic?: bigint } = {}) {
  const { settle_fee_atomic_default, settle_fee_day_atomic_default } = limits;
  return {
    fee_max_atomic: atomicAmount(changed.fee_max_atomic ?? settle_fee_atomic_default),
    fee_day_max_atomic: atomicAmount(changed.fee_day_max_atomic ?? settle_fee_day_atomic_default),
  };
}

function testSettler(
  chain: TestChain,
  database: Database,
  base: BaseChain,
  claims: Claims,
  changed: Partial<SettlerOptions<SettleItem>>,
): Settler<SettleItem> {
  const settler = openSettler({
    ...settlerDefaults,
    chain: base,
    database,
    keys: chain.facilitator_keys.slice(0, 1),
    clock: systemClock,
    random: systemRandom,
    fee_bounds: feeBounds(),
    eth_price: { given: null, profile: 'development' },
    commitSettling: async (_tx, items, sending) => {
      if (items.some(item => claims.broken.has(item.claim_key))) throw new Error('this claim cannot be written');
      const moved = items.filter(item => !claims.lost.has(item.claim_key)).map(item => item.claim_key);
      for (const key of moved) claims.settlements.set(key, sending);
      return new Set(moved);
    },
    ...changed,
  });
  atEnd(() => settler.close());
  return settler;
}

async function signedItem(payer: Wallet, pay_to: Hex, changed: Partial<BaseAuthorization>): Promise<SettleItem> {
  const authorization: BaseAuthorization = {
    network: 'base',
    payer: payer.address,
    pay_to,
    amount_atomic: atomicAmount(PRICE),
    valid_after_seconds: 0,
    valid_before_seconds: Math.floor(Date.now() / 1000) + 600,
    nonce: hex(randomBytes(32)),
    ...changed,
  };
  const shown = await signTransfer(payer, {
    from: authorization.payer,
    to: authorization.pay_to,
    value: authorization.amount_atomic,
    validAfter: BigInt(authorization.valid_after_seconds),
    validBefore: BigInt(authorization.valid_before_seconds),
    nonce: authorization.nonce,
  });
  const signature = signatureOf(authorization.payer, authorizationDigest(authorization), shown);
  return { claim_key: baseClaimKey(authorization), authorization, signature };
}

/** An account of anvil that is no settler. */
const STRANGER = '0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65';

function sendAs(chain: TestChain, data: Hex, from: string = STRANGER): Promise<string> {
  return mined(chain, { from, to: networks.base.usdc, data });
}

async function mined(chain: TestChain, transaction: Record<string, string>): Promise<string> {
  const hash = await chain.call<string>('eth_sendTransaction', transaction);
  // The node mines a transaction a moment after it accepts it. Until then another one with the same nonce could replace it.
  await until(async () => (await chain.call('eth_getTransactionReceipt', hash)) !== null);
  return hash;
}

export async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await setTimeout(10);
}

async function fundedWallet(chain: TestChain, amount_atomic: bigint): Promise<PrivateKeyAccount> {
  const wallet = await chain.newWallet(0n);
  await chain.mint(wallet.address, amount_atomic).catch(() => {});
  await until(async () => (await chain.balanceOf(wallet.address)) >= amount_atomic);
  return wallet;
}
