import { createHash } from 'node:crypto';
import { getBase58Decoder } from '@solana/kit';
import type { LiteSVM } from 'litesvm';
import type { Json } from '../../../schema/canonical-json.ts';
import type { SvmAccount } from './accounts.ts';
import { type Address, emptySvm, failedSimulation, fund, land, type Simulation, tryOut } from './execute.ts';
import type { Genesis, Journal, JournalEntry } from './journal.ts';
import { type BlockTransaction, decodeTransaction, type ParsedTransaction } from './transactions.ts';

/** Result of sending a transaction. */
type SvmSubmission =
  | { readonly kind: 'accepted'; readonly signature: string }
  | { readonly kind: 'refused'; readonly err: Json; readonly logs: readonly string[] };

interface LiteChainOptions {
  readonly journal: Journal;
  readonly genesis: readonly SvmAccount[];
  now_ms(): number;
}

type Effects = { readonly [Kind in JournalEntry['kind']]: (deed: Extract<JournalEntry, { kind: Kind }>) => void };

/**
 * A Solana with one node: LiteSVM executes transactions, the clock makes slots and blockhashes, and the journal records all
 * changes.
 */
export class LiteChain {
  readonly #options: LiteChainOptions;
  readonly #deeds: JournalEntry[];
  readonly #waiting: Buffer[] = [];
  #stalled = false;
  #clock: ReturnType<typeof openClock>;
  #svm: LiteSVM;
  #landed = new Map<string, BlockTransaction>();

  constructor(options: LiteChainOptions) {
    this.#options = options;
    this.#deeds = [...options.journal.past];
    this.#clock = openClock(options.journal.genesis, options.now_ms);
    this.#svm = emptySvm(options.genesis);
    this.#replay();
  }

  get clock(): ReturnType<typeof openClock> {
    return this.#clock;
  }

  account(at: string): ReturnType<LiteSVM['getAccount']> {
    return this.#svm.getAccount(at as Address);
  }

  rentExemption(bytes: bigint): bigint {
    return this.#svm.minimumBalanceForRentExemption(bytes);
  }

  findTransaction(signature: string): BlockTransaction | null {
    return this.#landed.get(signature) ?? null;
  }

