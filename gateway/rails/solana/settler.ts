import { sign } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { getBase58Decoder } from '@solana/kit';
import { journalSettlement, markMined } from '../../../subgraphs/receipt/claim/settlement/journal.ts';
import { secretOfKey, solanaAddressOfKey } from '../../config/solana.ts';
import { type Decision, notSent, type SettleOutcome, unknown } from '../outcome.ts';
import { type OpenTransaction, ReceiptWatch } from '../receipt-watch.ts';
import type { ChainAnswer } from '../rpc.ts';
import {
  broadcastCommitted,
  journalOne,
  outcomeWithoutJournal,
  type Settler,
  type SettlerParts,
  type SettlerTimes,
} from '../settler.ts';
import type { PartialSignature, SolanaAuthorization, SolanaPayment } from './authorization.ts';
import type { BlockhashLook, LandedStatus, SolanaChain } from './chain.ts';
import { blockName, decideLanded } from './decide.ts';
import { rebroadcastOnSolana } from './rebroadcast.ts';
import { readWireTransaction, withSignature } from './transfer.ts';

type Item = SolanaPayment & { readonly claim_key: string };

export interface SolanaSettlerOptions<I extends Item> extends SettlerParts<I>, SettlerTimes {
  readonly chain: SolanaChain;
  readonly fee_payer: FeePayer;
}

/** Opens a settler on Solana. Each transaction is settled alone: its payer has built it, and we sign for its fee. */
export function openSolanaSettler<I extends Item>(options: SolanaSettlerOptions<I>): Settler<I> {
  return new SolanaSettler(options);
}

class SolanaSettler<I extends Item> implements Settler<I> {
  readonly #options: SolanaSettlerOptions<I>;
  readonly #statuses: ReceiptWatch<LandedStatus & { readonly tx_hash: string }>;
  #closed = false;

  constructor(options: SolanaSettlerOptions<I>) {
    this.#options = options;
    this.#statuses = new ReceiptWatch(hashes => statusesOf(options.chain, hashes), options.poll_ms);
  }

  /** All checks that can refuse come before the commit: chain unreachable, blockhash expired. */
  async settle(item: I): Promise<SettleOutcome> {
    if (this.#closed) return notSent('stopped');
    const look = await this.#options.chain.blockhash(item.authorization.blockhash);
    if (look.kind !== 'ok') return notSent('chain_unavailable');
    if (!look.value.valid) return { kind: 'not_transferred', reason: 'expired' };
    return this.#send(item, look.value);
  }

  rebroadcast(): Promise<void> {
    return rebroadcastOnSolana(this.#options);
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#statuses.close();
  }

  async #send(item: I, look: BlockhashLook): Promise<SettleOutcome> {
    const { chain, fee_payer, trouble } = this.#options;
    const signed = fee_payer.sign(item.signature);
    const outcome = await this.#journal(item, signed, look);
    if (outcome.kind !== 'journalled') return outcomeWithoutJournal(outcome, this.#options);
    try {
      await broadcastCommitted(chain, signed.raw, this.#options);
      return await this.#conclude(item, outcome.journalled.settlement_id, signed);
    } catch (cause) {
      trouble?.(cause);
      return unknown('chain_unavailable');
    }
  }

  #journal(item: I, { signature, raw }: SignedSolanaTransaction, { slot: from_block }: BlockhashLook) {
    const { faults, fee_payer } = this.#options;
    const { last_valid_block_height, valid_before_seconds: valid_before_max } = item.authorization;
    return journalOne(this.#options, item, from_block, async (tx, settlement_id) => {
      const key_address = fee_payer.address;
      const birth = { settlement_id, key_address, authorizations: 1, from_block, valid_before_max };
      const attempt = {
        tx_hash: signature,
        nonce: last_valid_block_height,
        raw,
        max_fee_wei: 0n,
        priority_fee_wei: 0n,
      };
      journalSettlement(tx, { network: 'solana', ...birth }, attempt);
      await faults?.reach('in_settling');
    });
  }

  async #conclude(
    { authorization }: I,
    settlement_id: string,
    { signature }: SignedSolanaTransaction,
  ): Promise<SettleOutcome> {
    const { database, trouble, wait_ms } = this.#options;
    const until_ms = performance.now() + wait_ms;
    const status = await this.#landed({ hashes: [signature] });
    if (status === null) return unknown(this.#closed ? 'stopped' : 'not_mined');
    const decision = await this.#decided(authorization, status, until_ms);
    const block = { block_number: status.slot, block_hash: blockName(status.slot) };
    await markMined(database, settlement_id, block).catch(cause => trouble?.(cause));
    return decision;
  }

  /** Repeats the decision, because a node has a status before the transaction itself, and nodes behind one URL may differ. */
  async #decided(authorization: SolanaAuthorization, status: LandedStatus, until_ms: number): Promise<Decision> {
    const { chain, poll_ms } = this.#options;
    for (;;) {
      const decision = await decideLanded(chain, authorization, status);
      if (decision.kind !== 'unknown' || this.#closed || performance.now() + poll_ms > until_ms) return decision;
      await sleep(poll_ms);
    }
  }

  async #landed(watched: OpenTransaction): Promise<LandedStatus | null> {
    const late = new AbortController();
    const patience = sleep(this.#options.wait_ms, null, { signal: late.signal }).catch(() => null);
    const mined = this.#closed ? null : this.#statuses.awaitReceipt(watched);
    try {
      return await Promise.race([mined, patience]);
    } finally {
      late.abort();
      this.#statuses.forget(watched);
    }
  }
}

async function statusesOf(
  chain: SolanaChain,
  signatures: readonly string[],
): Promise<readonly ChainAnswer<(LandedStatus & { readonly tx_hash: string }) | null>[]> {
  const statuses = await chain.statuses(signatures);
  if (statuses.kind !== 'ok') return signatures.map(() => statuses);
  return statuses.value.value.map(status => ({
    kind: 'ok',
    value: status && { ...status, tx_hash: status.signature },
  }));
}

/** A transaction with all its signatures, which anyone may send. */
export interface SignedSolanaTransaction {
  /** The fee payer's signature in base58, which is the chain's id of the transaction. */
  readonly signature: string;
  /** The wire transaction as base64. */
  readonly raw: string;
}

/**
 * Pays the fees of payments. The same payment always gets the same signature (RFC 8032), so the transaction's id is known before it
 * is sent.
 */
export interface FeePayer {
  readonly address: string;
  /** @throws if the bytes are not a transaction */
  sign(payment: PartialSignature): SignedSolanaTransaction;
}

/** Opens a fee payer by its key: base58 of seed and public key. */
export function openFeePayer(key: string): FeePayer {
  const address = solanaAddressOfKey(key);
  const secret = secretOfKey(key);
  return {
    address,
    sign({ transaction }) {
      const read = readWireTransaction(Buffer.from(transaction, 'base64'));
      if (read === null) throw new TypeError('not a transaction');
      const signature = sign(null, read.transaction.messageBytes as unknown as Uint8Array, secret);
      return { signature: getBase58Decoder().decode(signature), raw: withSignature(read, address, signature) };
    },
  };
}
