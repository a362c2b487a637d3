import { getAddressDecoder, getBase58Encoder } from '@solana/kit';
import { z } from 'zod';
import type { Json } from '../../../schema/canonical-json.ts';
import { networks } from '../../../schema/network.ts';
import { all, type ChainAnswer, map, type NodeRefusal, openRpc, refusedAsUnreachable } from '../rpc.ts';
import { type LandedStatus, SIGNATURES_MAX, type SolanaChain, type SvmBroadcast, type TokenHolding } from './chain.ts';
import { TOKEN_PROGRAM } from './transfer.ts';

/** Limits of connections. Public nodes accept no batches and count each call anyway. No response is longer than a transaction. */
const bounds = { connections: 32, calls_per_request_max: 1, answer_bytes_max: 1024 * 1024 };
/** Maximum number of signatures in one `getSignatureStatuses`. */
const STATUSES_MAX = 256;

/** We act on confirmed transactions, and rely permanently only on final ones. */
const confirmed = { commitment: 'confirmed' } as const;
const encoded = { encoding: 'base64', ...confirmed } as const;

/** Opens Solana by the JSON-RPC URL of a node. */
export function openSvmChain({ rpc_url }: { readonly rpc_url: string }): SolanaChain {
  const rpc = openRpc(rpc_url, bounds);
  const ask = <T>(method: string, params: readonly unknown[], shape: z.ZodType<T>) =>
    rpc.call(method, params, shape).then(refusedAsUnreachable);
  return {
    genesisHash: () => ask('getGenesisHash', [], hashShape),
    blockhash: blockhash => lookAtBlockhash(ask, blockhash),
    async holding(account) {
      const found = await ask('getAccountInfo', [account, encoded], accountShape);
      return map(found, ({ slot, value }) => ({ slot, value: value && holdingIn(value) }));
    },
    async simulate(transaction) {
      const options = { sigVerify: false, replaceRecentBlockhash: false, ...encoded };
      const ran = await ask('simulateTransaction', [transaction, options], simulatedShape);
      return map(ran, ({ value: { err } }) => (err === null ? { kind: 'passes' } : { kind: 'fails', err }));
    },
    finalized: () => ask('getEpochInfo', [{ commitment: 'finalized' }], finalizedShape),
    oldest: () => ask('getFirstAvailableBlock', [], slotShape),
    statuses: signatures => statusesOf(ask, signatures),
    transaction: signature =>
      ask('getTransaction', [signature, { maxSupportedTransactionVersion: 0, ...encoded }], transactionShape),
    signaturesOf: (account, min_slot) =>
      ask(
        'getSignaturesForAddress',
        [account, { limit: SIGNATURES_MAX, minContextSlot: min_slot, ...confirmed }],
        signaturesShape,
      ),
    async broadcast(transaction) {
      const options = { encoding: 'base64', skipPreflight: true, maxRetries: 0 };
      return namedBroadcast(await rpc.call('sendTransaction', [transaction, options], hashShape));
    },
    close: () => rpc.close(),
  };
}

type Ask = <T>(method: string, params: readonly unknown[], shape: z.ZodType<T>) => Promise<ChainAnswer<T>>;

async function lookAtBlockhash(ask: Ask, blockhash: string): ReturnType<SolanaChain['blockhash']> {
  const [valid, latest] = await Promise.all([
    ask('isBlockhashValid', [blockhash, confirmed], validShape),
    ask('getLatestBlockhash', [confirmed], latestShape),
  ]);
  if (valid.kind !== 'ok') return valid;
  // If a node that lags behind answered the second request, each slot that it has not seen adds at most one block.
  const behind = (slot: number) => Math.max(0, valid.value.slot - slot);
  return map(latest, ({ slot, value }) => ({
    valid: valid.value.value,
    slot: valid.value.slot,
    last_valid_block_height: value.lastValidBlockHeight + behind(slot),
  }));
}

async function statusesOf(ask: Ask, signatures: readonly string[]): ReturnType<SolanaChain['statuses']> {
  const pages: Promise<ChainAnswer<z.infer<typeof statusesShape>>>[] = [];
  for (let at = 0; at < signatures.length || at === 0; at += STATUSES_MAX) {
    const page = signatures.slice(at, at + STATUSES_MAX);
    pages.push(ask('getSignatureStatuses', [page, { searchTransactionHistory: true }], statusesShape));
  }
  return map(all(await Promise.all(pages)), answers => ({
    slot: Math.min(...answers.map(seenTo)),
    value: answers.flatMap(({ value }) => value).map((status, index) => landedStatus(status, signatures[index] ?? '')),
  }));
}

type Statuses = z.infer<typeof statusesShape>;
type Status = NonNullable<Statuses['value'][number]>;

/**
 * Slot up to which the node has seen all transactions. A transaction that is executed but not confirmed may be in a block that
 * other nodes have as final, so its slot and later ones do not count as seen.
 */
function seenTo({ slot, value }: Statuses): number {
  const executed = value.flatMap(status => (status && levelOf(status) === 'processed' ? [status.slot - 1] : []));
  return Math.min(slot, ...executed);
}

