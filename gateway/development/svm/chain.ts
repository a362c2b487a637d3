import { createHash } from 'node:crypto';
import { getBase58Decoder } from '@solana/kit';
import type { LiteSVM } from 'litesvm';
import type { Json } from '../../../schema/canonical-json.ts';
import type { SvmAccount } from './accounts.ts';
import { type Address, emptySvm, failedSimulation, fund, land, type Simulation, tryOut } from './execute.ts';
import type { Genesis, Journal, JournalEntry } from './journal.ts';
import { type BlockTransaction, decodeTransaction, type ParsedTransaction } from './transactions.ts';

/** The fate of a transaction that is sent. */
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
 * A Solana with one node: LiteSVM executes, the clock makes slots and blockhashes, the journal records what happened.
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

  /** In the order in which they landed. */
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

  /** On disk first, so that nothing that was shown is ever lost. */
  perform(deed: JournalEntry): void {
    this.#options.journal.append(deed);
    this.#deeds.push(deed);
    if (deed.kind === 'forgotten') this.#replay();
    else this.#apply(deed);
  }

  /** Stalled: accepts transactions and holds them in memory; running again it executes those that are still valid. */
  stall(on: boolean): void {
    this.#stalled = on;
    if (!on) for (const raw of this.#waiting.splice(0)) this.#enter(raw);
  }

  /** Signatures of the held transactions. */
  heldSignatures(): string[] {
    return this.#waiting.map(raw => decodeTransaction(raw).signature);
  }

  /** Drops the held transactions, as a mempool may. */
  drop(): void {
    this.#waiting.splice(0);
  }

  #enter(raw: Buffer): void {
    const read = decodeTransaction(raw);
    if (!this.#clock.isValid(read.message.lifetimeToken) || this.#landed.has(read.signature)) return;
    // Entries of the journal are replayed without checking signatures.
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
    // Signatures were checked the first time, and checking is most of the work.
    this.#svm.withSigverify(false);
    for (const deed of entriesInForce(this.#deeds)) this.#apply(deed);
    this.#svm.withSigverify(true);
  }
}

/** Without the transactions that were dropped after they had landed, unless they were sent again. */
function entriesInForce(deeds: readonly JournalEntry[]): readonly JournalEntry[] {
  const last = new Map(deeds.flatMap((deed, index) => (deed.kind === 'forgotten' ? [[deed.signature, index]] : [])));
  if (last.size === 0) return deeds;
  return deeds.filter((deed, index) => deed.kind !== 'transaction' || index > (last.get(signatureOf(deed)) ?? -1));
}

function signatureOf(deed: JournalEntry & { kind: 'transaction' }): string {
  return decodeTransaction(Buffer.from(deed.raw, 'base64')).signature;
}

/** Without signatures, processed transactions are recognized by their message. */
function isSame(one: ParsedTransaction, other: ParsedTransaction): boolean {
  if (one.message.lifetimeToken !== other.message.lifetimeToken) return false;
  return Buffer.from(one.transaction.messageBytes).equals(Buffer.from(other.transaction.messageBytes));
}

/** Solana's own values. */
const SLOT_MS = 400;
/** So that there is a final block from the beginning. */
const FIRST_SLOT = 100;
/** A blockhash is valid for this many blocks after its own. */
export const BLOCKHASH_AGE_MAX = 150;
/** A block is final when this many follow it. */
const FINAL_AFTER = 32;

export type Commitment = 'processed' | 'confirmed' | 'finalized';

/**
 * Slots pass with the wall clock, even while the chain is not running, and every slot has a block, whose hash is made
 * of the genesis and its number, so that nothing of it is stored.
 */
function openClock(genesis: Genesis, now_ms: () => number) {
  let from = { slot: FIRST_SLOT, ms: genesis.started_ms };
  let slot_ms = SLOT_MS;
  let reached = 0;
  const slotAt = (ms: number) => from.slot + Math.max(0, Math.floor((ms - from.ms) / slot_ms));
  const slot = (): number => {
    // A wall clock that is set back removes no blocks.
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
    /** Unix seconds by the chain's own clock, which jumps where slots were skipped. */
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
