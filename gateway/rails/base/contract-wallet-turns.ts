import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { limits } from '../../../schema/limits.ts';
import { BatchedRead } from '../../../subgraphs/batched-read.ts';
import type { Clock } from '../../../subgraphs/clock.ts';
import type { Database } from '../../../subgraphs/database.ts';
import { type ContractPayer, contractPayersAmong } from '../../../subgraphs/receipt/claim/former-payments.ts';
import { claimByKey } from '../../../subgraphs/receipt/claim/transitions.ts';
import { Semaphore } from '../../../subgraphs/semaphore.ts';
import { Meter } from '../../rates/rate.ts';
import { PROVEN, type Proof } from '../outcome.ts';
import { type BasePayment, claimKey } from '../payment.ts';
import type { ChainAnswer } from '../rpc.ts';
import type { Hex } from './abi.ts';
import { authorizationDigest } from './authorization.ts';
import type { BaseChain } from './chain.ts';
import { type BaseSignature, isStored, type PaymentSigner, signerOf } from './signature.ts';
import { askWallet, NOT_SIGNED, unprovenBounds, wouldMove } from './wallets.ts';

export interface UnprovenParts {
  readonly chain: BaseChain;
  readonly database: Database;
  readonly clock: Clock;
  readonly wallet_factories: ReadonlySet<string>;
  readonly settles_from: Hex;
}

const REFUSED_LATE_MS = 1_000;
const NO_TURN: Proof = { kind: 'no_turn', retry_after_seconds: 2 };

/**
 * Checks payments that are not signed by a key: the signature is a contract wallet's, or forged. Only code at the payer's address
 * can distinguish the two, and calling it is costly. If there is no code to call, nothing is called. Otherwise a few calls run at
 * once, in a queue per client address. Payers whose code has paid within a day have separate queues. A client gains nothing by
 * naming such a payer: the call waits in the client's own queue, and the wallet rejects the signature.
 */
export class UnprovenPayments {
  readonly #parts: UnprovenParts;
  readonly #looks: PayerCodes;
  /** Counts calls of the code of payers who have not paid yet, by client address. */
  readonly #questions: Meter;
  /** Counts forged payments that are refused without a delay, by client address. */
  readonly #refusals: Meter;
  readonly #strangers = new Semaphore(unprovenBounds);
  readonly #known = new Semaphore(unprovenBounds);
  /**
   * Signatures that the wallet has confirmed. The gate and then the charge check a payment, and the second check need not call the
   * wallet again.
   */
  readonly #proven = new WeakSet<BaseSignature>();

  constructor(parts: UnprovenParts) {
    this.#parts = parts;
    this.#looks = new PayerCodes(parts.chain, parts.database, parts.clock);
    const { unproven_questions_max: count, unproven_questions_seconds: seconds } = limits;
    this.#questions = new Meter({ count, seconds }, parts.clock);
    this.#refusals = new Meter({ count: limits.forged_per_address_second_max, seconds: 1 }, parts.clock);
  }