function levelOf({ confirmationStatus, confirmations }: Status): string {
  return confirmationStatus ?? (confirmations == null ? 'finalized' : 'processed');
}

function landedStatus(status: Status | null, signature: string): LandedStatus | null {
  if (status === null) return null;
  const { slot, err } = status;
  const level = levelOf(status);
  return level === 'processed' ? null : { signature, slot, final: level === 'finalized', err };
}

const address = getAddressDecoder();
/** Length of an SPL Token account: mint, owner, amount, a byte for its state, and members that are not read. */
const ACCOUNT_BYTES = 165;
const FROZEN = 2;

function holdingIn({ data, owner }: { readonly data: Buffer; readonly owner: string }): TokenHolding | null {
  if (owner !== TOKEN_PROGRAM || data.length !== ACCOUNT_BYTES) return null;
  if (address.decode(data, 0) !== networks.solana.usdc) return null;
  return {
    owner: address.decode(data, 32),
    amount_atomic: data.readBigUInt64LE(64),
    frozen: data[108] === FROZEN,
  };
}

function namedBroadcast(answer: ChainAnswer<string> | NodeRefusal): ChainAnswer<SvmBroadcast> {
  if (answer.kind === 'unreachable') return answer;
  return {
    kind: 'ok',
    value: answer.kind === 'ok' ? { kind: 'taken' } : { kind: 'turned_down', message: answer.message },
  };
}

/**
 * Schemas of the members that are read from a Solana node's responses. A node is not trusted: a response of another shape counts as
 * no response.
 */
const count = z.int().nonnegative();
const base58 = z.string().regex(/^[1-9A-HJ-NP-Za-km-z]{32,88}$/);
const base64 = z.tuple([z.string(), z.literal('base64')]).transform(([text]) => Buffer.from(text, 'base64'));
/** A transaction's error, as `"BlockhashNotFound"` or `{"InstructionError": [2, {"Custom": 1}]}`. */
const failure = z.json().transform(value => value as Json);
const atomic = z
  .string()
  .regex(/^[0-9]{1,20}$/)
  .transform(value => BigInt(value));

/** Shape of a response with the slot at which the node made it. */
function inContext<T>(value: z.ZodType<T>) {
  return z.object({ context: z.object({ slot: count }), value }).transform(answer => ({
    slot: answer.context.slot,
    value: answer.value as T,
  }));
}

const hashShape = base58;
const slotShape = count;
const latestShape = inContext(z.object({ blockhash: base58, lastValidBlockHeight: count }));
const validShape = inContext(z.boolean());
const accountShape = inContext(z.object({ data: base64, owner: base58 }).nullable());
const simulatedShape = inContext(z.object({ err: failure }));
const finalizedShape = z
  .object({ absoluteSlot: count, blockHeight: count })
  .transform(({ absoluteSlot, blockHeight }) => ({ slot: absoluteSlot, block_height: blockHeight }));

const statusesShape = inContext(
  z.array(
    z
      .object({
        slot: count,
        err: failure,
        /** Older nodes omit it. In their responses `confirmations: null` means that the transaction is final. */
        confirmationStatus: z.enum(['processed', 'confirmed', 'finalized']).nullish(),
        confirmations: count.nullish(),
      })
      .nullable(),
  ),
);

const balances = z
  .array(
    z.object({
      accountIndex: count,
      mint: base58,
      owner: base58.nullish(),
      uiTokenAmount: z.object({ amount: atomic }),
    }),
  )
  .nullish()
  .transform(list =>
    (list ?? []).map(({ accountIndex, mint, owner, uiTokenAmount }) => ({
      account_index: accountIndex,
      mint,
      owner: owner ?? null,
      amount_atomic: uiTokenAmount.amount,
    })),
  );

/** Data of an instruction. Transactions have at most 1,232 bytes; data that programs pass to each other may have 10 KiB. */
const base58Data = z
  .string()
  .regex(/^[1-9A-HJ-NP-Za-km-z]{0,14500}$/)
  .transform(text => new Uint8Array(getBase58Encoder().encode(text)));

const innerInstructions = z
  .array(
    z.object({
      index: count,
      instructions: z.array(
        z
          .object({ programIdIndex: count, accounts: z.array(count), data: base58Data })
          .transform(({ programIdIndex: program_index, accounts: account_indexes, data }) => ({
            program_index,
            account_indexes,
            data,
          })),
      ),
    }),
  )
  .nullish()
  .transform(list => list ?? null);

const transactionShape = z
  .object({
    slot: count,
    transaction: base64,
    meta: z.object({
      err: failure,
      preTokenBalances: balances,
      postTokenBalances: balances,
      innerInstructions,
      loadedAddresses: z.object({ writable: z.array(base58), readonly: z.array(base58) }).nullish(),
    }),
  })
  .transform(({ slot, transaction, meta }) => ({
    slot,
    raw: transaction,
    err: meta.err,
    before: meta.preTokenBalances,
    after: meta.postTokenBalances,
    inner: meta.innerInstructions,
    loaded: [...(meta.loadedAddresses?.writable ?? []), ...(meta.loadedAddresses?.readonly ?? [])],
  }))
  .nullable();

const signaturesShape = z.array(z.object({ signature: base58, slot: count }));