  /** All transactions in blocks, in the order in which they were included. */
  landedTransactions(): BlockTransaction[] {
    return [...this.#landed.values()];
  }

  simulate(read: ParsedTransaction, checks: { readonly signatures: boolean; readonly blockhash: boolean }): Simulation {
    if (checks.blockhash && !this.#clock.isValid(read.message.lifetimeToken))
      return failedSimulation('BlockhashNotFound');
    const processed = checks.signatures
      ? this.#landed.has(read.signature)
      : this.landedTransactions().some(one => isSame(one, read));
    if (processed) return failedSimulation('AlreadyProcessed');
    return tryOut(this.#svm, read, checks.signatures);
  }

  send(raw: Buffer, preflight: boolean): SvmSubmission {
    const read = decodeTransaction(raw);
    if (preflight) {
      const { err, logs } = this.simulate(read, { signatures: true, blockhash: true });
      if (err !== null) return { kind: 'refused', err, logs };
    }
    if (this.#stalled) this.#waiting.push(raw);
    else this.#enter(raw);
    return { kind: 'accepted', signature: read.signature };
  }

  /** Makes a change. It is on disk first, so that no change that was shown is lost. */
  perform(deed: JournalEntry): void {
    this.#options.journal.append(deed);
    this.#deeds.push(deed);
    if (deed.kind === 'forgotten') this.#replay();
    else this.#apply(deed);
  }

  /** If `on`, transactions are accepted and only held in memory. Otherwise those that are held and still valid are executed. */
  stall(on: boolean): void {
    this.#stalled = on;
    if (!on) for (const raw of this.#waiting.splice(0)) this.#enter(raw);
  }

  /** Signatures of the transactions that are held. */
  heldSignatures(): string[] {
    return this.#waiting.map(raw => decodeTransaction(raw).signature);
  }

  /** Discards the transactions that are held, as a mempool may. */
  drop(): void {
    this.#waiting.splice(0);
  }

  #enter(raw: Buffer): void {
    const read = decodeTransaction(raw);
    if (!this.#clock.isValid(read.message.lifetimeToken) || this.#landed.has(read.signature)) return;
    // Signatures are checked here, because entries of the journal are replayed without a check.
    if (tryOut(this.#svm, read, true).err === 'SignatureFailure') return;
    this.perform({ kind: 'transaction', slot: this.#clock.slot(), raw: raw.toString('base64') });
  }

  #apply(deed: JournalEntry): void {
    (this.#effects[deed.kind] as (deed: JournalEntry) => void)(deed);
  }

  readonly #effects: Effects = {
    transaction: ({ raw, slot }) => {
      const one = land(this.#svm, Buffer.from(raw, 'base64'), slot, this.#clock.time(slot));
      if (one) this.#landed.set(one.signature, one);
    },
    funded: deed => fund(this.#svm, deed),
    skipped: ({ slots }) => this.#clock.skip(slots),
    paced: ({ slot_ms, at_ms }) => this.#clock.pace(slot_ms, at_ms),
    forgotten: () => {},
  };

  #replay(): void {
    const { journal, genesis, now_ms } = this.#options;
    this.#clock = openClock(journal.genesis, now_ms);
    this.#svm = emptySvm(genesis);
    this.#landed = new Map();
    // Signatures were checked the first time, and checking them is most of the work.
    this.#svm.withSigverify(false);
    for (const deed of entriesInForce(this.#deeds)) this.#apply(deed);
    this.#svm.withSigverify(true);
  }
}

/** The entries without the transactions that were dropped after they had been included, unless they were sent again. */
function entriesInForce(deeds: readonly JournalEntry[]): readonly JournalEntry[] {
  const last = new Map(deeds.flatMap((deed, index) => (deed.kind === 'forgotten' ? [[deed.signature, index]] : [])));
  if (last.size === 0) return deeds;
  return deeds.filter((deed, index) => deed.kind !== 'transaction' || index > (last.get(signatureOf(deed)) ?? -1));
}

function signatureOf(deed: JournalEntry & { kind: 'transaction' }): string {
  return decodeTransaction(Buffer.from(deed.raw, 'base64')).signature;
}

/** Whether two transactions have the same message, by which processed ones are recognized if signatures are not checked. */
function isSame(one: ParsedTransaction, other: ParsedTransaction): boolean {
  if (one.message.lifetimeToken !== other.message.lifetimeToken) return false;
  return Buffer.from(one.transaction.messageBytes).equals(Buffer.from(other.transaction.messageBytes));
}

/** Length of a slot, as on Solana. */
const SLOT_MS = 400;
/** The first slot. It is high enough that the chain has a final block from the beginning. */
const FIRST_SLOT = 100;
/** Number of blocks after its own for which a blockhash is valid. */
export const BLOCKHASH_AGE_MAX = 150;
/** Number of blocks after which a block is final. */
const FINAL_AFTER = 32;

export type Commitment = 'processed' | 'confirmed' | 'finalized';

/**
 * Makes slots by the wall clock, even while the chain is not running. Every slot has a block, whose hash is made from the genesis
 * and its number, so that no block is stored.
 */
function openClock(genesis: Genesis, now_ms: () => number) {
  let from = { slot: FIRST_SLOT, ms: genesis.started_ms };
  let slot_ms = SLOT_MS;
  let reached = 0;
  const slotAt = (ms: number) => from.slot + Math.max(0, Math.floor((ms - from.ms) / slot_ms));
  const slot = (): number => {
    // Setting the wall clock back removes no blocks.
    reached = Math.max(reached, slotAt(now_ms()));
    return reached;
  };
  const blockhash = (of: number): string => hashOf(`${genesis.seed}:${of}`);
  return {
    genesis_hash: hashOf(genesis.seed),
    blockhash,
    skip(slots: number): void {
      from = { ...from, slot: from.slot + slots };
    },
    pace(ms_per_slot: number, at_ms: number): void {
      from = { slot: slotAt(at_ms), ms: at_ms };
      slot_ms = ms_per_slot;
    },
    slot: (commitment: Commitment = 'processed'): number =>
      commitment === 'finalized' ? Math.max(0, slot() - FINAL_AFTER) : slot(),
    /** Time of a slot by the chain's own clock, in unix seconds. The clock jumps where slots were skipped. */
    time: (of: number): number => Math.floor((genesis.started_ms + of * SLOT_MS) / 1000),
    isValid(hash: string): boolean {
      const now = slot();
      for (let age = 0; age <= BLOCKHASH_AGE_MAX && age <= now; age++) if (blockhash(now - age) === hash) return true;
      return false;
    },
  };
}

function hashOf(text: string): string {
  return getBase58Decoder().decode(createHash('sha256').update(text).digest());
}