  /** `address` is the client's network address. @throws DatabaseAway */
  async prove(payment: BasePayment, address: string): Promise<Proof> {
    const { signature } = payment;
    if (signature.kind === 'ecdsa' || this.#proven.has(signature)) return PROVEN;
    const proof = await this.#judge(payment, address);
    if (proof.kind === 'proven') this.#proven.add(signature);
    // A client that sends many forged payments is delayed.
    if (proof.kind === 'rejected' && this.#refusals.take(address).kind === 'beyond')
      await sleep(REFUSED_LATE_MS, null, { ref: false });
    return proof;
  }

  async #judge(payment: BasePayment, address: string): Promise<Proof> {
    const { authorization, signature } = payment;
    const look = await this.#looks.look(authorization.payer);
    if (look === null) return NO_TURN;
    const payer = look.kind === 'seen' ? look.payer : null;
    const signer = payer && signerOf(signature, payer.has_code, this.#parts.wallet_factories);
    // The payer's code may be gone since an earlier payment. A rejection would make the payer sign another payment for a purchase
    // that they may already be owed.
    if (signer?.kind === 'refused' && !payer?.ever_paid) return { kind: 'rejected', reason: signer.reason };
    const question = payer?.has_paid ? null : this.#questions.take(address);
    if (question?.kind === 'beyond') return { kind: 'no_turn', retry_after_seconds: question.retry_after_seconds };
    const line = payer?.has_paid ? this.#known : this.#strangers;
    const asked = () =>
      look.kind === 'seen' && signer ? this.#ask(payment, signer) : this.#standing(payment, look as Proof);
    const proof = await line.take(address, asked);
    return proof ?? NO_TURN;
  }

  async #ask(payment: BasePayment, signer: PaymentSigner): Promise<Proof> {
    if (signer.kind !== 'code') {
      const reason = signer.kind === 'refused' ? signer.reason : NOT_SIGNED;
      return this.#standing(payment, { kind: 'rejected', reason });
    }
    const { authorization } = payment;
    const { chain } = this.#parts;
    const verdict = await askWallet(chain, authorization.payer, authorizationDigest(authorization), signer.signature);
    if (verdict === 'valid') return PROVEN;
    // A wallet may accept signatures only from USDC as the caller, so only a simulated transfer shows whether it accepts the
    // payment.
    const moves = await wouldMove(this.#parts, authorization, signer.signature);
    if (moves.kind !== 'ok') return this.#standing(payment, moves);
    return moves.value ? PROVEN : this.#standing(payment, { kind: 'rejected', reason: NOT_SIGNED });
  }

  /**
   * A signature that was once accepted for this payer remains the payer's, even if the wallet has other owners now, the delegation
   * was revoked, or the chain is unreachable. Returns `otherwise` if no payment with this signature is stored.
   */
  async #standing({ authorization, signature }: BasePayment, otherwise: Proof): Promise<Proof> {
    const claim = await claimByKey(this.#parts.database, claimKey(authorization));
    return isStored(claim?.authorization.signature, signature) ? PROVEN : otherwise;
  }
}

/** Facts about the address of a payer whose payment is not signed by a key. */
export interface PayerCode {
  readonly has_code: boolean;
  /** Whether its code has signed a payment that moved here within a day, or may have moved. */
  readonly has_paid: boolean;
  /** Like `has_paid`, without a time limit: purchases of this payer may still have to be delivered. */
  readonly ever_paid: boolean;
}

export type PayerLook =
  | { readonly kind: 'seen'; readonly payer: PayerCode }
  | Exclude<ChainAnswer<never>, { kind: 'ok' }>;

interface Entry {
  readonly until_ms: number;
  again_left: number;
  look: Promise<PayerLook | null>;
  /** Whether the look-up failed. The next caller then repeats it. */
  failed: boolean;
}

const ADDRESSES_MAX = 10_000;
const AGAIN_MAX = 3;

/**
 * Caches whether addresses have code and whether they have paid before. Callers during a request share the next request, and a
 * result is used for `payer_look_ms`. A result with code admits no payment by itself, because the code is called too. A result
 * without code may be outdated by the next block (a deployment, an EIP-7702 delegation). Before a caller's payment is refused
 * because of a cached result, the node is therefore queried again, up to AGAIN_MAX times.
 */
export class PayerCodes {
  readonly #clock: Pick<Clock, 'now_ms'>;
  readonly #codes: BatchedRead<ChainAnswer<Hex>>;
  readonly #paid: BatchedRead<ContractPayer>;
  readonly #entries = new LRUCache<Hex, Entry>({ max: ADDRESSES_MAX });
  #asking = 0;

  constructor(chain: Pick<BaseChain, 'code'>, database: Pick<Database, 'query'>, clock: Pick<Clock, 'now_ms'>) {
    this.#clock = clock;
    this.#codes = new BatchedRead(async addresses => {
      const codes = await Promise.all(addresses.map(address => chain.code(address as Hex)));
      return new Map(addresses.map((address, index) => [address, codes[index] as ChainAnswer<Hex>]));
    });
    this.#paid = new BatchedRead(async addresses => {
      const paid = await contractPayersAmong(database, addresses, limits.contract_payer_known_seconds);
      return new Map(paid.map(known => [known.payer, known]));
    });
  }

  /** Looks an address up. Null if too many look-ups are in progress. @throws DatabaseAway */
  async look(address: Hex): Promise<PayerLook | null> {
    const now_ms = this.#clock.now_ms();
    const known = this.#entries.get(address);
    const stands = known !== undefined && !known.failed && now_ms < known.until_ms;
    const entry = stands ? known : this.#entry(address, now_ms);
    if (!stands) this.#entries.set(address, entry);
    const look = await entry.look;
    if (!stands || entry.again_left === 0 || look === null || (look.kind === 'seen' && look.payer.has_code))
      return look;
    entry.again_left--;
    entry.look = this.#ask(address, entry);
    return entry.look;
  }

  #entry(address: Hex, now_ms: number): Entry {
    const until_ms = now_ms + limits.payer_look_ms;
    const entry: Entry = { until_ms, again_left: AGAIN_MAX, look: Promise.resolve(null), failed: false };
    entry.look = this.#ask(address, entry);
    return entry;
  }

  async #ask(address: Hex, entry: Entry): Promise<PayerLook | null> {
    if (this.#asking >= limits.payer_looks_underway_max) {
      entry.failed = true;
      return null;
    }
    this.#asking++;
    try {
      const [code, paid] = await Promise.all([this.#codes.ask(address), this.#paid.ask(address)]);
      if (code?.kind === 'ok') {
        const payer = { has_code: code.value !== '0x', has_paid: paid?.lately ?? false, ever_paid: paid !== null };
        return { kind: 'seen', payer };
      }
      entry.failed = true;
      return code ?? { kind: 'unreachable', cause: new Error('it is unknown whether the address has code') };
    } catch (error) {
      entry.failed = true;
      throw error;
    } finally {
      this.#asking--;
    }
  }
}
